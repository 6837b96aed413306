"""Search for entries by words."""
