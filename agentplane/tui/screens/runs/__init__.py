"""Runs: the timeline, one run in detail, and two compared."""
