"""The head of a long statement: the first sentence, which says what was decided. The rest explains it.

The weights of the verdict were fitted to statements of one sentence. Longer statements share words, numbers and names
by chance.
"""

from functools import lru_cache

from agentplane.claims.parse.statement import Statement, parse
from agentplane.claims.parse.tokens import normal


MOST = 9
"""A statement with more content words than this is long."""
FEWEST = 2
"""If the first sentence has fewer content words, the head includes the next one."""


@lru_cache(maxsize=16_384)
def head_of(source: str) -> str:
    if not _is_long(source):
        return source
    clean = normal(source)
    at = 0
    while (at := _end(clean, at)) > 0:
        if weighty(parse(clean[:at])) >= FEWEST:
            return clean[:at]
    return clean


def head(statement: Statement) -> Statement:
    return parse(head_of(statement.source))


def is_long(statement: Statement) -> bool:
    return _is_long(statement.source)


@lru_cache(maxsize=16_384)
def _is_long(source: str) -> bool:
    return weighty(parse(source)) > MOST


def weighty(statement: Statement) -> int:
    return sum(item.weight > 0 for item in statement.line)


def _end(clean: str, begin: int) -> int:
    """Return the place after the next sentence end, or 0. A blank and an uppercase letter follow a sentence end."""
    for at in range(begin + 1, len(clean) - 2):
        if clean[at] in ".!?" and clean[at + 1] == " " and not clean[at + 2].islower():
            return at + 1
    return 0
