"""Commands that record, list, compare and restart runs."""
