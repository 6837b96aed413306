"""YAML 1.2: read within limits, and single values written."""
