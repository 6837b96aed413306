"""The coding tools: what each reads, and how memory gets there."""
