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
        approved = f"{self.candidate} was approved on two branches, as {self.kept} and as {self.dropped}"
        return f"{approved}, and only {self.kept} stays"


class Renumbered(msgspec.Struct, frozen=True):
    """Two branches assigned the same id, and the later entry has a new id."""

    id: str
    new: str

    def __str__(self) -> str:
        return f"{self.id} was used on both branches, so the later entry is now {self.new}"


class ChangedTwice(msgspec.Struct, frozen=True):
    """An entry was changed on two branches. The text that wasn't kept is a candidate."""

    id: str
    candidate: str

    def __str__(self) -> str:
        return f"{self.id} was changed on both branches, so the other text is now candidate {self.candidate}"


class SupersededTwice(msgspec.Struct, frozen=True):
    """An entry was superseded on two branches, and all its successors are in force."""

    id: str
    successors: tuple[str, ...]

    def __str__(self) -> str:
        names = " and ".join(self.successors)
        return f"{self.id} was superseded on both branches, so {names} are both in force"


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
        return f"Removed {self.id} from {self.file}, because it was decided on the other branch"


class Deduplicated(msgspec.Struct, frozen=True):
    """Duplicate texts that a merge left in a file were removed."""

    file: str

    def __str__(self) -> str:
        return f"Removed duplicate texts from {self.file}"


class FileRemoved(msgspec.Struct, frozen=True):
    """A file of a tool was removed on one branch, and only agentplane's block changed on the other."""

    path: str

    def __str__(self) -> str:
        return f"Removed {self.path}, as one of the branches did"


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
