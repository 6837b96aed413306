"""Trust settings, signatures, and this user's key on this machine."""
