"""A project memory in a real repository, with entries that cite its files."""

from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.curate.finding import Finding
from agentplane.curate.recorded import Observed, Recorded
from agentplane.curate.subject import Subject
from tests.conftest import approve_seen, decision, plane_in
from tests.curate.anchors.repo import Repo


class Cited(Repo):
    """A repository with a project memory."""

    plane: Plane

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.recorded: dict[str, Observed] = {}

    def cite(self, statement: str, *evidence: str, records: bool = True) -> str:
        """Approve an entry. `records` is False for an approval by an earlier version, which recorded no state."""
        candidate = self.plane.propose(decision(statement, evidence=list(evidence)))
        (id_,) = approve_seen(self.plane, candidate).renamed.values()
        self.recorded[id_] = self.observed(*evidence) if records else self.approved_before()
        return id_

    def found(self, check: Callable[[Subject], Iterable[Finding]]) -> list[Finding]:
        """The findings of a check now."""
        memory = self.plane.memory.read()
        entries = tuple(entry for entry in memory.shelf if entry.head.status == "accepted")
        return list(check(Subject(memory, entries, Recorded(observed=self.recorded), date(2026, 11, 20))))


@pytest.fixture
def cited(tmp_path: Path) -> Cited:
    folder = tmp_path / "project"
    folder.mkdir()
    cited = Cited(folder)
    cited.write(
        "src/pay.py", "LIMIT = 30\n\n\ndef charge(amount):\n    total = amount + 2\n    return total\n"
    )
    cited.write("docs/guide.md", "# Guide\n\n## Usage\n\nRun it.\n")
    cited.plane = plane_in(folder)
    cited.commit("first")
    return cited
