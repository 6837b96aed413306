"""Context packs that fit a tool's budget, and receipts of their contents."""
