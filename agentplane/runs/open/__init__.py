"""Runs that are going on, before they are sealed."""
