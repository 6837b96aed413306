"""The pane that describes one entry, and the editor for its text."""
