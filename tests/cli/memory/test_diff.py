"""What changed in memory since a commit or a time, and where Git is missing."""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentplane.api import Plane
from tests.cli.conftest import Cli, candidate, change_by_hand


def git(project: Path, *words: str) -> None:
    subprocess.run(("git", *words), cwd=project, check=True)


def committed(project: Path) -> None:
    if not (project / ".git").exists():
        git(project, "init", "-q", "-b", "main")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "all")


def test_each_change_since_the_last_commit(shelf: Plane, person: Cli, project: Path) -> None:
    committed(project)
    assert person("diff").err.startswith("No approved entries changed since commit ")
    person("approve", candidate(person, "Keep migrations as SQL."))
    change_by_hand(shelf, "decisions.md", "Use Textual.", "Use Rich.")
    person("approve", "DEC-001")
    path = shelf.layout.memory / "facts.md"
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"---")])
    person("approve", "FACT-001")

    assert person("diff").out.splitlines() == [
        "~ DEC-001  Use Rich.",
        "    Decision: Use [-Textual-]{+Rich+}.",
        "+ DEC-002  Keep migrations as SQL.",
        "- FACT-001  The API answers 429.",
    ]


def test_a_header_that_changed_is_shown_by_field(shelf: Plane, person: Cli, project: Path) -> None:
    committed(project)
    person("deprecate", "DEC-001")
    assert person("diff").out.splitlines() == ["~ DEC-001  Use Textual.", "    status: accepted → deprecated"]


def test_other_line_breaks_are_named(shelf: Plane, person: Cli, project: Path) -> None:
    committed(project)
    change_by_hand(shelf, "decisions.md", "Rationale: It is", "Rationale:\nIt is")
    person("approve", "DEC-001")
    assert person("diff").out.splitlines() == [
        "~ DEC-001  Use Textual.",
        "    Only spaces and line breaks changed.",
    ]


def test_as_json(shelf: Plane, person: Cli, project: Path) -> None:
    committed(project)
    person("deprecate", "DEC-001")
    data = person("diff", "--json").json("memory-diff")
    assert data["revision"] == shelf.status().revision
    assert len(data["since"]["commit"]) == 40
    assert (data["since"]["time"], data["since"]["missing"]) == (None, None)
    (row,) = data["entries"]
    assert (row["id"], row["change"], row["statement"]) == ("DEC-001", "changed", "Use Textual.")
    assert (row["before"]["status"], row["after"]["status"]) == ("accepted", "deprecated")


def test_what_is_not_accepted_is_not_memory(shelf: Plane, person: Cli, project: Path) -> None:
    committed(project)
    candidate(person)
    change_by_hand(shelf, "decisions.md", "Textual", "Rich")
    ran = person("diff")
    assert ran.out == ""
    assert "This comparison doesn't include 1 manual edit awaiting review" in ran.err


@pytest.mark.parametrize("named", ["HEAD~1", "main~1"])
def test_since_a_revision(shelf: Plane, person: Cli, project: Path, named: str) -> None:
    committed(project)
    person("deprecate", "DEC-001")
    committed(project)
    assert person("diff").out == ""
    assert person("diff", "--since", named).out.startswith("~ DEC-001")


def test_without_git_every_entry_is_listed_and_that_is_said(shelf: Plane, person: Cli) -> None:
    ran = person("diff")
    assert [line[:10].split()[:2] for line in ran.out.splitlines()] == [["+", "DEC-001"], ["+", "FACT-001"]]
    assert "isn't in a Git repository" in ran.err
    assert "use --since DATE" in ran.err
    assert person("diff", "--json").json("memory-diff")["since"]["missing"] == "repository"


def test_a_commit_without_the_memory_is_said(shelf: Plane, person: Cli, project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    ran = person("diff")
    assert "No Git commit contains this memory yet" in ran.err
    assert ran.out.count("+ ") == 2


def test_a_time_needs_no_git(shelf: Plane, person: Cli) -> None:
    before = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    after = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    assert person("diff", "--since", before).out.count("+ ") == 2
    assert person("diff", "--since", "2d").out.count("+ ") == 2
    ran = person("diff", "--since", after)
    assert (ran.out, ran.err.startswith("No approved entries changed since 2")) == ("", True)


def test_what_is_neither_a_revision_nor_a_time(shelf: Plane, person: Cli, project: Path) -> None:
    said = person("diff", "--since", "yesterday").refused(
        2, "Invalid value for --since: yesterday.", "7d or 2w"
    )
    assert "Git revision" not in said
    committed(project)
    person("diff", "--since", "nope").refused(2, "--since: nope.", "Git revision such as HEAD~3")


def test_a_tool_sees_no_secret(shelf: Plane, person: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "ghp_" + "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"
    change_by_hand(shelf, "decisions.md", "Use Textual.", f"Use {token}.")
    assert person("approve", "DEC-001", "--confirm", "secret").code == 0
    assert token in person("diff").out
    monkeypatch.setenv("CLAUDECODE", "1")
    assert token not in person("diff").out
    assert token not in person("diff", "--json").out
