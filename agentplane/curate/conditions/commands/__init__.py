"""Commands of checks: the approval of their text, and the isolated environment in which they run."""
