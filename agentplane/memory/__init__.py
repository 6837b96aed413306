"""Entries, kinds and ids, the approved entries, the inbox, and trust."""
