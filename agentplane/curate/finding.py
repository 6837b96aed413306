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
    """Lines of a file, or a value such as a number, that prove a finding."""

    where: str
    text: str


class Diff(msgspec.Struct, frozen=True, tag="diff"):
    """A change to a file, and the commit that made it. The last three fields are None if Git doesn't know them."""

    where: str
    text: str
    """The change as a unified diff."""
    commit: str | None = None
    author: str | None = None
    date: str | None = None


class Pair(msgspec.Struct, frozen=True, tag="pair"):
    """Two statements that contradict each other or say the same thing."""

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
    """One problem with approved entries. Code compares the kinds of findings, and never their words."""

    kind: Kind
    ids: tuple[str, ...]
    """The ids of the entries that the finding is about. The first one is its subject."""
    where: str
    what: str
    proof: Proof
    remedies: tuple[Remedy, ...]
    """The remedies, with the most common one first."""
    basis: str = ""
    """The state that the finding depends on, such as the digest of the current evidence. If it changes, a dismissed
finding returns."""
    severity_here: Severity | None = None
    """The severity, if it differs from the severity of the kind."""

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
        """A short name for the finding. It changes only if the state that the finding depends on changes."""
        text = "\0".join((self.kind, *self.ids, self.basis))
        return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_KEY_LENGTH]


class Check(Protocol):
    """A function that finds problems with approved entries. It has no side effects, and always finds the same in the
    same state.
    """

    def __call__(self, subject: Subject, /) -> Iterable[Finding]:
        """Return the findings about the entries of `subject.entries`."""
