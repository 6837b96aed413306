"""Bytes to structure and back: documents, canonical JSON, the hash chain, atomic writes. Knows no memory."""
