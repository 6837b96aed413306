"""Data about running sessions of coding tools."""
