"""Writing, sealing, reading and pruning the capsules of runs."""
