"""The command line, which is thin and has no rules."""
