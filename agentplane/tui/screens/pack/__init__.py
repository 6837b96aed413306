"""The context pack: what a tool is given."""
