"""A real repository for tests, and the comparison of evidence in it."""

import os
import subprocess
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from agentplane.curate.anchors.compare import states
from agentplane.curate.anchors.observe import observe
from agentplane.curate.anchors.states import State
from agentplane.curate.anchors.tree import WorkTree
from agentplane.curate.recorded import Observed


DAY = date(2026, 11, 20)


class Repo:
    """A repository with the files that a test writes."""

    def __init__(self, folder: Path, *, is_git: bool = True) -> None:
        self.folder = folder
        self.is_git = is_git
        if is_git:
            self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        done = subprocess.run(("git", *words), cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def write(self, path: str, text: str | bytes) -> None:
        there = self.folder / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(text.encode() if isinstance(text, str) else text)

    def read(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()

    def replace(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert old in text
        self.write(path, text.replace(old, new))

    def move(self, old: str, new: str) -> None:
        (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
        os.rename(self.folder / old, self.folder / new)

    def commit(self, subject: str = "change") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")

    @property
    def head(self) -> str | None:
        return self.git("rev-parse", "HEAD") if self.is_git else None

    def observed(self, *evidence: str, commit: str | None = None) -> Observed:
        """The state that an approval records now."""
        return Observed(DAY, commit or self.head, tuple(observe(evidence, WorkTree(self.folder))))

    def approved_before(self, commit: str | None = None) -> Observed:
        """An approval that recorded no state."""
        return Observed(DAY, commit or self.head, None)

    def states(self, observed: Observed, evidence: Sequence[str] = ()) -> list[State]:
        return states(observed, self.folder, evidence)

    def state(self, observed: Observed, *evidence: str) -> State:
        (found,) = self.states(observed, evidence)
        return found
