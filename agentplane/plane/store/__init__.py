"""The write path, with undo, recovery and pruning of its operations."""
