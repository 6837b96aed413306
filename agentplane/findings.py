"""What a check noticed: one type for every package, collected by health.py and printed by `doctor` and `check`."""

from typing import Literal

import msgspec

from agentplane.errors import AgentplaneError


Severity = Literal["error", "warning", "info"]
Repair = Literal[
    "log", "records", "unfinished", "views", "cache", "files", "rules", "share", "capsule", "run", "unpruned"
]
"""What `doctor --fix` repairs without losing anything."""

DOCTOR = ("agentplane", "doctor")
UNUSABLE = "unusable"
"""The code of a finding that is an error which kept a check from going on."""


class Shell(msgspec.Struct, frozen=True):
    """A shell command for a person to run, and the words around it."""

    argv: tuple[str, ...]
    """The words of the whole command, fit to be shown."""
    before: str = "Run "
    after: str = "."

    def __str__(self) -> str:
        return f"{self.before}`{' '.join(self.argv)}`{self.after}"


class Mend(msgspec.Struct, frozen=True):
    """A repair that `doctor --fix` makes, and the words around that command."""

    repair: Repair
    before: str = ""
    after: str = " repairs it."

    def __str__(self) -> str:
        return str(Shell((*DOCTOR, "--fix"), self.before, self.after))


class Instruction(msgspec.Struct, frozen=True):
    """Something that a person does, without a command that is known in full."""

    text: str

    def __str__(self) -> str:
        return self.text


Remedy = Shell | Mend | Instruction


class Finding(msgspec.Struct, frozen=True):
    """One thing that a check noticed. Code that decides anything compares codes and remedies, never the words."""

    code: str
    """What was noticed, the same in every version."""
    severity: Severity
    where: str
    what: str
    remedies: tuple[Remedy, ...]
    """What can be done about it, in the order in which it is said."""
    subject: str | None = None
    """The id of the entry, operation or run that it is about, or the name of the file. None if there is none."""

    @property
    def remedy(self) -> str:
        """The remedies in words."""
        return " ".join(map(str, self.remedies))

    @property
    def repairs(self) -> frozenset[Repair]:
        """What `doctor --fix` does about it, losing nothing."""
        return frozenset(remedy.repair for remedy in self.remedies if isinstance(remedy, Mend))

    @property
    def fixable(self) -> bool:
        return bool(self.repairs)


def unusable(error: AgentplaneError, where: str, otherwise: str) -> Finding:
    """Return the finding for an error that kept a check from going on.

    `where` and `otherwise` are used if the error has no place or no advice of its own.
    """
    # Whoever reads this has run doctor already.
    todo = None if error.sees_doctor else error.todo
    return Finding(UNUSABLE, "error", error.where or where, error.what, (Instruction(todo or otherwise),))
