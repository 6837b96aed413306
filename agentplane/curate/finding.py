"""Findings of the curator, each with its proof and its remedies."""

import hashlib
from collections.abc import Iterable
from typing import Protocol

import msgspec

from agentplane.curate.kinds import KINDS, Kind, KindRow
from agentplane.curate.remedies import Remedy
from agentplane.curate.subject import Subject
from agentplane.findings import Severity


_KEY_LENGTH = 10


class Lines(msgspec.Struct, frozen=True, tag="lines"):
    """Lines of a file, or a value such as a number, that a finding rests on."""

    where: str
    text: str


class Diff(msgspec.Struct, frozen=True, tag="diff"):
    """The change of a file, and the commit that made it. The last three are None if Git doesn't know them."""

    where: str
    text: str
    """The change as a unified diff."""
    commit: str | None = None
    author: str | None = None
    date: str | None = None


class Pair(msgspec.Struct, frozen=True, tag="pair"):
    """Two statements that can't both be right, or that say the same."""

    one: str
    other: str
    one_text: str
    other_text: str
    reason: str


class Output(msgspec.Struct, frozen=True, tag="output"):
    """The output of a command."""

    command: str
    text: str
    exit_code: int | None
    """None if the command was ended."""


Proof = Lines | Diff | Pair | Output


class Finding(msgspec.Struct, frozen=True):
    """One problem of approved entries. Code that makes decisions compares kinds, never the words."""

    kind: Kind
    ids: tuple[str, ...]
    """The entries that it is about. The first one is its subject."""
    where: str
    what: str
    proof: Proof
    remedies: tuple[Remedy, ...]
    """The usual remedy first."""
    basis: str = ""
    """The state that it rests on, such as the digest of the current evidence. A dismissal ends when it changes."""
    severity_here: Severity | None = None
    """The severity, if it isn't the one of the kind."""

    @property
    def id(self) -> str:
        return self.ids[0]

    @property
    def row(self) -> KindRow:
        return KINDS[self.kind]

    @property
    def severity(self) -> Severity:
        return self.severity_here or self.row.severity

    @property
    def key(self) -> str:
        """A short name for the finding. It stays the same until the state that the finding rests on changes."""
        text = "\0".join((self.kind, *self.ids, self.basis))
        return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_KEY_LENGTH]


class Check(Protocol):
    """Finds problems of approved entries. It changes nothing, and finds the same if nothing changed."""

    def __call__(self, subject: Subject, /) -> Iterable[Finding]:
        """Return the findings about the entries of `subject.entries`."""
