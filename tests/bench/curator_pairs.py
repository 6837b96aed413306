"""The time for comparing all entries of a memory with each other, and for comparing them again after one edit.

The statements are sentences that people wrote (`tests.bench.propose.sentences`), or made-up ones without the data. Some
contradict another statement, and some repeat one, so that a fast pass that finds nothing is noticed.
"""

import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz, process

from agentplane.api import Plane
from agentplane.curate.kinds import Kind
from agentplane.memory import kinds as memory_kinds
from agentplane.plane import create
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.store.store import Store
from agentplane.text.markdown import document, header
from tests.bench import propose
from tests.bench.timing import rounds_of


KINDS: tuple[Kind, ...] = ("contradiction", "assumptions-contradict", "duplicate")
SHARE = 50
"""One of so many statements contradicts or repeats another one."""
SAMPLE = 200
"""So many statements are compared with all others by spelling, and the time is scaled to all pairs."""
_KINDS = {kind.name: kind for kind in memory_kinds.BUILT_IN}
_THINGS = (
    "invoice",
    "booking",
    "parcel",
    "refund",
    "audit",
    "merchant",
    "payout",
    "dispute",
    "session",
    "report",
)
_PLACES = (
    "export",
    "importer",
    "archive",
    "mailer",
    "scheduler",
    "gateway",
    "dashboard",
    "ledger",
    "search",
    "backup",
)


def statements(size: int) -> list[str]:
    """Sentences, and pairs that contradict each other or say the same."""
    texts, _ = propose.sentences(propose.DATA)
    planted = max(size // SHARE, 2)
    pairs = [pair for number in range(planted // 2) for pair in _pair(number)]
    return [*texts[: size - len(pairs)], *pairs]


def _pair(number: int) -> tuple[str, str]:
    thing, place = _THINGS[number % 10], _PLACES[number // 10 % 10]
    days = 10 + number
    if number % 2:
        return (
            f"The {place} keeps every {thing} for {days} days.",
            f"The {place} keeps every {thing} for {days + 400} days.",
        )
    return (
        f"The {place} of the {thing} service must not take longer than {days} seconds.",
        f"The {place} of the {thing} service shouldn't take longer than {days} seconds.",
    )


def curate_pairs(size: int, folder: Path) -> dict[str, Any]:
    """A first pass over all pairs of entries, against the spelling of all pairs."""
    texts = statements(size)
    taken, bare = [], []
    for _ in rounds_of(1):
        _make(folder, texts)
        bare.append(_spelling(texts))
        taken.append(_measured(folder))
    first = min(taken, key=lambda one: float(one["seconds"]))
    _edit_one(folder)
    again = _measured(folder)
    return {
        "ratio": round(first["seconds"] / min(bare), 3),
        "limit": 1,
        "ms": round(first["seconds"] * 1000, 1),
        "processor_ms": round(first["processor"] * 1000, 1),
        "mb": first["mb"],
        "found": first["found"],
        "again_ms": round(again["seconds"] * 1000, 1),
        "again_processor_ms": round(again["processor"] * 1000, 1),
        "again_mb": again["mb"],
    }


def _make(folder: Path, texts: Sequence[str]) -> None:
    """A memory with these statements. The two of a pair are of one kind."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    plane = _opened(folder)
    create.create(plane.store, plane.origin)
    dice = random.Random(len(texts))
    kinds = (*["decision"] * 6, *["invariant"] * 2, "fact", "assumption")
    edits = []
    for number, statement in enumerate(texts):
        kind = _KINDS[kinds[number // 2 % len(kinds)]]
        id_ = f"{kind.prefix}-{number + 1:05}"
        fields = {
            "id": id_,
            "type": kind.name,
            "status": "accepted",
            "tags": dice.sample(statement.lower().split(), 2),
            "evidence": [f"app/module{dice.randint(1, 99)}.py:{dice.randint(1, 400)}"],
            "proposed_by": "codex",
            "updated": "2026-01-27",
        }
        body = f"{kind.label}: {statement}\nRationale: {dice.choice(texts)}"
        edits.append(Edit(id_, kind.file, header.new_core(fields, body)))
    plane.store.commit(lambda _: Plan("import", edits), plane.origin)


def _spelling(texts: Sequence[str]) -> float:
    """Seconds for comparing the spelling of every two texts."""
    some = random.Random(1).sample(texts, min(SAMPLE, len(texts)))
    begin = time.perf_counter()
    process.cdist(some, texts, scorer=fuzz.token_set_ratio, workers=1)
    return (time.perf_counter() - begin) * len(texts) / len(some) / 2


def _edit_one(folder: Path) -> None:
    plane = _opened(folder)
    memory = plane.memory.read()
    entry = memory.shelf[len(memory.shelf) // 2]
    core = memory.snapshot.core(entry.file, entry.id) or b""
    (block,) = document.parse(core).blocks
    head, body = core[: block.body], core[block.body :]
    plane.memory.edit(entry.id, head + body.replace(b"\n", b" It runs every night.\n", 1), entry.digest)


def _opened(folder: Path) -> Plane:
    store = Store(Layout(root=folder.resolve() / ".agentplane"))
    return Plane(store, Origin("Bench", "terminal", "bench"))


def _measured(folder: Path) -> dict[str, Any]:
    """The figures of one pass in a process of its own, as a command would make it."""
    command = [sys.executable, "-m", "tests.bench.curator_pairs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def _most_megabytes() -> float:
    """The most memory of this process so far. Unlike `ru_maxrss`, it leaves out the process that started this one."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return round(int(status["VmHWM"].split()[0]) / 1024, 1)


def main() -> None:
    plane = _opened(Path(sys.argv[1]))
    memory = plane.memory.read()
    assert memory.shelf
    begin, used = time.perf_counter(), time.process_time()
    made = plane.curator.collect(only=KINDS)
    figures = {
        "seconds": time.perf_counter() - begin,
        "processor": time.process_time() - used,
        "mb": _most_megabytes(),
        "found": Counter(finding.kind for finding in made.findings),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
