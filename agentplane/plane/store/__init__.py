"""The write path, and what undoes, recovers and prunes its operations."""
