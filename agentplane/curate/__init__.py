"""The curator, which finds approved entries that may no longer be true, and proposes what to do about each."""
