"""Dangerous text: secrets, hidden characters, and orders to the reader. Knows no memory."""
