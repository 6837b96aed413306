"""The command line: thin, no rules of its own."""
