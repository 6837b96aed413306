"""Anchors, which compare what evidence contained at the approval with what it contains now."""
