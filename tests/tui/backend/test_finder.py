"""One search in the inbox, memory and runs."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.jobs import Progress, Stopped
from agentplane.memory.proposing import Proposal
from agentplane.query.parse import QueryError
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec
from agentplane.tui.backend.finder import MOST, Finder, Hits
from agentplane.tui.backend.model import PlaneModel
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


def finder_of(plane: Plane) -> Finder:
    return Finder(PlaneModel(plane, lambda *_: None).load())


def found(plane: Plane, words: str) -> list[str]:
    hits = finder_of(plane).entries(words, Progress())
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
        ("kind:fact", [RAIN]),
        ("-kind:fact webhook", [QUEUE, SIGN, RETRY]),
        ("tag:money twice", [QUEUE]),
        ("status:accepted", [SIGN, RETRY]),
        ("is:unchecked", [QUEUE, RAIN]),
        ("older:7d", []),
        ("newer:7d sort:text -tag:money", [RAIN, RETRY, SIGN]),
        ("task:webhooks", []),
        ("", []),
        ("  ", []),
    ],
)
def test_entries_with_all_words(mixed: Plane, words: str, statements: list[str]) -> None:
    assert found(mixed, words) == statements


def test_candidates_and_approved_entries_are_kept_apart(mixed: Plane) -> None:
    hits = finder_of(mixed).entries("webhook", Progress())
    assert [entry.statement for entry in hits.inbox] == [QUEUE]
    assert [entry.statement for entry in hits.memory] == [SIGN, RETRY]
    assert hits.found
    assert not hits.complete


def test_similar_words_find_what_no_exact_word_does(mixed: Plane) -> None:
    finder = finder_of(mixed)
    assert not finder.entries("retrying webhooks", Progress()).found
    hits = finder.similar("retrying webhooks", Progress())
    assert hits.memory[0].statement == RETRY
    assert [entry.statement for entry in hits.inbox] == [QUEUE]
    assert hits.complete


def test_runs_by_task_tool_command_and_id(git_project: Path, plane: Plane) -> None:
    one = shell(plane, "echo one", task="webhooks", tool="codex")
    two = shell(plane, "echo two", task="web", tool="gemini-cli")
    opened = open_run.begin(plane.store, RunSpec(command=["sleep", "9"], task="later"), plane.origin, {})
    finder = finder_of(plane)

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
    finder = finder_of(plane)
    hits = finder.with_runs(Hits("run"), Progress())
    everything = finder.with_runs(Hits("2"), Progress())
    assert len(finder._runs) <= 3 * MOST
    assert len(everything.runs) <= MOST
    assert hits.complete
    again = finder.with_runs(Hits("2"), Progress())
    assert again == everything


def test_a_search_that_was_replaced_stops(mixed: Plane) -> None:
    finder, progress = finder_of(mixed), Progress()
    progress.cancel()
    with pytest.raises(Stopped):
        finder.entries("webhook", progress)
    shell(mixed, "true")
    with pytest.raises(Stopped):
        finder.with_runs(Hits("true"), progress)
    assert len(finder.with_runs(Hits("true"), Progress()).runs) == 1


def test_a_field_that_runs_do_not_have_excludes_them(git_project: Path, plane: Plane) -> None:
    one = shell(plane, "echo one", task="webhooks", tool="codex")
    plane.propose(decision("Sign every webhook."))
    finder = finder_of(plane)

    def ids(words: str) -> list[str | None]:
        hits = finder.with_runs(finder.entries(words, Progress()), Progress())
        return [*(entry.id for entry in (*hits.inbox, *hits.memory)), *(run.run_id for run in hits.runs)]

    (candidate,) = plane.memory.read().inbox_ids
    assert ids("webhook") == [candidate, one.run_id]
    assert ids("webhook -tag:api") == [candidate, one.run_id]
    assert ids("webhook kind:decision") == [candidate]
    assert ids("outcome:ok newer:1d tool:codex") == [one.run_id]
    assert finder.values(Progress())["task"] == ("webhooks",)


@pytest.mark.parametrize("words", ["colour:red", "is:nothing", "older:soon", '"open'])
def test_a_query_that_cannot_be_read_is_an_error(mixed: Plane, words: str) -> None:
    with pytest.raises(QueryError):
        finder_of(mixed).entries(words, Progress())


def test_similar_words_keep_to_the_fields(mixed: Plane) -> None:
    hits = finder_of(mixed).similar("kind:decision retrying -tag:money", Progress())
    assert hits.memory[0].statement == RETRY
    assert not hits.inbox
