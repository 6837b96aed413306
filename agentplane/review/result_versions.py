"""Versions of the results that the cache keeps. Hooks read it, so it loads nothing.

Raise a version when its results change. Results of another version are worked out again, and so are those of another
release. `tests/review/test_result_versions.py` pins the results of each version.
"""

from agentplane import __version__


CONFLICTS = 1
"""How two statements stand to each other, and which statements are compared."""
GATE = 1
"""What the gate says of a candidate, apart from secrets."""
SECRETS = 1
"""Whether a text holds a likely secret."""
CONTEXT = 1
"""The text of a context for a given memory."""


def mark(*versions: int) -> str:
    """Return the text by which a cache file tells whether its results still hold."""
    return " ".join(map(str, (__version__, *versions)))
