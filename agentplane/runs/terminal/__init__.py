"""Running a command in a terminal as if agentplane were not there."""
