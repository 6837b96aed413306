"""Evaluation of conditions, which an assumption names in its `check` field."""
