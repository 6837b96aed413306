"""JSON: canonical, with comments, and edited in place."""
