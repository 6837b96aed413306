"""Versions of the cached results. Hooks read this module, so it imports almost nothing.

Raise a version when its results change. Results with another version, or from another release, are computed
again. `tests/review/test_result_versions.py` pins the results of each version.
"""

from agentplane import __version__


CONFLICTS = 2
"""Relations between statements, and the choice of statements to compare."""
GATE = 5
"""Flags of the gate for a candidate, apart from secrets."""
SECRETS = 1
"""Likely secrets in texts."""
CURATOR_PAIRS = 1
"""Relations among approved entries, in addition to `CONFLICTS`."""
CONTEXT = 3
"""Texts of contexts for the same memory."""


def mark(*versions: int) -> str:
    """Return the mark that a cache file stores, to recognize outdated results."""
    return " ".join(map(str, (__version__, *versions)))
