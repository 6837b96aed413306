"""Memory: the approved entries."""
