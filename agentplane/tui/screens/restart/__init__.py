"""Sessions with outdated memory, and restarting them."""
