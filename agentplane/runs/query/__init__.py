"""Queries about sealed runs, for the timeline, comparisons and artifacts."""
