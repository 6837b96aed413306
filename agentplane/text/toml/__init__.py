"""TOML, which is read within limits and edited in place."""
