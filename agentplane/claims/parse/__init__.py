"""One statement taken apart: its words, its subject, what it chooses, how much and where."""
