"""Findings about evidence: one for each change that matters, with its proof, and none for all else."""

import time

import pytest

from agentplane.curate.anchors import known
from agentplane.curate.checks import evidence
from agentplane.curate.finding import Diff, Lines
from agentplane.curate.remedies import Deprecate, EditEntry, MoveEvidence, Renew
from agentplane.plane.git.object_reader import ObjectReader
from tests.curate.checks.conftest import Cited


CITED = "src/pay.py#charge"
EACH_WAY = pytest.mark.parametrize("records", [True, False])


@EACH_WAY
def test_changed_evidence_is_shown_with_its_commit_and_diff(cited: Cited, records: bool) -> None:
    id_ = cited.cite("A charge has a fee of two.", CITED, records=records)
    cited.replace("src/pay.py", "+ 2", "+ 3")
    commit = cited.commit("raise the fee")
    (finding,) = cited.found(evidence.check)
    assert (finding.kind, finding.ids) == ("evidence-changed", (id_,))
    assert isinstance(finding.proof, Diff)
    assert (finding.proof.commit, finding.proof.author) == (commit, "Test Person")
    assert "-    total = amount + 2\n+    total = amount + 3" in finding.proof.text
    assert commit[:10] in finding.what
    assert finding.remedies == (Renew((id_,)), EditEntry(id_), Deprecate((id_,)))


@EACH_WAY
def test_evidence_that_is_gone_names_the_commit_that_removed_it(cited: Cited, records: bool) -> None:
    id_ = cited.cite("A charge has a fee of two.", CITED, records=records)
    cited.write("src/pay.py", "LIMIT = 30\n")
    commit = cited.commit("no charges")
    (finding,) = cited.found(evidence.check)
    assert finding.kind == "evidence-gone"
    assert isinstance(finding.proof, Diff)
    assert finding.proof.commit == commit
    assert "-def charge(amount):" in finding.proof.text
    assert finding.remedies == (EditEntry(id_), Deprecate((id_,)))


@EACH_WAY
def test_moved_evidence_can_be_updated(cited: Cited, records: bool) -> None:
    id_ = cited.cite("A charge has a fee of two.", CITED, records=records)
    cited.move("src/pay.py", "lib/payments.py")
    cited.commit("move")
    (finding,) = cited.found(evidence.check)
    assert finding.kind == "evidence-moved"
    assert finding.remedies[0] == MoveEvidence(id_, CITED, "lib/payments.py#charge")


@EACH_WAY
def test_nothing_is_found_where_nothing_changed(cited: Cited, records: bool) -> None:
    cited.cite(
        "A charge has a fee of two.",
        CITED,
        "docs/guide.md#usage",
        "https://example.test",
        "src",
        records=records,
    )
    cited.replace("src/pay.py", "    total", "    # with the fee\n    total")
    cited.write("docs/guide.md", "# Guide\n\nNew.\n\n## Usage\n\nRun it.\n")
    cited.commit("comments")
    assert cited.found(evidence.check) == []
    assert cited.found(evidence.check) == []


def test_what_cant_be_compared_says_why(cited: Cited) -> None:
    id_ = cited.cite("Hosts are configured.", "/etc/hosts")
    (finding,) = cited.found(evidence.check)
    assert finding.kind == "unreadable"
    assert finding.proof == Lines("/etc/hosts", "it is outside the project")
    assert finding.remedies[0] == Renew((id_,))


def test_a_finding_keeps_its_key_until_the_evidence_changes_again(cited: Cited) -> None:
    cited.cite("A charge has a fee of two.", CITED)
    cited.replace("src/pay.py", "+ 2", "+ 3")
    (before,) = cited.found(evidence.check)
    cited.commit()
    (committed,) = cited.found(evidence.check)
    cited.replace("src/pay.py", "+ 3", "+ 4")
    (later,) = cited.found(evidence.check)
    assert before.key == committed.key != later.key


def test_a_second_pass_reads_no_file_and_asks_git_nothing(
    cited: Cited, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It also finds the same, and sees a change that keeps the size of the file."""
    monkeypatch.setattr(known, "_TICK", 0)
    cited.cite("A charge has a fee of two.", CITED, "src/pay.py:1", "docs/guide.md")
    assert cited.found(evidence.check) == []
    with monkeypatch.context() as broken:
        broken.setattr(ObjectReader, "_find", lambda *_: pytest.fail("a question for Git"))
        broken.setattr("agentplane.curate.anchors.tree._read", lambda *_: pytest.fail("a file was read"))
        assert cited.found(evidence.check) == []
    cited.replace("src/pay.py", "+ 2", "+ 3")
    assert [finding.kind for finding in cited.found(evidence.check)] == ["evidence-changed"]


def test_a_file_that_changed_just_now_is_read_again(cited: Cited) -> None:
    """Two changes within a tick of the clock leave the same times."""
    cited.cite("A charge has a fee of two.", CITED)
    before = time.time()
    cited.found(evidence.check)
    cited.replace("src/pay.py", "+ 2", "+ 3")
    assert [finding.kind for finding in cited.found(evidence.check)] == ["evidence-changed"]
    assert time.time() - before < 60
