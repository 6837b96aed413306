"""Detection of secrets in a text, by kind and place, without returning the secret itself.

Proposals of tools and output of programs are checked in the same way. `search.py` does the work. It compiles a hundred
patterns when it is loaded, and most commands never need it.
"""

import re

import msgspec


class Secret(msgspec.Struct, frozen=True):
    """A secret in a text. `sure` is True if its format or name identifies it, and False if it only looks
    random.
    """

    kind: str
    line: int
    column: int
    sure: bool = True

    @property
    def place(self) -> str:
        return f"line {self.line}, column {self.column}"


_SHORT_WORD = re.compile(r"[\w.-]{1,16}")


def find(text: str) -> list[Secret]:
    """Return the first few secrets of a text, in order."""
    if is_short_word(text):
        return []
    from agentplane.scan.secrets import search

    return search.find(text)


def spans(text: str) -> list[tuple[int, int, str]]:
    """Return the start, end and kind of all certain secrets, in order and without overlaps."""
    from agentplane.scan.secrets import search

    return search.spans(text)


def is_short_word(text: str) -> bool:
    """True for one word that is too short for any kind of secret."""
    return _SHORT_WORD.fullmatch(text) is not None
