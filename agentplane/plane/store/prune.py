"""The removal of a text from history.

Its digests stay, so the log and the operation records still prove the operations.
"""

from collections.abc import Iterator, Sequence

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.store import records
from agentplane.plane.store.plan import Plan
from agentplane.plane.store.snapshot import Snapshot
from agentplane.text import files
from agentplane.text.log import chain


class Occurrences(msgspec.Struct, frozen=True):
    """The places that contain a text."""

    digests: tuple[str, ...]
    """Digests of texts in operation records that contain it."""
    files: tuple[str, ...]
    """`file:line` in the memory files."""
    events: tuple[int, ...]
    """Numbers of log lines that contain it. A change to them would break the chain."""


class Elsewhere(msgspec.Struct, frozen=True):
    """The places that contain a text in files that only higher packages know."""

    digests: tuple[str, ...] = ()
    """Hashes of the files that contain it."""
    redacted: dict[str, str] = {}
    """Original hashes of those files, each with the hash of the file without the text."""
    files: tuple[str, ...] = ()
    """Files from which the text can't be removed yet."""


def search(snapshot: Snapshot, needle: str) -> Occurrences:
    if len(needle.strip()) < 4:
        raise BadInput(
            "the text to remove is shorter than four characters",
            todo="Enter at least four characters.",
        )
    digests = dict.fromkeys(_digests(snapshot.layout, needle))
    return Occurrences(
        tuple(digests), tuple(_places(snapshot, needle)), tuple(_events(snapshot.layout, needle))
    )


def plan(found: Occurrences, elsewhere: Elsewhere, why: str | None) -> Plan:
    """Return the plan of a prune.

    Refuse while a file contains the text, or the next operation would restore it.
    """
    standing = (*found.files, *elsewhere.files)
    if standing:
        raise Refused(
            "these files still contain the text",
            where=", ".join(standing[:3]),
            todo="First remove the text from the current files: edit or reject the entries, delete the drafts, or end the runs.",
        )
    prunes = (*found.digests, *elsewhere.digests)
    if not prunes:
        raise BadInput(
            f"Text not found in operation records or run records.{_only_in(found.events)}",
            todo="Check the spelling. The search is case-sensitive.",
        )
    return Plan(verb="prune", edits=(), prunes=prunes, redacted=elsewhere.redacted, why=why)


def _only_in(lines: Sequence[int]) -> str:
    """Return the sentence that names the log lines that contain the text."""
    named = ", ".join(map(str, lines[:5]))
    if len(lines) == 1:
        return f" Only line {named} of the log contains the text, and the log can't be changed."
    return f" Only lines {named} of the log contain the text, and the log can't be changed." if lines else ""


def _digests(layout: Layout, needle: str) -> Iterator[str]:
    wanted = needle.encode()
    for line in records.each(layout):
        try:
            stored = records.read_line(line)
        except (ValueError, msgspec.MsgspecError):
            continue
        for digest in stored.texts:
            if wanted in (stored.raw(digest) or b""):
                yield digest


def _places(snapshot: Snapshot, needle: str) -> Iterator[str]:
    wanted = needle.encode()
    for file, page in snapshot.pages.items():
        data = page.document.data
        at = data.find(wanted)
        if at >= 0:
            line = data.count(b"\n", 0, at) + 1
            yield f"{snapshot.layout.shown(file)}:{line}"
    for draft in cache.drafts(snapshot.layout):
        if wanted in files.read(draft):
            yield snapshot.layout.shown(f"cache/{cache.DRAFTS}/{draft.name}")


def _events(layout: Layout, needle: str) -> Iterator[int]:
    wanted = msgspec.json.encode(needle)[1:-1]
    for number, (_, line) in enumerate(chain.lines(layout.log), 1):
        if wanted in line:
            yield number
