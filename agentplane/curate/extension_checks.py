"""Curator checks from other installed packages."""

from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import get_args

import msgspec

from agentplane import extensions
from agentplane.curate.finding import Check, Finding, Proof
from agentplane.curate.kinds import KINDS
from agentplane.curate.recorded import Recorded
from agentplane.curate.remedies import Remedy
from agentplane.curate.subject import Subject
from agentplane.extensions import CURATOR_CHECKS, MOST_FINDINGS, Extension, ExtensionError
from agentplane.findings import Finding as Trouble
from agentplane.findings import Severity
from agentplane.memory.view import Memory


def findings(subject: Subject) -> Iterator[Finding | Trouble]:
    """Yield the findings of other packages' checks, and an error for each check that fails."""
    for name in extensions.names(CURATOR_CHECKS):
        try:
            yield from _found(extensions.get(CURATOR_CHECKS, name), subject)
        except ExtensionError as error:
            yield extensions.failed(error)


def try_out(extension: Extension, memory: Memory, today: date) -> None:
    """Run a check without entries to see whether it works. Raise ExtensionError if it doesn't."""
    _found(extension, Subject(memory, (), Recorded(), today))


def _found(extension: Extension, subject: Subject) -> list[Finding]:
    """Return the findings of one check. Their keys depend on the name of the check, so different checks never share a
    key.
    """
    check: Check = extension.target
    found = extension.call(lambda: list(islice(check(subject), MOST_FINDINGS)))
    if not all(_is_sound(subject, one) for one in found):
        raise extension.error("returned something other than findings about approved entries")
    return [msgspec.structs.replace(one, basis=f"{extension.name}:{one.basis}") for one in found]


def _is_sound(subject: Subject, one: object) -> bool:
    """True if every field has its declared type, and the finding is about entries of the memory."""
    if not isinstance(one, Finding):
        return False
    kind, ids, where, what, proof, remedies, basis, severity = msgspec.structs.astuple(one)
    return (
        kind in KINDS
        and isinstance(ids, tuple)
        and bool(ids)
        and all(isinstance(id_, str) and id_ in subject.memory.entries for id_ in ids)
        and all(isinstance(text, str) for text in (where, what, basis))
        and isinstance(proof, Proof)
        and isinstance(remedies, tuple)
        and all(isinstance(remedy, Remedy) for remedy in remedies)
        and severity in (None, *get_args(Severity))
    )
