"""Canonical JSON, JSON with comments, and changes to JSON text in place."""
