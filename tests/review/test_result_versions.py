"""The results of each version. Whoever changes results raises the version, so that no cache gives the earlier ones."""

import hashlib
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec
import pytest

from agentplane import extensions
from agentplane.api import Plane
from agentplane.context.choose import Ask
from agentplane.memory.proposing import Proposal
from agentplane.plane import create
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Store
from agentplane.review import result_versions
from agentplane.review.conflicts import embeddings, result_cache
from agentplane.review.conflicts.conflicts import Text, compare
from agentplane.review.gate import gate
from agentplane.scan.secrets import find
from agentplane.tools.hooks import start_context
from tests.bench import orders
from tests.conftest import UNLIKE, decision
from tests.review.pairs import PAIRS
from tests.scan.secrets import test_find as known


PINNED = {
    "CONFLICTS": {1: "6472d567955bafed", 2: "589c5579c7b55b72"},
    "GATE": {
        1: "0ba8d1185977966a",
        2: "03ca6c990eb0b2a1",
        3: "10fb67464f417eb3",
        4: "515ccc2083611a6a",
        5: "c11d62e1e36f93c5",
    },
    "SECRETS": {1: "cd2f0f15f6e81eb3"},
    "CONTEXT": {1: "ed1f6f7002cd41d4", 2: "209260774b5ba9e1", 3: "a649fbe6b15d077d"},
}
"""A digest of the results by version. Add a row for a new version, and change none."""

_TEXTS = (*known.FOUND, *known.MEANT, *known.NONE, *known.CHOSEN, *known.PLAIN)
_CHECKS = ("make test", "run: make test", "file: a", "file: a exists", "regex: ( in a", "version: a 1 or 2")
_NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


def conflicts(_: Path) -> object:
    def between(shelf: str, proposed: str) -> object:
        candidate = Text(id="CAND-1", type="decision", statement=proposed, status="proposed")
        found = compare(candidate, Text(id="DEC-004", type="decision", statement=shelf))
        return (found.kind, found.score, found.reasons) if found else None

    return [between(pair.first, pair.second) for pair in PAIRS]


def gated(_: Path) -> object:
    context = gate.Context(today=date(2026, 11, 18))
    texts = [
        *_TEXTS,
        *(attack.text for attack in orders.attacks()),
        *(text for _, text in orders.own_ordinary()),
    ]
    checks = [Proposal(type="assumption", statement="It is so.", check=check) for check in _CHECKS]
    return [gate.check(one, context) for one in (*map(decision, texts), *checks)]


def secret(_: Path) -> object:
    return [find.spans(text) for text in _TEXTS]


def contexts(folder: Path) -> object:
    plane = Plane(
        Store(Layout(root=folder / ".agentplane"), lambda: _NOON), Origin("Ada", "terminal", "pytest")
    )
    create.create(plane.store, plane.origin)
    wanted = [decision(statement) for statement in UNLIKE]
    wanted += [Proposal(type="invariant", statement="Amounts are never floating point.", tags=("money",))]
    wanted += [
        Proposal(type="assumption", statement=f"The {what} keeps a message for {days} days.")
        for what, days in (("queue", 2), ("queue", 14), ("mailbox", 30))
    ]
    plane.inbox.approve([plane.propose(one) for one in wanted])
    asks = (Ask(), Ask(task="the bank"), Ask(budget=330), Ask(budget=900, measure="characters"))
    return [plane.tools.pack(ask).text for ask in asks]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "results"),
    [("CONFLICTS", conflicts), ("GATE", gated), ("SECRETS", secret), ("CONTEXT", contexts)],
)
def test_results_change_only_with_their_version(
    name: str, results: Callable[[Path], object], tmp_path: Path
) -> None:
    if name in ("CONFLICTS", "CONTEXT"):
        pytest.importorskip("wordllama")
    version = getattr(result_versions, name)
    digest = hashlib.sha256(msgspec.json.encode(results(tmp_path))).hexdigest()[:16]
    assert PINNED[name].get(version) == digest, (
        f"The results changed, and caches on people's machines still hold the earlier ones: raise {name} in "
        f"agentplane/review/result_versions.py to {version + 1}, and pin {digest!r} for it in PINNED. If only the texts of "
        f"this test changed, pin {digest!r} for version {version}."
    )


@pytest.mark.parametrize("name", PINNED)
def test_no_cache_takes_results_of_another_version(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def marks() -> tuple[str, str]:
        result_cache.file.cache_clear()
        return result_cache.file().version, start_context._version()

    before = marks()
    monkeypatch.setattr(result_versions, name, getattr(result_versions, name) + 1)
    after = marks()
    result_cache.file.cache_clear()
    assert after[1] != before[1]
    assert (after[0] != before[0]) == (name != "CONTEXT")


def test_each_release_finds_its_own_results(monkeypatch: pytest.MonkeyPatch) -> None:
    before = result_versions.mark(1)
    monkeypatch.setattr(result_versions, "__version__", "99.0")
    assert result_versions.mark(1) != before


@pytest.mark.parametrize("package", [None, "/site/wordllama"])
def test_results_depend_on_the_package_for_embeddings(
    package: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = embeddings.release_of_embeddings()
    monkeypatch.setattr(extensions, "folder_of", lambda _: Path(package) if package else None)
    assert embeddings.release_of_embeddings() != before or (package is None and not embeddings.embeds())
