"""Finding entries by words."""
