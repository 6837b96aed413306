"""Other programs and processes on this machine."""
