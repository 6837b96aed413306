"""Receipts: what counts as one, and that nothing comes to the shelf without them where the settings require them."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentplane import health
from agentplane.api import Plane
from agentplane.errors import BadInput, Refused
from agentplane.memory.proposing import Proposal
from agentplane.plane import settings_read
from agentplane.plane.trust import rules
from agentplane.review.conflicts.resolve import Choice
from agentplane.review.gate import receipts
from tests.conftest import decision, plane_in


RUN = "20260127T101502Z-k3f9qa"
LOGGED = frozenset({RUN})
PROVED = {"source": RUN, "evidence": ["README.md"]}


@pytest.fixture
def strict(git_project: Path) -> Plane:
    """A plane with one old entry, in which receipts are required now."""
    plane = plane_in(git_project)
    plane.write_log({"run_id": RUN})
    plane.inbox.approve([plane.propose(decision("Amounts are whole cents."))])
    require(plane)
    return plane


def require(plane: Plane, value: str = "true", more: str = "") -> None:
    plane.layout.config.write_text(f"[policy]\nrequire_receipts = {value}\n{more}")


def sources(project: Path) -> receipts.ReceiptSources:
    return receipts.ReceiptSources(project, LOGGED.__contains__)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (RUN, True),
        (f"run {RUN}", True),
        ("20260127T101502Z-other1", False),
        ("https://example.test/issue/7", True),
        ("README.md", True),
        ("README.md:1", True),
        ("`README.md#project`", True),
        ("docs/gone.md", False),
        ("link-out", False),
        ("deadbee", False),
    ],
)
def test_evidence_names_something(git_project: Path, text: str, found: bool) -> None:
    os.symlink("/etc/hostname", git_project / "link-out")
    assert receipts.is_receipt(text, sources(git_project)) is found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I tried it.",
        ".",
        "../secret.md",
        "/etc/passwd",
        "~/x.md",
        "https://",
        "a\0b.md",
        "x" * 2000,
        "word",
    ],
)
def test_words_are_no_receipt(git_project: Path, text: str) -> None:
    assert not receipts.is_receipt(text, sources(git_project))


def test_a_commit_that_git_knows_is_one(git_project: Path) -> None:
    head = subprocess.check_output(
        ("git", "rev-parse", "--short=8", "HEAD"), cwd=git_project, text=True
    ).strip()
    assert receipts.is_receipt(f"commit {head}", sources(git_project))


def test_a_file_that_was_there_at_a_commit_is_one(git_project: Path) -> None:
    old = subprocess.check_output(("git", "rev-parse", "HEAD"), cwd=git_project, text=True).strip()
    (git_project / "README.md").unlink()
    assert receipts.is_receipt("README.md", sources(git_project))
    subprocess.run(("git", "commit", "-qam", "without"), cwd=git_project, check=True)
    assert not receipts.is_receipt("README.md", sources(git_project))
    assert receipts.is_receipt("README.md", sources(git_project), old)


@pytest.mark.parametrize(
    ("more", "lack"),
    [
        ({}, "cites no run and no evidence"),
        ({"source": RUN}, "cites no evidence"),
        ({"evidence": ["README.md"]}, "cites no run"),
        (
            {**PROVED, "source": "20260127T101502Z-other1"},
            "cites run 20260127T101502Z-other1 (not in the log)",
        ),
        (
            {**PROVED, "evidence": ["I tried it."]},
            "cites evidence that isn't a known file, run, commit or URL: `I tried it.`",
        ),
    ],
)
def test_an_approval_without_receipts_is_refused(strict: Plane, more: dict[str, object], lack: str) -> None:
    id_ = strict.propose(decision("Logs go to standard error.", **more))
    with pytest.raises(Refused) as refused:
        strict.inbox.approve([id_])
    assert refused.value.what == f"{id_} {lack}, but this project requires receipts"
    assert f"agentplane edit {id_}" in (refused.value.todo or "")
    (told,) = strict.inbox.review([id_])
    assert any(flag.startswith(f"lacks a receipt: {lack}") for flag in told.flags)
    with pytest.raises(BadInput, match="No candidate is ready to approve"):
        strict.inbox.approve_clean()


def test_an_approval_with_receipts_goes_through(strict: Plane) -> None:
    id_ = strict.propose(decision("Logs go to standard error.", **PROVED))
    (told,) = strict.inbox.review([id_])
    assert told.flags == ()
    assert strict.inbox.approve([id_]).ids[-1] == "DEC-002"


def supersede(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Amounts are decimals."))], Choice(supersede=("DEC-001",)))


def merge(plane: Plane) -> None:
    id_ = plane.propose(decision("Amounts are never floats."))
    change(plane, lambda text, seen: plane.inbox.merge(id_, "DEC-001", text, seen))


def edit(plane: Plane) -> None:
    change(plane, lambda text, seen: plane.memory.edit("DEC-001", text, seen))


def adopt(plane: Plane) -> None:
    page = plane.layout.root / "memory/decisions.md"
    page.write_text(page.read_text().replace("whole cents", "cents"))
    plane.memory.adopt()


def change(plane: Plane, do: Callable[[bytes, str], object]) -> None:
    entry = plane.memory.read().get("DEC-001")
    text = plane.memory.read().snapshot.core(entry.file, entry.id) or b""
    do(text.replace(b"whole cents", b"cents"), entry.digest)


@pytest.mark.parametrize("way", [supersede, merge, edit, adopt])
def test_no_way_brings_a_text_without_receipts_to_the_shelf(
    strict: Plane, way: Callable[[Plane], None]
) -> None:
    with pytest.raises(Refused, match="this project requires receipts"):
        way(strict)
    assert strict.memory.read().get("DEC-001").statement == "Amounts are whole cents." or way is adopt


def test_a_candidate_is_edited_without_them(strict: Plane) -> None:
    id_ = strict.propose(decision("Logs go to standard error."))
    entry = strict.memory.read().get(id_)
    text = strict.memory.read().snapshot.core(entry.file, entry.id) or b""
    added = f"status: proposed\nsource: {RUN}\nevidence: [README.md]\n".encode()
    assert strict.memory.edit(id_, text.replace(b"status: proposed\n", added), entry.digest)
    assert strict.inbox.approve([id_])


def test_what_was_approved_before_stays(strict: Plane) -> None:
    strict.memory.pin(["DEC-001"])
    strict.history.undo()
    found = [f for f in health.collect(strict.store) if "require_receipts" in f.what]
    assert [(f.severity, f.what.split(",")[0]) for f in found] == [
        ("info", "DEC-001 cites no run and no evidence")
    ]
    strict.memory.deprecate(["DEC-001"])


def test_a_fact_is_promoted_only_with_receipts(git_project: Path) -> None:
    plane = plane_in(git_project)
    plane.layout.config.write_text("[policy]\nauto_approve_confidence = 0.5\n")
    plane.write_log({"run_id": RUN})
    fact = {"confidence": 0.9, "source": RUN}
    assert not plane.promote_fact(
        {**fact, "statement": "The queue is empty.", "evidence": ["I saw it."]}
    ).approved
    assert not plane.promote_fact(
        {**fact, "statement": "Reports are CSV.", "evidence": ["docs/gone.md"]}
    ).approved
    assert plane.promote_fact(
        {**fact, "statement": "Logs are JSON lines.", "evidence": ["README.md"]}
    ).approved


def test_off_is_the_default(plane: Plane) -> None:
    assert plane.store.settings().policy.require_receipts is False
    assert plane.inbox.approve([plane.propose(Proposal(type="fact", statement="The queue is empty."))])


@pytest.mark.parametrize(
    ("before", "after"), [("true", "false"), ('"appended"', "true"), ('"appended"', "false")]
)
def test_asking_for_less_weakens_trust(before: str, after: str) -> None:
    was, is_ = (
        settings_read.parse(f"[policy]\nrequire_receipts = {value}\n".encode(), "x")
        for value in (before, after)
    )
    assert [keys for keys, _, _ in rules.weaker(was, is_)] == [("policy", "require_receipts")]
    assert not list(rules.weaker(is_, was))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[policy]\nrequire_receipts = "log"\n', 'Use true, false or "appended".'),
        (
            '[policy]\nrequire_receipts = true\n[trust]\nhand_edits = "accept"\n',
            'Set `trust.hand_edits = "review"`.',
        ),
    ],
)
def test_wrong_settings_are_told(text: str, told: str) -> None:
    with pytest.raises(BadInput) as error:
        settings_read.parse(text.encode(), "config.toml")
    assert error.value.todo == told
    assert error.value.where in ("config.toml:2", "config.toml:4")
