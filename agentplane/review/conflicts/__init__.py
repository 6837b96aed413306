"""Conflicts of a candidate with approved entries and with other candidates."""
