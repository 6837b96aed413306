"""Lines of the log: the hash chain, their order, and damage."""
