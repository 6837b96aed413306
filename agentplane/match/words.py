"""Words of a text for comparison: lower case, without endings, with the parts of identifiers."""

import re
from collections import Counter
from functools import lru_cache


_RUN = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ers", "er", "ions", "ion", "ed", "es", "s", "e")
_WITHOUT_MEANING = """
a about all also an and any are as at be been being but by can could do does for from had has have how
if in into is it its may might more most no not of on one only or other our out over per should so some
such than that the their them then there these they this those to up use used uses using was we were
what when where which while who why will with would you your
"""
_COMMON = frozenset(_WITHOUT_MEANING.split())


def counted(text: str) -> Counter[str]:
    """Return each word of a text with its count."""
    return Counter(listed(text))


def listed(text: str) -> list[str]:
    """Return the words of a text in order. `readFile` gives itself, `read` and `file`."""
    return [word for run in _RUN.findall(text) for word in _forms(run)]


@lru_cache(maxsize=1 << 16)
def _forms(run: str) -> tuple[str, ...]:
    low = run.casefold()
    if low in _COMMON or len(run) > 80:
        return ()
    parts = _PART.findall(run) if low != run and run.isascii() else []
    inner = [_stem(part.casefold()) for part in parts if len(part) > 1] if len(parts) > 1 else []
    return (_stem(low), *inner)


def _stem(word: str) -> str:
    """Return the word without an English ending. It is crude, but the same for both compared texts."""
    if not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
