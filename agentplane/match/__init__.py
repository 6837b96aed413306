"""How alike texts are: words, BM25, spelling, embeddings, and their fusion. Knows no memory."""
