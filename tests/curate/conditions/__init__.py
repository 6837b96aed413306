"""Conditions: their evaluation, and their commands."""
