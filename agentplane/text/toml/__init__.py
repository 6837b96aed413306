"""TOML: read within limits, and edited in place."""
