"""Checks of a proposal before it enters the inbox."""
