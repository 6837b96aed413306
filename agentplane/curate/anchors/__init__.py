"""Anchors, which compare the content of evidence at its approval with the current content."""
