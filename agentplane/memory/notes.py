"""Notes about a reconciled merge, as data. Each note reads as one line, for the record and for the
interfaces.
"""

import msgspec


class SameCandidate(msgspec.Struct, frozen=True):
    """One candidate was approved on two branches, so that two entries came from it."""

    candidate: str
    kept: str
    dropped: str

    def __str__(self) -> str:
        became = f"{self.candidate} became {self.kept} on one branch and {self.dropped} on another"
        return f"{became}: {self.kept} stays"


class Renumbered(msgspec.Struct, frozen=True):
    """Two branches assigned the same id, and the later entry has a new id."""

    id: str
    new: str

    def __str__(self) -> str:
        return f"two branches gave {self.id}: the later one is {self.new}"


class ChangedTwice(msgspec.Struct, frozen=True):
    """An entry was changed on two branches. The text that wasn't kept is a candidate."""

    id: str
    candidate: str

    def __str__(self) -> str:
        return f"{self.id} was changed on two branches: the other text is now candidate {self.candidate}"


class SupersededTwice(msgspec.Struct, frozen=True):
    """An entry was superseded on two branches, and all its successors are in force."""

    id: str
    successors: tuple[str, ...]

    def __str__(self) -> str:
        names = " and by ".join(self.successors)
        return f"{self.id} was superseded on two branches: by {names}, and both are in force"


class FilledGaps(msgspec.Struct, frozen=True):
    """Events that the log names but lacked were added to it."""

    events: int

    def __str__(self) -> str:
        count = f"{self.events} event{'s' * (self.events != 1)}"
        return f"Restored {count} missing from the log"


class RemovedAgain(msgspec.Struct, frozen=True):
    """Git restored an entry that was decided on the other branch."""

    id: str
    file: str

    def __str__(self) -> str:
        return f"{self.id} was decided on the other branch and was removed from {self.file}"


class Deduplicated(msgspec.Struct, frozen=True):
    """Duplicate texts that a merge left in a file were removed."""

    file: str

    def __str__(self) -> str:
        return f"{self.file}: removed duplicate texts from the merge"


class FileRemoved(msgspec.Struct, frozen=True):
    """A file of a tool was removed on one branch, and only agentplane's block changed on the other."""

    path: str

    def __str__(self) -> str:
        return f"{self.path}: removed, as on one of the branches"


Note = (
    SameCandidate
    | Renumbered
    | ChangedTwice
    | SupersededTwice
    | FilledGaps
    | RemovedAgain
    | Deduplicated
    | FileRemoved
)
