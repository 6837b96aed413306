"""What a look at the evidence of all entries costs: the rows `curate_first` and `curate_again` of `make bench`.

A repository has twice as many files as the memory has entries. All entries have evidence: a file, lines or a symbol.
"""

import hashlib
import random
import re
import shutil
from itertools import count
from pathlib import Path

from agentplane.api import Plane
from agentplane.curate.recording import with_observations
from agentplane.memory.view import Memory
from agentplane.plane import create
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.store.store import Store
from agentplane.text.markdown import header
from tests.bench import planes
from tests.bench.curator.mutations import sample
from tests.bench.curator.releases import git
from tests.bench.curator.samples import LANGUAGES
from tests.bench.timing import best, rounds_of


EVIDENCE = ("evidence-gone", "evidence-changed", "evidence-moved", "unreadable")
TOUCHED = 10
"""Files that a commit touches."""
_NUMBER = re.compile(r"\b[1-9][0-9]*\b")
ALLOWED = 0.1
"""Seconds that a second look may take besides two times `git diff`."""


def curate_first(size: int, folder: Path) -> dict:
    """The first look at all evidence, against hashing all files once."""
    plane = project(folder, size)
    files = _files(plane)

    def forget() -> None:
        shutil.rmtree(plane.layout.root / "cache", ignore_errors=True)
        plane.memory.read()

    times = [
        (best(lambda: plane.curator.collect(only=EVIDENCE), 1, before=forget), best(lambda: hashed(files), 1))
        for _ in rounds_of(3)
    ]
    taken, bare = map(min, zip(*times, strict=True))
    return {**_row(taken, bare, 5), "files": len(files), "hashing_ms": round(bare * 1000, 1)}


def curate_again(size: int, folder: Path) -> dict:
    """A look after a commit that touches ten files, against `git diff --name-only` and 50 ms."""
    plane = project(folder, size)
    top = plane.layout.project
    plane.curator.collect(only=EVIDENCE)
    files, days = _files(plane), count(1)

    def commit() -> None:
        """Change a number in ten files, of which half are evidence."""
        day = next(days)
        for number in range(TOUCHED):
            path = files[(day * TOUCHED + number) % len(files)]
            path.write_text(_NUMBER.sub(lambda found: f"{found[0]}{day}", path.read_text(), count=3))
        git(top, "commit", "-q", "-a", "-m", f"Day {day}", day=day)

    found = []
    taken, bare = [], []
    for _ in rounds_of(9):
        commit()
        taken.append(best(lambda: found.append(plane.curator.collect(only=EVIDENCE)), 1))
        bare.append(best(lambda: git(top, "diff", "--name-only", "HEAD~1"), 1))
    assert any(made.findings for made in found)
    diff = min(bare)
    return {**_row(min(taken), diff + ALLOWED / 2, 2), "diff_ms": round(diff * 1000, 1)}


def _row(taken: float, baseline: float, limit: float) -> dict:
    return {"ratio": round(taken / baseline, 3), "limit": limit, "ms": round(taken * 1000, 2)}


def hashed(files: list[Path]) -> str:
    whole = hashlib.sha256()
    for path in files:
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def project(folder: Path, size: int) -> Plane:
    """A repository with code in three languages, and a plane whose entries were approved with their evidence."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    top = folder.resolve()
    git(top, "init", "-q", "-b", "main")
    cited = _code(top, size * 2)
    git(top, "add", "--all")
    git(top, "commit", "-q", "-m", "Code")
    plane = Plane(Store(Layout(root=top / ".agentplane")), Origin("Bench", "terminal", "bench"))
    create.create(plane.store, plane.origin)
    dice = random.Random(1)
    edits = [_entry(number, cited, dice) for number in range(1, size + 1)]
    plane.store.commit(
        lambda snapshot: with_observations(Plan("approve", edits), Memory(snapshot)), plane.origin
    )
    git(top, "add", "--all")
    git(top, "commit", "-q", "-m", "Memory")
    plane.memory.read()
    return plane


def _code(top: Path, files: int) -> list[str]:
    """Write the files, and return a symbol of each of them."""
    found = []
    forms = [
        (language, target, sample(LANGUAGES[language]).files[target.path])
        for language in ("python", "typescript", "go")
        for target in LANGUAGES[language].targets
    ]
    for number in range(files):
        language, target, text = forms[number % len(forms)]
        path = (
            top
            / language
            / f"part{number % 97}"
            / f"{Path(target.path).stem}{number}{Path(target.path).suffix}"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        # No two files are alike, as in a real project.
        path.write_text(text.replace(target.name, f"{target.name}{number}"))
        symbol = ".".join((*target.symbol.split(".")[:-1], f"{target.name}{number}"))
        found.append(f"{path.relative_to(top)}#{symbol}")
    return found


def _entry(number: int, cited: list[str], dice: random.Random) -> Edit:
    id_ = f"DEC-{number:03d}"
    symbol = cited[number * 2 - 1]
    path = symbol.partition("#")[0]
    evidence = (symbol, f"{path}:12-19", path)[number % 3]
    fields = {
        "id": id_,
        "type": "decision",
        "status": "accepted",
        "tags": dice.sample(planes.WORDS, 2),
        "source": "20260127T101502Z-k3f9qa",
        "confidence": 0.9,
        "evidence": [evidence],
        "proposed_by": "codex",
        "updated": "2026-01-27",
    }
    words = " ".join(dice.choice(planes.WORDS) for _ in range(30))
    text = header.new_core(fields, f"Decision: {planes.statement(dice)}\nRationale: {words}.")
    return Edit(id_, "memory/decisions.md", text)


def _files(plane: Plane) -> list[Path]:
    top = plane.layout.project
    return [top / name for name in git(top, "ls-files", "python", "typescript", "go").splitlines()]
