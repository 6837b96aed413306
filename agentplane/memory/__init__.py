"""Entries, kinds and ids; the shelf and the inbox; trust."""
