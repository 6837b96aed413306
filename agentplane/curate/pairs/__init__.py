"""Pairs of approved entries that contradict each other or say the same thing."""
