"""Questions about sealed runs: timeline, comparison, artifacts."""
