"""Detection and masking of secrets in a text."""
