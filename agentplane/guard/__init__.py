"""The check that people approved every change of memory on a branch."""
