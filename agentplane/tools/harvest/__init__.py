"""Import of what tools remembered and people wrote down elsewhere."""
