"""Commands of checks: the approval of their text, and a place to run them in that they can't harm."""
