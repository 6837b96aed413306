"""Which candidates ask for attention, and which are folded."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.plane.derived import badge_stamp
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Store
from agentplane.review import attention
from agentplane.review.attention import Folded
from tests.conftest import UNLIKE, decision


TODAY = datetime.now(UTC).date()


def by(plane: Plane, actor: str) -> Plane:
    return Plane(plane.store, Origin(actor, "mcp", actor))


def limited(plane: Plane, limit: int) -> None:
    plane.layout.config.write_text(f"[inbox]\ndaily_limit = {limit}\n")


def later(plane: Plane, days: int) -> Plane:
    store = Store(plane.layout, lambda: datetime.now(UTC) + timedelta(days=days))
    return Plane(store, plane.origin)


@pytest.fixture
def three(plane: Plane) -> list[str]:
    """From a tool without evidence, from a tool with evidence, and from a person."""
    (plane.layout.project / "README.md").write_text("# Project\n")
    codex = by(plane, "codex")
    return [
        codex.propose(decision(UNLIKE[0])),
        codex.propose(decision(UNLIKE[1], evidence=["README.md"])),
        plane.propose(decision(UNLIKE[2])),
    ]


def test_without_a_limit_everything_asks(plane: Plane, three: list[str]) -> None:
    found = attention.divide(plane.memory.read(), TODAY)
    assert (found.asking, found.folded, found.changes_on) == (tuple(three), {}, None)


def test_the_limit_leaves_the_best_supported_and_folds_the_rest(plane: Plane, three: list[str]) -> None:
    limited(plane, 1)
    found = attention.divide(plane.memory.read(), TODAY)
    assert found.asking == (three[2],)
    assert list(found.folded.items()) == [
        (three[1], Folded("over the limit")),
        (three[0], Folded("over the limit")),
    ]
    assert found.changes_on == TODAY + timedelta(days=1)
    assert found.summary() == "2 folded (2 over the daily limit)"


def test_each_decision_uses_a_place_until_tomorrow(plane: Plane, three: list[str]) -> None:
    limited(plane, 2)
    plane.inbox.approve([three[0]])
    plane.inbox.send_back([three[1]], "Name the file.")
    assert plane.inbox.attention(plane.memory.read()).asking == ()
    assert plane.status().waiting == 0
    assert plane.status().folded == 2
    tomorrow = later(plane, 1)
    assert tomorrow.inbox.attention(tomorrow.memory.read()).asking == (three[2],)
    plane.history.undo()
    assert plane.inbox.attention(plane.memory.read()).asking == (three[2],)


def test_bulk_approval_takes_only_what_asks(plane: Plane, three: list[str]) -> None:
    plane.inbox.snooze([three[0]], TODAY + timedelta(days=3))
    plane.inbox.approve_clean()
    assert plane.memory.read().inbox_ids == [three[0]]


def test_the_badge_counts_what_asks_and_is_counted_again_when_the_day_comes(
    plane: Plane, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, start = str(plane.layout.root), badge_stamp.time.time()
    plane.inbox.snooze([three[0]], TODAY + timedelta(days=3))
    assert badge_stamp.kept_counts(root) == [2, 0, 0]
    monkeypatch.setattr(badge_stamp.time, "time", lambda: start + 2 * 86_400)
    assert badge_stamp.kept_counts(root) == [2, 0, 0]
    monkeypatch.setattr(badge_stamp.time, "time", lambda: start + 3 * 86_400)
    assert badge_stamp.kept_counts(root) is None
    assert later(plane, 3).inbox.badge().waiting == 3
    assert badge_stamp.kept_counts(root) == [3, 0, 0]


def test_the_text_says_who_has_it(plane: Plane, three: list[str], tmp_path: Path) -> None:
    plane.inbox.send_back([three[0]], "Name the file.")
    memory = plane.memory.read()
    head = memory.get(three[0]).head
    told = plane.inbox.attention(memory).folded[three[0]]
    assert told.text(head) == f"sent back to codex until {head.snoozed_until}"
