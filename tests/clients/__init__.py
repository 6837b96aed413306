"""The real coding tools, against a model on this machine that says what a test tells it to."""
