"""Similarity of texts by words, BM25, spelling and embeddings. This package doesn't use memory entries."""
