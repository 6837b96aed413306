"""Executions of tools, as events of the log."""
