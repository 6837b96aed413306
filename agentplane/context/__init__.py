"""What a tool is given: packs within a budget, and receipts of what they held."""
