"""The folder of a plane, with its settings, lock, write path, undo, recovery and log."""
