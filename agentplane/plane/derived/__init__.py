"""Derived state under cache/. Deleting it loses nothing."""
