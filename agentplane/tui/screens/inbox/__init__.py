"""The inbox: candidates that wait for a decision."""
