"""Two people work at random on two branches and merge in opposite directions: the same comes out, and nothing is lost."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import AgentplaneError
from agentplane.memory.reconcile.notes import Note
from agentplane.memory.reconcile.settle import settle
from agentplane.plane.ledger import ledger_cache
from agentplane.plane.origin import Origin
from agentplane.plane.store import records
from agentplane.plane.store.store import Store
from tests.cases import some
from tests.conftest import decision
from tests.plane.branches import Repository, new, with_driver


SUBJECTS = ("buttons", "amounts", "deploys", "logs", "tests", "names", "colours", "keys", "files", "ports")


class Person:
    """Somebody whose clock and ids are told by dice, so that a run can be repeated."""

    def __init__(self, repository: Repository, name: str, dice: random.Random) -> None:
        self.repository = repository
        self.dice = dice
        moments = self._moments()
        layout = repository.plane.layout
        self.plane = Plane(
            Store(layout, lambda: next(moments), self._token), Origin(name, "terminal", "pytest")
        )

    def _moments(self) -> Iterator[datetime]:
        moment = datetime(2027, 1, 1, tzinfo=UTC)
        while True:
            moment += timedelta(milliseconds=self.dice.randrange(1, 3000))
            yield moment

    def _token(self, length: int) -> str:
        return "".join(self.dice.choice("abcdefghjkmnpqrstuvwxyz") for _ in range(length))

    def act(self) -> None:
        often = (self.approve_new, self.approve_new, self.propose, self.edit, self.edit, self.deprecate)
        acts = (*often, self.approve, self.reject, self.undo, self.log, self.by_hand, self.pin, self.unpin)
        for _ in range(5):
            try:
                self.dice.choice(acts)()
                break
            except AgentplaneError:
                continue  # nothing to do it with, or refused
        if self.dice.random() < 0.5:
            self.repository.commit()

    def approve_new(self) -> None:
        self.propose()
        self.approve()

    def propose(self) -> None:
        words = " ".join(self.dice.sample(SUBJECTS, 4))
        links = [self.dice.choice(self._shelf())] if self._shelf() and self.dice.random() < 0.3 else []
        self.plane.propose(decision(f"On {words}, {self._token(5)}.", supersedes=links), again=True)

    def _shelf(self) -> list[str]:
        return [entry.id for entry in self.plane.memory.read().shelf if entry.trusted]

    def approve(self) -> None:
        from agentplane.review.conflicts.resolve import Choice

        id_ = self.dice.choice(self.plane.memory.read().inbox_ids or ["none"])
        self.plane.inbox.approve([id_], Choice(keep_both=True, why="dice"))

    def reject(self) -> None:
        self.plane.inbox.reject([self.dice.choice(self.plane.memory.read().inbox_ids or ["none"])])

    def edit(self) -> None:
        memory = self.plane.memory.read()
        entry = self.dice.choice([*memory.shelf, *memory.inbox] or [None])  # type: ignore[list-item]
        if entry is not None:
            text = memory.snapshot.core(entry.file, entry.id) or b""
            self.plane.memory.edit(entry.id, text + f"\nMore: {self._token(6)}.".encode(), entry.digest)

    def deprecate(self) -> None:
        self.plane.memory.deprecate([self.dice.choice(self._shelf() or ["none"])])

    def pin(self) -> None:
        self.plane.memory.pin([self.dice.choice(self._shelf() or ["none"])])

    def unpin(self) -> None:
        self.plane.memory.unpin([entry.id for entry in self.plane.memory.read().shelf if entry.head.pinned])

    def undo(self) -> None:
        self.plane.history.undo()

    def log(self) -> None:
        self.plane.write_log({"task": self._token(4)})

    def by_hand(self) -> None:
        """Edits a file and adopts that."""
        path = self.plane.layout.memory / "decisions.md"
        path.write_text(path.read_text().replace("More: ", f"Still more, {self._token(4)}: ", 1))
        self.plane.memory.adopt()


def texts_of(repository: Repository) -> dict[str, bytes]:
    """Every text that any op ever recorded."""
    found: dict[str, bytes] = {}
    for line in records.each(repository.plane.layout):
        stored = records.read_line(line)
        found |= {digest: text for digest in stored.texts if (text := stored.raw(digest)) is not None}
    return found


def trusted(repository: Repository) -> list[tuple[str, str]]:
    known = ledger_cache.read(repository.plane.layout).known
    return sorted((id_, mark.digest) for id_, mark in known.items() if mark.digest)


def fetch(here: Repository, there: Repository) -> None:
    here.git("fetch", "-q", "-f", str(there.folder), "HEAD:refs/heads/theirs")


@pytest.mark.parametrize("seed", some(range(6), 3))
def test_random_work_on_two_branches(seed: int, tmp_path: Path) -> None:
    work_and_merge(seed, tmp_path, driver=False)


@pytest.mark.parametrize("seed", some(range(20, 22)))
def test_random_work_where_git_was_told(seed: int, tmp_path: Path) -> None:
    work_and_merge(seed, tmp_path, driver=True)


def work_and_merge(seed: int, tmp_path: Path, *, driver: bool) -> None:
    ada = new(tmp_path / "ada", "Use Textual.")
    person = Person(ada, "Ada", random.Random(seed))
    for _ in range(5):
        person.act()
    ada.commit()
    bob = ada.clone(tmp_path / "bob")
    for one in (ada, bob) if driver else ():
        with_driver(one)
    people = (Person(ada, "Ada", random.Random(seed + 100)), Person(bob, "Bob", random.Random(seed + 200)))
    for _ in range(2):
        for someone in people:
            for _ in range(7):
                someone.act()
            someone.repository.commit()
        fetch(ada, bob)
        fetch(bob, ada)
        before = texts_of(ada) | texts_of(bob)
        ada.merge("theirs")
        bob.merge("theirs")
        same(ada, bob, driver)
        assert before.keys() <= texts_of(ada).keys()
        assert settle(ada.plane.store).did is False
    fetch(ada, bob)
    fetch(bob, ada)
    waiting = ada.waiting()
    assert ada.merge("theirs").op is None
    assert bob.merge("theirs").op is None
    same(ada, bob, driver)
    assert ada.waiting() == waiting


@pytest.mark.parametrize("seed", some([3, 5]))
def test_three_clones_that_merge_each_other_in_any_order(seed: int, tmp_path: Path) -> None:
    first = new(tmp_path / "0", "Use Textual.")
    clones = [first, first.clone(tmp_path / "1"), first.clone(tmp_path / "2")]
    names = ("Ada", "Bob", "Cid")
    people = [
        Person(one, name, random.Random(seed * 7 + n))
        for n, (one, name) in enumerate(zip(clones, names, strict=True))
    ]
    dice = random.Random(seed)
    for _ in range(2):
        for someone in people:
            for _ in range(4):
                someone.act()
            someone.repository.commit()
        here, there = dice.sample(clones, 2)
        fetch(here, there)
        here.merge("theirs")
    texts = {digest for one in clones for digest in texts_of(one)}
    assert [len(all_to_all(clones)) for _ in range(3)][2] == 0
    for one in clones:
        same(first, one, driver=False)
        assert one.waiting() == first.waiting()
        assert texts <= texts_of(one).keys()


def all_to_all(clones: list[Repository]) -> list[Note]:
    """Each merges each other one. What settling had to say."""
    told: list[Note] = []
    for here in clones:
        for there in clones:
            if here is not there:
                fetch(here, there)
                told += here.merge("theirs").notes
    return told


def same(ada: Repository, bob: Repository, driver: bool) -> None:
    for one in (ada, bob):
        one.looks_well()
        assert one.plane.memory.read().all_hand_edits == []
    assert trusted(ada) == trusted(bob)
    assert ada.plane.status().revision == bob.plane.status().revision
    if driver:
        # Without it git may merge a file by lines, which is not the same in both directions.
        assert ada.file("memory/log.jsonl") == bob.file("memory/log.jsonl")
