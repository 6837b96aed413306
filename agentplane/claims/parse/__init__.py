"""The parts of one statement: its words, its subject, its choices, its quantities and its place."""
