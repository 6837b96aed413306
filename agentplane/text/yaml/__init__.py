"""YAML 1.2, which is read within limits, and single values that are written."""
