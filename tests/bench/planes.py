"""Planes of any size for the benches, made through the write path in two ops."""

import random
import shutil
from pathlib import Path

from agentplane.api import Plane
from agentplane.plane import create
from agentplane.plane.layout import INBOX, Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.store.store import Store
from agentplane.text.markdown import header


# fmt: off
WORDS = (
    "retry", "webhook", "ledger", "booking", "currency", "merchant", "refund", "settle", "batch",
    "queue", "redis", "postgres", "migration", "index", "cache", "timeout", "backoff", "signature",
    "endpoint", "report", "shipment", "parcel", "invoice", "payout", "dispute", "token", "session",
    "audit", "log", "alert",
)
# fmt: on


def entry(number: int, dice: random.Random, *, candidate: bool) -> tuple[str, bytes]:
    id_ = f"CAND-{number:06d}" if candidate else f"DEC-{number:03d}"
    fields = {
        "id": id_,
        "type": "decision",
        "status": "proposed" if candidate else "accepted",
        "tags": dice.sample(WORDS, 2),
        "source": "20260127T101502Z-k3f9qa",
        "confidence": 0.9,
        "evidence": [f"app/{dice.choice(WORDS)}.py:{dice.randint(1, 400)}", f"docs/{dice.choice(WORDS)}.md"],
        "proposed_by": "codex",
        "updated": "2026-01-27",
    }
    words = " ".join(dice.choice(WORDS) for _ in range(30))
    return id_, header.new_core(
        fields,
        f"Decision: {statement(dice)}\nRationale: {words}.",
    )


def statement(dice: random.Random) -> str:
    one, two, three, four, five = dice.sample(WORDS, 5)
    return f"The {one} {two} of the {three} goes to the {four} before the {five}."


def make(folder: Path, shelf: int, inbox: int = 0) -> Plane:
    """A plane with that many entries, all trusted, and candidates."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    plane = Plane(Store(Layout(root=folder.resolve() / ".agentplane")), Origin("Bench", "terminal", "bench"))
    create.create(plane.store, plane.origin)
    dice = random.Random(1)
    edits = [Edit(*_placed(number, dice, "memory/decisions.md")) for number in range(1, shelf + 1)]
    edits += [Edit(*_placed(number, dice, INBOX)) for number in range(1, inbox + 1)]
    plane.store.commit(lambda _: Plan("import", edits), plane.origin)
    return plane


def _placed(number: int, dice: random.Random, file: str) -> tuple[str, str, bytes]:
    id_, core = entry(number, dice, candidate=file == INBOX)
    return id_, file, core
