"""Where a secret could stand at all. Loads nothing but re: most texts hold nothing of the sort."""

import re


LINE = re.compile(
    rb"(?i)key|pass|pwd|secret|token|authorization|curl|://[^\s/]{1,200}@|[0-9A-Za-z_+/=-]{18}|[A-Z0-9]{11}"
)
NAME = re.compile(rb"(?i)key|pass|pwd|secret|token|authorization|curl|://|[0-9A-Za-z+=]{18}")
"""In a path or the name of a tool: words there are joined by `_`, `-` and `/`, and are no secrets for being long."""
