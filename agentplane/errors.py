"""Every error that a user can cause, as one family.

AgentplaneError            what happened, where, what to do next; exit code
├── BadInput       2       arguments, files or settings that cannot be used as they are
│   ├── NotFound       127     a command that is not there, as a shell says it
│   └── NotExecutable  126     a command that is there, but cannot be run
├── Refused        3       a rule of the plane says no
│   ├── NeedsChoice        a conflict, and a person says what becomes of it (review/conflicts/resolve.py)
│   ├── Unconfirmed        a flagged text that a person confirms on its own (review/confirm.py)
│   └── Repeated           a statement that was rejected before (review/gate/verdicts.py)
└── PlaneError     4       the plane itself
    ├── Locked             another process holds it
    └── Damaged            its files contradict each other, or cannot be read or written
"""

from typing import ClassVar


class AgentplaneError(Exception):
    """Shown to a user as `where: what`, then what to do."""

    exit_code: ClassVar[int] = 2

    def __init__(
        self, what: str, *, where: str | None = None, todo: str | None = None, sees_doctor: bool = False
    ) -> None:
        """`sees_doctor` means that `todo` sends the user to `agentplane doctor`, which can say more."""
        super().__init__(what)
        self.what = what
        self.where = where
        self.todo = todo
        self.sees_doctor = sees_doctor

    @property
    def headline(self) -> str:
        """What happened and where, without what to do about it."""
        return f"{self.where}: {self.what}" if self.where else self.what

    def __str__(self) -> str:
        return f"{self.headline}\n{self.todo}" if self.todo else self.headline


class BadInput(AgentplaneError):
    """Arguments, files or settings that cannot be used as they are."""


class NotFound(BadInput):
    """A command that is not there."""

    exit_code = 127


class NotExecutable(BadInput):
    """A command that is there, but cannot be run."""

    exit_code = 126


class Refused(AgentplaneError):
    """A rule of the plane says no."""

    exit_code = 3


class PlaneError(AgentplaneError):
    """The plane cannot be used right now."""

    exit_code = 4


class Locked(PlaneError):
    """Another process holds the plane."""


class Damaged(PlaneError):
    """Files of the plane contradict each other, or cannot be read or written."""
