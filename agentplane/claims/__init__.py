"""Parsing of short statements, and comparison of two of them. This package doesn't use memory entries."""
