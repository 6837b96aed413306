"""The screen of the context pack."""
