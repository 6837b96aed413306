"""Search, resumption and restarts of running sessions of coding tools."""
