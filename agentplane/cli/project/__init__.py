"""Commands that create, connect, check and show a plane."""
