"""Requests to restart the command of a run."""
