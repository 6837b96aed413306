"""Import of candidates from the memories of tools and from files that people wrote."""
