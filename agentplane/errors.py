"""Every error that a user can cause, as one family.

AgentplaneError            message, place, next step, and exit code
├── BadInput       2       arguments, files or settings that can't be used
│   ├── NotFound       127     a missing command, with the exit code of a shell
│   ├── NotExecutable  126     an existing command that can't be run
│   └── ExtensionError         an extension that can't be used (extensions.py)
├── Refused        3       a rule of the project memory forbids it
│   ├── NeedsChoice        a conflict that a person has to resolve (review/conflicts/resolve.py)
│   ├── Unconfirmed        a flagged text that a person has to confirm separately (review/confirm.py)
│   └── Repeated           a statement that was rejected before (review/gate/verdicts.py)
└── PlaneError     4       a problem of the plane
    ├── Locked             another process holds its lock
    └── Damaged            its files contradict each other, or can't be read or written
"""

from typing import ClassVar


class AgentplaneError(Exception):
    """An error that is shown to a user as `where: what`, followed by the next step."""

    exit_code: ClassVar[int] = 2

    def __init__(
        self, what: str, *, where: str | None = None, todo: str | None = None, sees_doctor: bool = False
    ) -> None:
        """`sees_doctor` means that `todo` sends the user to `agentplane doctor`, which has more details."""
        super().__init__(what)
        self.what = what
        self.where = where
        self.todo = todo
        self.sees_doctor = sees_doctor

    @property
    def headline(self) -> str:
        """The error and its place, without the next step."""
        return f"{self.where}: {self.what}" if self.where else self.what

    def __str__(self) -> str:
        return f"{self.headline}\n{self.todo}" if self.todo else self.headline


class BadInput(AgentplaneError):
    """Arguments, files or settings that can't be used."""


class NotFound(BadInput):
    """A missing command."""

    exit_code = 127


class NotExecutable(BadInput):
    """An existing command that can't be run."""

    exit_code = 126


class Refused(AgentplaneError):
    """A rule of the project memory forbids it."""

    exit_code = 3


class PlaneError(AgentplaneError):
    """The plane can't be used at the moment."""

    exit_code = 4


class Locked(PlaneError):
    """Another process holds the lock of the plane."""


class Damaged(PlaneError):
    """Files of the plane contradict each other, or can't be read or written."""
