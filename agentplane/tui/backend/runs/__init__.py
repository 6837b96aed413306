"""Data about runs."""
