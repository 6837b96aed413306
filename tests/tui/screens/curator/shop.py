"""A project memory in a real repository, with a finding of each kind that the screen treats differently."""

from pathlib import Path

from agentplane.api import Plane
from agentplane.memory.proposing import Proposal
from agentplane.review.conflicts.resolve import Choice
from tests.conftest import approve_seen, plane_in
from tests.curate.anchors.repo import Repo
from tests.curate.shelves import NOW, ago, at


PAY = "LIMIT = 30\n\n\ndef charge(amount):\n    total = amount + 2\n    return total\n"


class Shop(Repo):
    """A repository with a project memory, whose entries were approved before the code changed."""

    def __init__(self, folder: Path, *, is_git: bool = True) -> None:
        super().__init__(folder, is_git=is_git)
        self.write("src/pay.py", PAY)
        self.write("lib/mail.py", "def send(to):\n    return deliver(to, retries=3)\n")
        self.write("src/legacy.py", "def export(rows):\n    return [str(row) for row in rows]\n")
        self.plane = at(plane_in(folder), NOW)
        self._commit()

    def _commit(self, subject: str = "change") -> None:
        if self.is_git:
            self.commit(subject)

    def add(
        self, statement: str, kind: str = "decision", *, days: int = 0, beside: bool = False, **more: object
    ) -> str:
        """Approve an entry, with `beside` next to the entries that it conflicts with. Return its id."""
        plane = ago(self.plane, days)
        candidate = plane.propose(Proposal(type=kind, statement=statement, **more))  # type: ignore[arg-type]
        choice = Choice(keep_both=True, why="Both are needed.") if beside else None
        return approve_seen(plane, candidate, choice).renamed[candidate]

    def fill(self) -> None:
        """DEC-001 changed, DEC-002 moved, DEC-003 gone, FACT-001 and FACT-002 expired, ASM-001 old, and DEC-004 fine."""
        self.add("A charge has a fee of two cents.", evidence=["src/pay.py#charge"])
        self.add("Mails are sent three times before they are dropped.", evidence=["lib/mail.py#send"])
        self.add("Exports turn each row into text.", evidence=["src/legacy.py#export"])
        self.add("Webhooks carry a signature.", "fact", days=100, expires_at="2031-05-01")
        self.add("Buttons have round corners.", "fact", days=100, expires_at="2031-05-02")
        self.add("The API answers in 200 ms.", "assumption", days=100)
        self.add("Logs go to standard error.", evidence=["src/pay.py#LIMIT"])
        self._commit("memory")
        self.drift()

    def drift(self) -> None:
        """Change the code as if other people had worked on it."""
        self.replace("src/pay.py", "amount + 2", "amount + 3")
        self._commit("Raise the fee")
        self.move("lib/mail.py", "lib/post/mail.py")
        self._commit("Move mail")
        (self.folder / "src" / "legacy.py").unlink()
        self._commit("Remove exports")

    def entry(self, id_: str) -> str:
        """The text of an entry in its file."""
        memory = self.plane.memory.read()
        return (memory.snapshot.core(memory.get(id_).file, id_) or b"").decode()


def shop_in(folder: Path, *, is_git: bool = True) -> Shop:
    folder.mkdir(exist_ok=True)
    shop = Shop(folder, is_git=is_git)
    shop.fill()
    return shop


def plane_of(shop: Shop) -> Plane:
    return shop.plane
