"""One entry: what the right pane shows, and the editor."""
