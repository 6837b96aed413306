"""The words that differ between two texts."""

import re
from difflib import SequenceMatcher
from typing import Literal

import msgspec


Side = Literal["same", "here", "there"]

MOST = 3000
"""The number of tokens that are compared one by one. The rest of a longer text is compared as a whole."""
_TOKEN = re.compile(r"\s+|\w+(?:[.'’-]\w+)*|[^\w\s]")


class Segment(msgspec.Struct, frozen=True):
    text: str
    side: Side


class Change(msgspec.Struct, frozen=True):
    """A piece of both texts in reading order. The piece is the same in both, or differs."""

    here: str
    there: str
    same: bool


def compare(here: str, there: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Return both texts as segments. Each segment is shared, or is in one text only."""
    pieces = changes(here, there)
    left = [part for change in pieces for part in segments(change.here, "same" if change.same else "here")]
    right = [part for change in pieces for part in segments(change.there, "same" if change.same else "there")]
    return tuple(left), tuple(right)


def changes(here: str, there: str, *, exact: bool = False) -> list[Change]:
    """Return the shared and the changed pieces of two texts.

    A blank between two changes belongs to them, so `30 s` -> `60 min` is one change. With `exact`, a
    difference between upper and lower case is a change.
    """
    mine, theirs = _tokens(here), _tokens(there)
    key = _exact_key if exact else _key
    matcher = SequenceMatcher(None, [key(t) for t in mine], [key(t) for t in theirs], autojunk=False)
    plain = [
        Change("".join(mine[i1:i2]), "".join(theirs[j1:j2]), what == "equal")
        for what, i1, i2, j1, j2 in matcher.get_opcodes()
    ]
    merged: list[Change] = []
    for place, change in enumerate(plain):
        inside = 0 < place < len(plain) - 1
        blank = change.same and inside and change.here.isspace() and "\n" not in change.here
        piece = Change(change.here, change.there, same=False) if blank else change
        if merged and not merged[-1].same and not piece.same:
            piece = Change(merged[-1].here + piece.here, merged[-1].there + piece.there, same=False)
            merged[-1] = piece
        else:
            merged.append(piece)
    return merged


def segments(text: str, side: Side) -> list[Segment]:
    """Return the segments of a piece. In a changed piece the blanks at its edges count as shared."""
    core = text.strip()
    if side == "same" or not core:
        return [Segment(text, "same")] if text else []
    start = text.index(core)
    parts: tuple[tuple[str, Side], ...] = (
        (text[:start], "same"),
        (core, side),
        (text[start + len(core) :], "same"),
    )
    return [Segment(part, which) for part, which in parts if part]


def _tokens(text: str) -> list[str]:
    """Return the words, punctuation marks and blanks of a text. All text after `MOST` tokens is one token."""
    tokens = _TOKEN.findall(text)
    return [*tokens[:MOST], "".join(tokens[MOST:])] if len(tokens) > MOST else tokens


def _key(token: str) -> str:
    return _exact_key(token).casefold()


def _exact_key(token: str) -> str:
    return " " if token.isspace() else token
