"""The findings of the curator as its screen shows them. It doesn't use Textual. Threads call it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path

import msgspec

from agentplane.api import Listeners, Plane
from agentplane.api.curator import Look
from agentplane.curate.finding import Diff, Finding, Lines, Output, Pair
from agentplane.curate.kept import Counts, Mark, Point
from agentplane.curate.kinds import KINDS, KindRow
from agentplane.curate.remedies import Remedy
from agentplane.jobs import Report


Listed = Finding | Mark
"""A finding, or what is known about it before the first pass ended."""


class Curated(msgspec.Struct, frozen=True):
    """The state of the curator's screen."""

    look: Look | None = None
    """The last pass of this session, or None before it ended."""
    marks: tuple[Mark, ...] = ()
    """The open findings of the kept result, without their proofs."""
    counts: Counts | None = None
    """The counts of the kept result, or None if there never was a pass."""
    course: tuple[Point, ...] = ()
    """The health figure over time, oldest first."""
    by_key: Mapping[str, Listed] = {}
    """The findings in the order of the list."""
    since: Mapping[str, date] = {}
    """The day on which a pass found each finding first, by key."""

    @property
    def listed(self) -> Collection[Listed]:
        return self.by_key.values()

    def finding(self, key: str | None) -> Finding | None:
        """Return a finding with its proof and its remedies, or None before the first pass ended."""
        found = self.by_key.get(key or "")
        return found if isinstance(found, Finding) else None


def kept(plane: Plane) -> Curated:
    """Return the result of the last pass of any program, without running a check."""
    curator = plane.curator
    marks = curator.marks()
    return Curated(
        None,
        marks,
        curator.kept(),
        curator.course(),
        {mark.key: mark for mark in marks},
        {mark.key: mark.since for mark in marks},
    )


def looked(plane: Plane, before: Look | None, report: Report) -> Curated:
    """Run a pass over all entries, or over the entries that changed since `before`."""
    curator = plane.with_listeners(Listeners(progress=report)).curator
    look = curator.look(before)
    by_key: Mapping[str, Listed] = {one.key: one for one in look.made.findings}
    return msgspec.structs.replace(kept(plane), look=look, by_key=by_key)


def row_of(one: Listed) -> KindRow:
    """Return the group, the usual severity and the title of a finding's kind."""
    return KINDS[one.kind]


def shared(findings: Sequence[Finding], kind: type[Remedy]) -> list[list[Remedy]]:
    """Return the remedies of one type that each finding has. Empty if one of the findings has none."""
    found = [[remedy for remedy in one.remedies if isinstance(remedy, kind)] for one in findings]
    return found if all(found) else []


def text_of(one: Finding) -> str:
    """Return the text of a proof, for the filter."""
    match one.proof:
        case Lines(where, text) | Diff(where, text):
            return f"{where} {text}"
        case Pair(_, _, one_text, other_text, reason):
            return f"{one_text} {other_text} {reason}"
        case Output(command, text):
            return f"{command} {text}"


def place_of(one: Finding, project: Path) -> tuple[Path, int | None] | None:
    """Return the file that a proof or the finding names, and its line. None if the file doesn't exist."""
    proof = one.proof
    names = [proof.where] if isinstance(proof, Lines | Diff) else []
    for name in (*names, one.where):
        path, _, place = name.partition("#")
        path, _, line = (path or place).partition(":")
        first = line.partition("-")[0]
        found = project / path
        if path and found.is_file():
            return found, int(first) if first.isascii() and first.isdigit() else None
    return None
