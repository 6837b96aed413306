"""The example plane is what the tool writes, and it has something of everything in it."""

from pathlib import Path

import pytest

from agentplane.health import collect
from agentplane.plane.ledger import ledger_cache
from agentplane.runs import events
from agentplane.runs.capsule import capsule
from agentplane.runs.query import artifacts, compare
from agentplane.text.log import chain
from agentplane.text.visible import hidden
from tests.example import make


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make.make(tmp_path_factory.mktemp("example"))


def test_it_is_what_the_tool_writes(made: Path) -> None:
    assert make.same(made, make.TARGET), "run `make example`"


def test_it_has_something_of_everything(made: Path) -> None:
    plane = make.opened(made)
    memory = plane.memory.read()
    kinds = {entry.head.type for entry in memory.shelf}
    assert len(memory.shelf) >= 25
    assert kinds == {"decision", "assumption", "invariant", "fact"}
    assert len(memory.inbox) >= 8
    texts = [entry.body for entry in memory.inbox]
    assert any("uploader:" in text for text in texts)
    assert any(hidden(text) for text in texts)
    gone = [
        path
        for entry in memory.inbox
        for path in entry.head.evidence
        if not (made.parent / path.split("#")[0]).exists()
    ]
    assert gone == ["docs/alerts.md"]
    assert any(entry.head.supersedes for entry in memory.inbox)
    assert {entry.head.status for entry in memory.shelf} == {"accepted", "deprecated", "superseded"}
    assert plane.layout.log.read_bytes().count(b'"kind":"run"') >= 6


def test_what_its_entries_cite_is_true(made: Path) -> None:
    plane = make.opened(made)
    memory = plane.memory.read()
    by_statement = {entry.statement: entry for entry in memory.entries.values()}
    old = by_statement["Retry failed webhooks after a fixed delay of 30 seconds."]
    assert (old.head.status, old.head.superseded_by) == ("superseded", ("DEC-011",))
    rival = by_statement["Retry webhooks after a fixed delay of 60 seconds instead of backing off."]
    target = memory.get(rival.head.supersedes[0])
    assert target.statement == "Retry webhooks with exponential backoff of at most one hour."


def test_its_capsules_can_be_looked_at(made: Path) -> None:
    layout = make.opened(made).layout
    tried, back = (run for _, run in events.oldest_first(layout) if run.capsule)
    report = compare.of(layout, tried.run_id, back.run_id)
    assert [(field.a, field.b) for field in report.fields if field.name == "exit_status"] == [(1, 0)]
    assert [(file.path, file.change) for file in report.files] == [("app/webhooks.py", "changed")]
    assert report.missing == []
    assert "+2 passed in 0.28s" in report.output
    change = capsule.content(layout, tried, "outputs/changes.patch")
    assert change
    assert change == capsule.content(layout, back, "inputs/uncommitted.patch")
    (artifact,) = artifacts.listed(ledger_cache.read(layout))
    assert artifacts.verified(layout, artifact).state == "same"


def test_it_is_well(made: Path) -> None:
    plane = make.opened(made)
    found = collect(plane.store)
    # It lets candidates in that the gate would refuse, and shares all of its runs, so that there is something to see.
    assert {(one.severity, one.where.partition(":")[0]) for one in found} == {
        ("info", ".agentplane/config.toml")
    }
    assert not chain.verify(plane.layout.log).faults
