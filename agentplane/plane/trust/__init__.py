"""Trust settings, signatures, and the key of this user on this machine."""
