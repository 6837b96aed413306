"""The screen of memory, which lists the approved entries."""
