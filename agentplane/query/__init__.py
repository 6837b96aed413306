"""Queries such as `kind:fact tool:codex older:7d webhook`, for lists of candidates, entries and runs."""
