"""Repositories with a plane on several branches, by real git."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from agentplane import health
from agentplane.api import Plane
from agentplane.guard import guard
from agentplane.memory.reconcile.settle import Settled
from agentplane.plane.git import merge_driver
from agentplane.text.log import chain
from tests.conftest import decision, plane_in


class Repository:
    """A clone with a plane; changes of the plane are committed with it."""

    def __init__(self, folder: Path, actor: str = "Ada") -> None:
        self.folder = folder
        self.actor = actor

    @property
    def plane(self) -> Plane:
        return plane_in(self.folder, self.actor)

    def git(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(("git", *words), cwd=self.folder, capture_output=True, text=True)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def commit(self, message: str = "work") -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def approve(self, *statements: str) -> list[str]:
        """The ids that the statements got; committed."""
        plane = self.plane
        made = [
            plane.inbox.approve([plane.propose(decision(statement), again=True)]).ids[-1]
            for statement in statements
        ]
        self.commit(", ".join(statements))
        return made

    def edit(self, id_: str, old: str, new: str) -> None:
        plane = self.plane
        entry = plane.memory.read().get(id_)
        text = plane.memory.read().snapshot.core(entry.file, entry.id) or b""
        plane.memory.edit(id_, text.replace(old.encode(), new.encode()), entry.digest)
        self.commit(f"edit {id_}")

    def branch(self, name: str) -> None:
        self.git("checkout", "-q", "-b", name)

    def checkout(self, name: str) -> None:
        self.git("checkout", "-q", name)

    def merge(self, name: str) -> Settled:
        """As a person who has no driver would do it: git stops or not, then settle, then commit."""
        self.git("merge", "--no-edit", name, check=False)
        return self.settle()

    def settle(self) -> Settled:
        done = self.plane.settle().done
        assert not done.left
        self.commit("settle")
        return done

    def clone(self, folder: Path) -> "Repository":
        subprocess.run(("git", "clone", "-q", str(self.folder), str(folder)), check=True)
        return Repository(folder, self.actor)

    def statements(self) -> dict[str, str]:
        """What is trusted, by id."""
        return {entry.id: entry.statement for entry in self.plane.memory.read().shelf if entry.trusted}

    def waiting(self) -> dict[str, str]:
        return {entry.id: entry.statement for entry in self.plane.memory.read().inbox}

    def looks_well(self) -> None:
        """The chain verifies, and doctor finds nothing."""
        report = chain.verify(self.plane.layout.log)
        assert (report.faults, report.torn, len(report.heads)) == ((), None, 1)
        found = health.collect(self.plane.store)
        assert [f for f in found if f.severity != "info"] == []
        self.passes_the_guard()

    def passes_the_guard(self) -> None:
        """All that ever happened here is what people did with the program."""
        first = self.git("rev-list", "--max-parents=0", "HEAD").stdout.split()[0]
        found = guard.check(self.plane.layout, first, lambda: datetime(2030, 1, 1, tzinfo=UTC)).findings
        errors = [f for f in found if f.severity == "error"]
        assert not errors, errors

    def file(self, name: str) -> str:
        return (self.folder / ".agentplane" / name).read_text()


def with_driver(repository: Repository) -> Repository:
    merge_driver.set_up(repository.plane.layout)
    return repository


def new(folder: Path, *statements: str) -> Repository:
    """A repository whose branch `main` holds these decisions."""
    folder.mkdir()
    made = Repository(folder)
    made.git("init", "-q", "-b", "main")
    assert made.plane
    made.commit("a plane")
    if statements:
        made.approve(*statements)
    return made


def two(folder: Path) -> tuple[Repository, Repository]:
    """Two clones of one repository, each on a branch of its own: `ada` and `bob`."""
    ada = new(folder / "ada", "Use Textual.", "Amounts are whole cents.")
    bob = ada.clone(folder / "bob")
    bob.actor = "Bob"
    ada.branch("ada")
    bob.branch("bob")
    return ada, bob


def meet(ada: Repository, bob: Repository) -> tuple[Settled, Settled]:
    """Each merges the other's branch."""
    ada.git("fetch", "-q", str(bob.folder), "bob:theirs")
    bob.git("fetch", "-q", str(ada.folder), "ada:theirs")
    return ada.merge("theirs"), bob.merge("theirs")
