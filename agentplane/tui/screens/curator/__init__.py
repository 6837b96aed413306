"""The screen of the curator, which shows approved entries that may no longer be true."""
