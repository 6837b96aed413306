"""The search in the inbox, memory and runs at once."""
