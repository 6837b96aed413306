"""Two statements compared: what they share, and what excludes what."""
