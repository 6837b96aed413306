"""Runs in progress, before they are sealed."""
