"""One search in the inbox, memory and runs."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.jobs import Progress, Stopped
from agentplane.memory.operations import Proposal
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec
from agentplane.tui.backend.finder import MOST, Finder, Hits
from tests.bench.runs import with_runs
from tests.conftest import decision
from tests.runs.made import shell


RETRY, SIGN, QUEUE, RAIN = (
    "Retry a webhook after a minute.",
    "Sign every webhook.",
    "Use one queue.",
    "It rains.",
)


@pytest.fixture
def mixed(plane: Plane) -> Plane:
    """Two approved entries and two candidates."""
    for text in (SIGN, RETRY):
        plane.inbox.approve([plane.propose(decision(text, rationale="The bank asks."))])
    plane.propose(decision(QUEUE, rationale="A webhook must not retry twice.", tags=["money"]))
    plane.propose(Proposal(type="fact", statement=RAIN, evidence=["docs/weather.md:3"], scope=["src/sky/**"]))
    return plane


def found(plane: Plane, words: str) -> list[str]:
    hits = Finder(plane.memory.read()).entries(words, Progress())
    return [entry.statement for entry in (*hits.inbox, *hits.memory)]


@pytest.mark.parametrize(
    ("words", "statements"),
    [
        ("webhook", [QUEUE, SIGN, RETRY]),
        ("WEBHOOK retry", [QUEUE, RETRY]),
        ("webhook twice", [QUEUE]),
        ("a webhook", [QUEUE, RETRY, SIGN]),  # the phrase in a statement comes before the words in a text
        ("dec-002", [RETRY]),
        ("money", [QUEUE]),
        ("weather.md", [RAIN]),
        ("src/sky", [RAIN]),
        ("fact", [RAIN]),
        ("ada rains", [RAIN]),
        ("nothing like this", []),
        ("", []),
        ("  ", []),
    ],
)
def test_entries_with_all_words(mixed: Plane, words: str, statements: list[str]) -> None:
    assert found(mixed, words) == statements


def test_candidates_and_approved_entries_are_kept_apart(mixed: Plane) -> None:
    hits = Finder(mixed.memory.read()).entries("webhook", Progress())
    assert [entry.statement for entry in hits.inbox] == [QUEUE]
    assert [entry.statement for entry in hits.memory] == [SIGN, RETRY]
    assert hits.found
    assert not hits.complete


def test_similar_words_find_what_no_exact_word_does(mixed: Plane) -> None:
    finder = Finder(mixed.memory.read())
    assert not finder.entries("retrying webhooks", Progress()).found
    hits = finder.similar("retrying webhooks", Progress())
    assert hits.memory[0].statement == RETRY
    assert [entry.statement for entry in hits.inbox] == [QUEUE]
    assert hits.complete


def test_runs_by_task_tool_command_and_id(git_project: Path, plane: Plane) -> None:
    one = shell(plane, "echo one", task="webhooks", tool="codex")
    two = shell(plane, "echo two", task="web", tool="gemini-cli")
    opened = open_run.begin(plane.store, RunSpec(command=["sleep", "9"], task="later"), plane.origin, {})
    finder = Finder(plane.memory.read())

    def runs(words: str) -> list[str | None]:
        return [run.run_id for run in finder.with_runs(Hits(words), Progress()).runs]

    assert runs("web") == [two.run_id, one.run_id]
    assert runs("codex webhooks") == [one.run_id]
    assert runs("echo two") == [two.run_id]
    assert runs(one.run_id[-6:]) == [one.run_id]
    assert runs("later") == [opened.run_id]
    assert runs("") == []


def test_no_more_hits_than_anybody_reads_and_no_more_of_the_log_than_needed(tmp_path: Path) -> None:
    plane = with_runs(tmp_path, 3 * MOST)
    finder = Finder(plane.memory.read())
    hits = finder.with_runs(Hits("run"), Progress())
    everything = finder.with_runs(Hits("2"), Progress())
    assert len(finder._runs) <= 3 * MOST
    assert len(everything.runs) <= MOST
    assert hits.complete
    again = finder.with_runs(Hits("2"), Progress())
    assert again == everything


def test_a_search_that_was_replaced_stops(mixed: Plane) -> None:
    finder, progress = Finder(mixed.memory.read()), Progress()
    progress.cancel()
    with pytest.raises(Stopped):
        finder.entries("webhook", progress)
    shell(mixed, "true")
    with pytest.raises(Stopped):
        finder.with_runs(Hits("true"), progress)
    assert len(finder.with_runs(Hits("true"), Progress()).runs) == 1
