"""Other programs and processes of this machine."""
