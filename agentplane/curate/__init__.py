"""The curator, which finds approved entries that may no longer be true, and suggests remedies."""
