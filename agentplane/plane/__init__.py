"""The folder: where it is, its settings, its lock, the write path, undo, recovery, the log."""
