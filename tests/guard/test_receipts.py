"""`check` refuses what a branch brings to the shelf without receipts, where the settings require them."""

from pathlib import Path

import pytest

from agentplane.plane.layout import CONFIG
from tests.conftest import decision
from tests.guard import branches
from tests.guard.branches import MEMORY, RUN, Repo


NEW = "20260127T101503Z-neww22"
TEXT = "Logs go to standard error."


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return branches.made(tmp_path / "repo")


def setting(repo: Repo, value: str) -> None:
    repo.path(f".agentplane/{CONFIG}").write_text(f"[policy]\nrequire_receipts = {value}\n")
    # The next op records the setting.
    repo.plane().propose(decision("Deploys wait for the bank."))


def on_main(repo: Repo, value: str) -> None:
    repo.git("checkout", "-q", "main")
    setting(repo, value)
    repo.commit("receipts")
    repo.git("checkout", "-q", "work")
    repo.git("merge", "-q", "main")


def without(repo: Repo) -> str:
    """Approves on a machine where the setting is off, then puts the file back."""
    path = repo.path(f".agentplane/{CONFIG}")
    held = path.read_bytes() if path.exists() else None
    path.write_text("")
    id_ = repo.approved(TEXT)
    if held is not None:
        path.write_bytes(held)
        repo.plane().propose(decision("Buttons have round corners."))
    return id_


def errors(repo: Repo) -> list[tuple[str, str]]:
    return [(f.where, f.what) for f in repo.check() if f.severity == "error"]


def test_off_it_asks_for_nothing(repo: Repo) -> None:
    repo.approved(TEXT)
    assert errors(repo) == []


def test_an_entry_without_receipts_is_refused(repo: Repo) -> None:
    on_main(repo, "true")
    id_ = without(repo)
    assert errors(repo) == [
        (
            repo.entry_at("decisions.md", id_),
            f"{id_} cites no run and no evidence, but `policy.require_receipts` is on",
        )
    ]


def test_turning_it_off_on_the_branch_does_not_help(repo: Repo) -> None:
    on_main(repo, "true")
    repo.path(f".agentplane/{CONFIG}").write_text("")
    repo.approved(TEXT)
    assert [what for _, what in errors(repo) if "require_receipts" in what]
    assert [f.what for f in repo.check() if f.severity == "warning"] == [
        "`policy.require_receipts` was changed from true to false, which weakens trust"
    ]


def test_an_entry_with_receipts_passes(repo: Repo) -> None:
    on_main(repo, "true")
    repo.approved(TEXT, source=RUN, evidence=["README.md"])
    assert errors(repo) == []


def test_what_the_base_had_is_not_asked_again(repo: Repo) -> None:
    on_main(repo, "true")
    repo.plane().memory.pin(["DEC-001"])
    assert errors(repo) == []


def test_evidence_that_is_gone_is_refused(repo: Repo) -> None:
    on_main(repo, "true")
    repo.path("notes.md").write_text("seen\n")
    repo.approved(TEXT, source=RUN, evidence=["notes.md"])
    assert errors(repo) == []
    repo.path("notes.md").unlink()
    assert [what for _, what in errors(repo) if "notes.md" in what]


def test_the_run_has_to_come_with_the_branch(repo: Repo) -> None:
    on_main(repo, '"appended"')
    repo.approved(TEXT, source=RUN, evidence=["README.md"])
    ((where, what),) = errors(repo)
    assert where == f"{MEMORY}/decisions.md:{repo.line_of(f'{MEMORY}/decisions.md', 'id: DEC-003') - 1}"
    assert what.startswith(f"DEC-003 cites run {RUN}, but this branch doesn't add that run to the log")


def test_a_run_of_the_branch_is_one(repo: Repo) -> None:
    on_main(repo, '"appended"')
    repo.plane().write_log({"run_id": NEW})
    repo.approved(TEXT, source=NEW, evidence=["README.md"])
    assert errors(repo) == []
