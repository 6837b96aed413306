"""Derived state in cache/. Deleting it loses nothing."""
