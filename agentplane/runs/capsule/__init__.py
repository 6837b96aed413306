"""Capsules of runs: written, sealed, read, pruned."""
