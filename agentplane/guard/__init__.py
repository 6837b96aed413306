"""The check of a branch: whether people approved every change of memory on it."""
