"""Removal of versions and counts from statements whose choices already exclude each other.

`PostgreSQL 16` and `MySQL 8` differ in one thing only. So do `Kafka with 3 brokers` and `RabbitMQ with 5
nodes`.
"""

import re
from collections.abc import Collection
from functools import lru_cache

from agentplane.claims.compare.slots import compare_choices
from agentplane.claims.parse.statement import Statement, parse
from agentplane.claims.parse.tokens import normal


def without_name_numbers(new: Statement, old: Statement) -> tuple[Statement, Statement]:
    """Return the two statements without the numbers of names that already exclude each other."""
    if not (new.versions or old.versions):
        return new, old
    slots = compare_choices(new.choices, old.choices)
    names = {name for clash in slots.clashes for name in clash[1:]} | {name for name, _ in slots.refused}
    return _without(new, names), _without(old, names)


def _without(statement: Statement, names: Collection[str]) -> Statement:
    numbers = tuple(one for one in statement.versions if one[0] in names)
    return parse(_cut(statement.source, numbers)) if numbers else statement


@lru_cache(maxsize=4096)
def _cut(source: str, numbers: tuple[tuple[str, str, str], ...]) -> str:
    text = normal(source)
    for _, written, number in numbers:
        between = r"(?:[\s(]|version\b|release\b|with\b|at\b|v(?=[\s.\d])\.?){1,8}"
        pattern = rf"(?i)(?<!\w)({re.escape(written)}`?){between}v?{re.escape(number)}\+?\)?(?![\w%])"
        counted = rf"(?i)(?<!\w)({re.escape(written)}`?) with {re.escape(number)} [a-z-]{{2,40}}s\b"
        text = re.sub(pattern, r"\1", re.sub(counted, r"\1", text, count=1), count=1)
    return text
