"""Taking a text out of history: it is gone everywhere, and the history still proves itself."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput, Refused
from agentplane.health import collect
from agentplane.text.log import chain
from tests.conftest import decision


SECRET = "hunter2-hunter2"


@pytest.fixture
def leaked(plane: Plane) -> Plane:
    """A rejected candidate and a reason that held a secret."""
    plane.propose(decision("Keep me."))
    plane.inbox.reject([plane.propose(decision(f"The password is {SECRET}."))], f"holds {SECRET}")
    return plane


def everything(plane: Plane) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(plane.layout.root.rglob("*")) if path.is_file())


def test_the_text_is_gone_and_the_chain_holds(leaked: Plane) -> None:
    assert SECRET.encode() in everything(leaked)
    leaked.history.prune(SECRET, "leaked")
    assert SECRET.encode() not in everything(leaked)
    assert b"Keep me." in everything(leaked)
    report = chain.verify(leaked.layout.log)
    assert not report.faults
    assert [finding for finding in collect(leaked.store) if finding.severity != "info"] == []
    assert leaked.history.ops(1)[0].verb == "prune"


def test_the_history_says_that_a_text_was_pruned(leaked: Plane) -> None:
    id_ = leaked.history.ops(1)[0].ids[0]
    leaked.history.prune(SECRET)
    _, steps = leaked.history.of(id_)
    assert [step.verb for step in steps] == ["propose", "reject"]
    assert all(step.pruned for step in steps)


def test_what_was_pruned_cannot_be_brought_back(leaked: Plane) -> None:
    leaked.history.prune(SECRET)
    with pytest.raises(Refused, match="permanently removed"):
        leaked.history.undo()
    op = leaked.history.ops(1)[0].op
    with pytest.raises(Refused, match="can't be undone"):
        leaked.history.undo(op)


def test_a_text_that_still_stands_is_not_pruned(plane: Plane) -> None:
    id_ = plane.propose(decision(f"The password is {SECRET}."))
    with pytest.raises(Refused, match="still contain") as caught:
        plane.history.prune(SECRET)
    assert "candidates.md:" in str(caught.value)
    plane.inbox.reject([id_])
    plane.history.prune(SECRET)
    assert SECRET.encode() not in everything(plane)


def test_an_unknown_or_short_text(plane: Plane) -> None:
    with pytest.raises(BadInput, match="Text not found"):
        plane.history.prune("never written")
    with pytest.raises(BadInput, match="shorter"):
        plane.history.prune("abc")


def test_a_pruned_record_put_back_by_git_is_noticed_by_nobody_but_verifies(
    leaked: Plane, tmp_path: Path
) -> None:
    """Old commits still hold the text: the records verify with it and without it."""
    kept = {path: path.read_bytes() for path in leaked.layout.ops.iterdir()}
    leaked.history.prune(SECRET)
    for path, data in kept.items():
        added = path.read_bytes()[len(path.read_bytes()) :]
        path.write_bytes(data + added + path.read_bytes().splitlines(keepends=True)[-1])
    assert [finding for finding in collect(leaked.store) if finding.severity == "error"] == []
