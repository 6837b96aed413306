"""Retrievers of other packages in place of agentplane's own one."""

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.cli.app import run
from agentplane.extensions import RETRIEVERS
from agentplane.plane.derived import server_memory
from agentplane.retrieval.by_words import ByWords
from agentplane.retrieval.recalled import Recalled
from agentplane.retrieval.retriever import Question, Retriever
from agentplane.retrieval.scan import IN_FORCE, Wanted
from tests.conftest import UNLIKE, decision
from tests.extension_packages import Installed


BY_LENGTH = """
from agentplane.retrieval.scan import Match

class extension:
    '''Finds the shortest statements, whatever the question is.'''

    def find(self, question):
        entries = sorted(question.entries(), key=lambda entry: (len(entry.statement), entry.id))
        return [Match(entry.id, 0.5, "is short") for entry in entries][:question.limit]
"""
ANY = """
from agentplane.retrieval.scan import Match

class extension:
    def find(self, question):
        {body}
"""


@pytest.fixture
def filled(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> Plane:
    plane.inbox.approve([plane.propose(decision(text)) for text in UNLIKE])
    monkeypatch.chdir(plane.layout.project)
    return plane


def statements(found: Recalled) -> list[str]:
    return [result.statement for result in found.results]


def test_the_chosen_retriever_ranks(
    filled: Plane, installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    installed.use(RETRIEVERS, "acme", BY_LENGTH)
    found = filled.recall.find("webhooks", limit=2)
    assert statements(found) == ["Amounts are whole cents.", "Deploys wait for the bank."]
    assert {(result.score, result.why, result.trusted) for result in found.results} == {
        (0.5, "is short", True)
    }
    assert run(["recall", "webhooks", "--limit", "1", "--json"]) == 0
    told = capsys.readouterr()
    (result,) = msgspec.json.decode(told.out)["results"]
    assert result["text"] == "Decision: Amounts are whole cents."
    assert told.err == ""


def test_ids_and_filters_are_not_up_to_the_retriever(filled: Plane, installed: Installed) -> None:
    filled.memory.deprecate(["DEC-001"])
    waiting = filled.propose(decision("Caches are warm.", tags=["cache"]))
    everything = "return [Match(id, 1.0, '') for id in (*question.memory.entries, 'DEC-999')]"
    installed.use(RETRIEVERS, "acme", ANY.format(body=everything))
    found = filled.recall.find("anything", limit=50)
    assert {result.id for result in found.results} == {f"DEC-{number:03}" for number in range(2, 7)}
    found = filled.recall.find("anything", limit=50, wanted=Wanted(unreviewed=True, tag="cache"))
    assert [result.id for result in found.results] == [waiting]
    installed.choose(RETRIEVERS, "")
    assert filled.recall.find("DEC-002").results[0].why == "has this ID"


def test_withheld_entries_stay_withheld(filled: Plane, installed: Installed) -> None:
    """Text that came into approved memory without the gate, as an edit by hand that the settings accept."""
    filled.layout.config.write_text('[trust]\nhand_edits = "accept"\n')
    decisions = filled.layout.memory / "decisions.md"
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    decisions.write_text(decisions.read_text().replace(UNLIKE[0], f"Reports use {token}."))
    installed.use(
        RETRIEVERS, "acme", ANY.format(body="return [Match(e.id, 1.0, '') for e in question.entries()]")
    )
    found = filled.recall.find("anything", limit=2)
    assert [result.id for result in found.results] == ["DEC-002", "DEC-003"]
    assert len(found.withheld) == 1
    assert token not in msgspec.json.encode(found).decode()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise OSError('no index')", "failed: OSError: no index."),
        ("return None", "failed: TypeError: 'NoneType' object is not iterable."),
        ("return ['DEC-001']", "returned something other than matches with a score from 0 to 1."),
        (
            "return [Match('DEC-001', 7.0, '')]",
            "returned something other than matches with a score from 0 to 1.",
        ),
        ("return [Match('DEC-001', float('nan'), '')]", "returned something other than matches"),
        ("return [Match('DEC-001', '1', '')]", "returned something other than matches"),
        ("return [Match(1, 1.0, '')]", "returned something other than matches"),
        ("return [Match('DEC-001', 1.0, None)]", "returned something other than matches"),
    ],
)
def test_one_that_fails_is_told_and_the_words_count(
    filled: Plane, installed: Installed, capsys: pytest.CaptureFixture[str], body: str, said: str
) -> None:
    expected = filled.recall("signed webhooks")
    assert expected
    installed.use(RETRIEVERS, "acme", ANY.format(body=body))
    assert run(["recall", "signed", "webhooks", "--json"]) == 0
    told = capsys.readouterr()
    assert [one["id"] for one in msgspec.json.decode(told.out)["results"]] == [one.id for one in expected]
    (line,) = told.err.splitlines()
    assert line.startswith("AGENTPLANE_RETRIEVER=acme: The retriever `acme` from acme_retrievers_")
    assert said in line
    assert line.endswith(
        " Fix the extension, or unset AGENTPLANE_RETRIEVER to use agentplane's built-in retriever."
    )


def test_more_matches_than_asked_for_are_cut(filled: Plane, installed: Installed) -> None:
    endless = "from itertools import repeat; return repeat(Match('DEC-001', 1.0, ''))"
    installed.use(RETRIEVERS, "acme", ANY.format(body=endless))
    assert [result.id for result in filled.recall.find("anything", limit=3).results] == ["DEC-001"]


@pytest.mark.parametrize("planes", [0, 1], ids=["scan", "index"])
def test_agentplanes_own_one_has_the_same_interface(filled: Plane, planes: int) -> None:
    server_memory.serve(planes)
    try:
        retriever: Retriever = ByWords()
        found = retriever.find(Question("signed webhooks", 3, filled.memory.read(), IN_FORCE))
        assert [match.id for match in found] == ["DEC-002"]
        assert found[0].why == "contains webhooks"
    finally:
        server_memory.serve(0)
