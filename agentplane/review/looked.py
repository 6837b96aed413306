"""What the last look at the inbox found, kept so that the same files need not be looked at again.

The first line of the file says for which files it holds, the second holds the conflicts of each candidate.
"""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from agentplane.plane import cache
from agentplane.plane.layout import Layout
from agentplane.plane.store import Snapshot
from agentplane.review.conflicts import Conflict
from agentplane.review.neighbours import embeds


DETECTOR = 1
"""Raised whenever conflicts are found otherwise, so that what an earlier program found counts no more."""
_NAME = "looked"


def mark(snapshot: Snapshot) -> str:
    """A hash of all that conflicts depend on: the texts, the settings, this program and what it can load."""
    made = hashlib.sha256(f"{DETECTOR} {embeds()}\n".encode())
    made.update(msgspec.json.encode(snapshot.settings))
    for file, page in sorted(snapshot.pages.items()):
        made.update(f"{page.sha256} {file}\n".encode(errors="surrogateescape"))
    return made.hexdigest()


def load(layout: Layout, mark: str) -> dict[str, tuple[Conflict, ...]]:
    """What was found for these files; nothing where they have changed."""
    header, _, body = (cache.load(layout, _NAME) or b"").partition(b"\n")
    if header != mark.encode():
        return {}
    try:
        return msgspec.json.decode(body, type=dict[str, tuple[Conflict, ...]])
    except msgspec.MsgspecError:
        return {}


def save(snapshot: Snapshot, mark: str, found: Mapping[str, Sequence[Conflict]]) -> None:
    data = mark.encode() + b"\n" + msgspec.json.encode(found)
    cache.save_as_of(snapshot.layout, snapshot.ledger.head, _NAME, data)
