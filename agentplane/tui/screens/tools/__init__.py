"""Coding tools and their sessions."""
