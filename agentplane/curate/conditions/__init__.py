"""Evaluation of conditions in the `check` field of entries."""
