"""Data about candidates and approved entries."""
