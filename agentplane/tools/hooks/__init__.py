"""Answers to the hooks of coding tools."""
