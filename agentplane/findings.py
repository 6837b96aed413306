"""Findings of checks, as one type for every package. `health.py` collects them, and `doctor` and `check`
print them.
"""

from collections.abc import Iterable
from typing import Literal, Protocol, TypeVar, get_args

import msgspec

from agentplane.errors import AgentplaneError


Severity = Literal["error", "warning", "info"]
Repair = Literal[
    "log", "records", "unfinished", "views", "cache", "files", "rules", "share", "capsule", "run", "unpruned"
]
"""Repairs of `doctor --fix` that lose nothing."""

DOCTOR = ("agentplane", "doctor")
UNUSABLE = "unusable"
"""The code of a finding about an error that stopped a check."""


class Shell(msgspec.Struct, frozen=True):
    """A shell command for a person to run, with the words around it."""

    argv: tuple[str, ...]
    """The words of the whole command, safe to show."""
    before: str = "Run "
    after: str = "."

    def __str__(self) -> str:
        return f"{self.before}`{' '.join(self.argv)}`{self.after}"


class Mend(msgspec.Struct, frozen=True):
    """A repair by `doctor --fix`, with the words around that command."""

    repair: Repair
    before: str = ""
    after: str = " repairs it."

    def __str__(self) -> str:
        return str(Shell((*DOCTOR, "--fix"), self.before, self.after))


class Instruction(msgspec.Struct, frozen=True):
    """An instruction for a person that isn't a complete command."""

    text: str

    def __str__(self) -> str:
        return self.text


Remedy = Shell | Mend | Instruction


class Finding(msgspec.Struct, frozen=True):
    """One finding of a check. Code that makes decisions compares codes and remedies, never the words."""

    code: str
    """The kind of the finding, the same in every version."""
    severity: Severity
    where: str
    what: str
    remedies: tuple[Remedy, ...]
    """Possible remedies, in the order in which they are shown."""
    subject: str | None = None
    """The id of its entry, operation or run, or the name of its file. None if it has no subject."""

    @property
    def remedy(self) -> str:
        """The remedies in words."""
        return " ".join(map(str, self.remedies))

    @property
    def repairs(self) -> frozenset[Repair]:
        """The repairs of `doctor --fix` for it, which lose nothing."""
        return frozenset(remedy.repair for remedy in self.remedies if isinstance(remedy, Mend))

    @property
    def fixable(self) -> bool:
        return bool(self.repairs)

    @property
    def is_sound(self) -> bool:
        """True if every field has its declared type. Structs don't check that, and extensions make findings too."""
        code, severity, where, what, remedies, subject = msgspec.structs.astuple(self)
        return (
            all(isinstance(text, str) for text in (code, where, what, subject or ""))
            and severity in get_args(Severity)
            and isinstance(remedies, tuple)
            and all(isinstance(remedy, Remedy) for remedy in remedies)
        )


Subject_contra = TypeVar("Subject_contra", contravariant=True)


class Check(Protocol[Subject_contra]):
    """Looks for problems of one subject. The subject of the checks of `doctor` is a `Store`.

    A check changes nothing, and finds the same each time if nothing changed. `extensions.CHECKS` has the checks
    of other packages.
    """

    def __call__(self, subject: Subject_contra, /) -> Iterable[Finding]:
        """Return the problems."""


def unusable(error: AgentplaneError, where: str, otherwise: str) -> Finding:
    """Return the finding for an error that stopped a check.

    `where` and `otherwise` are used if the error has no place or no advice.
    """
    # A reader of this has already run doctor.
    todo = None if error.sees_doctor else error.todo
    return Finding(UNUSABLE, "error", error.where or where, error.what, (Instruction(todo or otherwise),))
