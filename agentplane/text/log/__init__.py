"""Lines of the log, with their hash chain, their order and their damage."""
