"""`agentplane import`."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from tests.cli.conftest import Cli


@pytest.fixture
def rules(plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    path = plane.layout.project / "CLAUDE.md"
    path.write_text("- Amounts must be whole cents.\n- `make test`\n")
    return path


def test_it_says_what_it_took_and_what_it_left(rules: Path, plane: Plane, cli: Cli) -> None:
    told = cli("import")
    assert (told.code, told.out) == (0, "")
    assert "instructions: 1 candidate from 1 file, 1 skipped" in told.err
    assert "Skipped CLAUDE.md:2 (command or path): `make test`" in told.err
    assert "Added 1 candidate to the inbox" in told.err
    (entry,) = plane.memory.read().inbox
    assert entry.head.proposed_by == "claude-code"
    again = cli("import")
    assert "1 already known" in again.err
    assert "Nothing new" in again.err


def test_a_dry_run_shows_and_writes_nothing(rules: Path, plane: Plane, cli: Cli) -> None:
    told = cli("import", "--dry-run")
    assert "Amounts must be whole cents." in told.out
    assert "CLAUDE.md:1" in told.out
    assert plane.memory.read().inbox == []


def test_json(rules: Path, cli: Cli) -> None:
    told = cli("import", "--from", "instructions,adr", "--json").json("harvest")
    (offer,) = told["offered"]
    assert offer["id"].startswith("CAND-")
    assert offer["refused"] is None
    assert offer["from"] == "instructions"
    assert offer["evidence"] == ["CLAUDE.md:1"]
    assert [row["name"] for row in told["sources"]] == ["instructions", "adr"]
    assert told["sources"][0]["left"] == {"command or path": 1}
    assert told["sources"][0]["skipped"] == [
        {"place": "CLAUDE.md:2", "why": "command or path", "text": "`make test`"}
    ]


def test_a_source_that_is_none(rules: Path, cli: Cli) -> None:
    cli("import", "--from", "claud").refused(2, "Unknown source for --from: claud", "claude-code")


def test_a_source_by_the_command_of_its_tool(rules: Path, cli: Cli) -> None:
    """As `tools add claude` and `sync --tools claude` take it."""
    told = cli("import", "--from", "claude,Gemini,ADR,claude-code", "--json").json("harvest")
    assert [row["name"] for row in told["sources"]] == ["claude-code", "gemini-cli", "adr"]
