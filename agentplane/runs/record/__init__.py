"""Recording the output of a command."""
