"""What decides about candidates: policy and promotion."""
