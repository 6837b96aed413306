"""Secrets in a text: finding and masking them."""
