"""Review of candidates, with policy and promotion."""
