"""Recall searches what it found for secrets, and nothing else."""

import pytest

from agentplane.api import Plane
from agentplane.retrieval.scan import Wanted
from agentplane.review.gate import gate
from tests.conftest import UNLIKE, approve_seen, decision


PASSWORD = "Kx92mQvT7" + "pLw"


LEAKS = (
    f"The uploader of invoices signs in at https://uploader:{PASSWORD}@files.example.test/in.",
    f"Backups: the uploader signs in with https://backup:{PASSWORD}@vault.example.test.",
    f"Photos go to https://photos:{PASSWORD}@images.example.test, where the uploader signs in.",
)


@pytest.fixture
def leaky(plane: Plane) -> Plane:
    plane.layout.config.write_text('[gate]\nsecret = "flag"\n')
    for text in LEAKS:
        approve_seen(plane, plane.propose(decision(text)))
    plane.inbox.approve(
        [plane.propose(decision(text)) for text in (*UNLIKE[:3], "Every uploader has a quota.")]
    )
    return plane


def test_what_is_withheld_takes_no_place(leaky: Plane) -> None:
    """Three entries are nearer than the one that may be given."""
    found = leaky.recall.find("uploader signs in", limit=1)
    assert [one.statement for one in found.results] == ["Every uploader has a quota."]
    assert set(found.withheld) == {"DEC-001", "DEC-002", "DEC-003"}


def test_what_has_the_name_is_withheld_too(leaky: Plane) -> None:
    found = leaky.recall.find("DEC-002")
    assert PASSWORD not in str(found)
    assert "DEC-002" in found.withheld


def test_what_was_not_found_is_not_searched(leaky: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    search = gate.likely_secrets

    def counted(entry):  # type: ignore[no-untyped-def]
        searched.append(entry.id)
        return search(entry)

    monkeypatch.setattr(gate, "likely_secrets", counted)
    found = leaky.recall.find(UNLIKE[0], limit=1)
    assert found.results[0].statement == UNLIKE[0]
    assert len(searched) <= 1


def test_no_results_are_wanted(leaky: Plane) -> None:
    assert leaky.recall("uploader", limit=0) == []
    assert leaky.recall("uploader", limit=-1) == []
    assert leaky.recall("uploader", limit=3, wanted=Wanted(unreviewed=True))
