"""The inbox, where candidates wait for a decision."""
