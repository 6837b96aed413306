"""Queries to Git, and the merge drivers and hooks that agentplane sets up in a clone."""
