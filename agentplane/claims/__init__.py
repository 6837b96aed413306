"""What a short statement claims, and how two of them stand to each other. Knows no memory."""
