"""Running sessions of coding tools: finding, resuming and restarting them."""
