"""A candidate and what it conflicts with, side by side."""
