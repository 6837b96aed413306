"""Texts that a merge of branches replaced, their comparison with the current text, and their candidates."""

import hashlib
from typing import Any

from agentplane.memory import ids
from agentplane.memory.entry import INBOX_STATUS, POSTPONING
from agentplane.text.markdown import document, header


PROPOSED_BY = "merge"
_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
# Fields that an approval, a pin or a status change writes. Texts that differ only in these fields say the
# same.
_STAMPS = (
    "id", "status", "updated", "anchor", "approved_by", "proposed_by", "superseded_by", "pinned", *POSTPONING,
)  # fmt: skip


def candidate_id(id_: str, digest: str) -> str:
    """Return the id of the candidate for a replaced text, which is the same in every clone."""
    number = int.from_bytes(hashlib.sha256(f"{id_} {digest}".encode()).digest())
    letters = (_ALPHABET[number // len(_ALPHABET) ** place % len(_ALPHABET)] for place in range(6))
    return f"{ids.CANDIDATE_PREFIX}-{''.join(letters)}"


def fields(text: bytes) -> dict[str, Any]:
    read = document.parse(text)
    return read.header(read.blocks[0]) if read.blocks else {}


def id_of(text: bytes) -> str:
    return str(fields(text).get("id"))


def listed(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [] if value is None else [str(value)]


def says_the_same(one: bytes, other: bytes) -> bool:
    return _essence(one) == _essence(other)


def _essence(text: bytes) -> tuple[dict[str, Any], str]:
    read = document.parse(text)
    if not read.blocks:
        return {}, text.decode(errors="replace")
    kept = {name: value for name, value in fields(text).items() if name not in _STAMPS}
    return kept, read.body(read.blocks[0]).strip()


def as_candidate(text: bytes, id_: str, into: str | None) -> bytes:
    changes: dict[str, Any] = {"id": id_, "status": INBOX_STATUS}
    if into:
        changes["supersedes"] = [into]
    changes |= {"proposed_by": PROPOSED_BY, "superseded_by": header.DROP, "anchor": header.DROP}
    changes |= dict.fromkeys(("approved_by", *POSTPONING), header.DROP)
    return header.set_fields(text, changes)
