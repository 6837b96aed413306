"""Ids that programs give to facts. An entry keeps such an id as `external_id`, next to the id that agentplane gave it."""

import re


_FORM = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._:-]{0,126}[A-Za-z0-9])?")


def is_one(text: str) -> bool:
    """True if a text can be the id of a fact, which is a slug without spaces."""
    return _FORM.fullmatch(text) is not None
