"""tools and sync: what is here, what their files hold, bringing the memory there."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from tests.cli.conftest import Cli
from tests.conftest import UNLIKE, decision


def test_sync_writes_checks_and_removes(plane: Plane, project: Path, cli: Cli) -> None:
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    assert cli("sync", "--check", "--tools", "codex").code == 1
    assert cli("sync", "--tools", "codex,claude").code == 0
    assert UNLIKE[0] in (project / "AGENTS.md").read_text()
    assert "@.agentplane/context/active.md" in (project / "CLAUDE.md").read_text()
    assert cli("sync", "--check").code == 0
    assert "All files are up to date" in cli("sync").err
    with plane.layout.config.open("a") as config:
        config.write("[tools]\ndeliver = false\n")
    plane.inbox.approve([plane.propose(decision(UNLIKE[1]))])
    ran = cli("sync", "--check")
    assert (ran.code, "outdated" in ran.out) == (1, True)
    assert cli("sync", "--remove").code == 0
    assert not (project / "AGENTS.md").exists()
    assert not (project / "CLAUDE.md").exists()


def test_a_decision_is_brought_to_the_files_that_hold_memory(
    plane: Plane, project: Path, person: Cli
) -> None:
    first, second, third, fourth = (plane.propose(decision(text)) for text in UNLIKE[:4])
    assert "brought" not in person("approve", first).err
    assert not (project / "AGENTS.md").exists()
    person("sync", "--tools", "codex,claude")
    assert "Updated CLAUDE.md, AGENTS.md" in person("approve", second).err
    assert UNLIKE[1] in (project / "AGENTS.md").read_text()
    data = person("approve", third, "--json").json("op")
    assert (data["delivered"], data["old_memory"]) == (["CLAUDE.md", "AGENTS.md"], {})
    assert person("undo", "--json").json("op")["delivered"]
    assert UNLIKE[2] not in (project / "AGENTS.md").read_text()
    assert person("reject", fourth, "--json").json("op")["delivered"] == []
    assert person("sync", "--check").code == 0


def test_what_a_decision_cannot_be_brought_to_is_named(plane: Plane, project: Path, person: Cli) -> None:
    first, second = (plane.propose(decision(text)) for text in UNLIKE[:2])
    person("approve", first)
    person("sync", "--tools", "codex,claude")
    rules = project / "AGENTS.md"
    edited = rules.read_text().replace("## Decisions", "## Decisions\n\n- Amounts are rounded down.")
    rules.write_text(edited)
    ran = person("approve", second)
    assert ran.code == 0
    assert "Updated CLAUDE.md" in ran.err
    assert (
        "AGENTS.md still has outdated memory, because it was edited inside agentplane's block. Run `agentplane sync`"
        in ran.err
    )
    assert rules.read_text() == edited


def test_a_decision_stays_in_the_plane_where_the_settings_say_so(
    plane: Plane, project: Path, person: Cli
) -> None:
    first, second = (plane.propose(decision(text)) for text in UNLIKE[:2])
    person("approve", first)
    person("sync", "--tools", "codex")
    before = (project / "AGENTS.md").read_bytes()
    with plane.layout.config.open("a") as config:
        config.write("[tools]\ndeliver = false\n")
    data = person("approve", second, "--json").json("op")
    assert data["delivered"] == []
    assert list(data["old_memory"]) == ["AGENTS.md"]
    assert (project / "AGENTS.md").read_bytes() == before


def test_sync_json_names_files_and_states(plane: Plane, cli: Cli) -> None:
    data = cli("sync", "--tools", "gemini", "--json").json("sync")
    assert data["written"] == ["GEMINI.md"]
    assert [(one["path"], one["state"]) for one in data["files"]] == [("GEMINI.md", "current")]


def test_an_unknown_tool_is_refused_with_the_names(plane: Plane, cli: Cli) -> None:
    cli("sync", "--tools", "emacs").refused(2, "Unknown tool: emacs")


def test_removing_needs_no_tool_in_use_and_no_name_is_refused(plane: Plane, cli: Cli) -> None:
    ran = cli("sync", "--remove")
    assert (ran.code, "Nothing to remove" in ran.err) == (0, True)
    cli("sync", "--tools", " , ").refused(2, "A tool name is required")


def test_a_blocked_file_is_said_and_exits_with_1(plane: Plane, project: Path, cli: Cli) -> None:
    (project / "AGENTS.md").write_text("<!-- agentplane:end -->\n")
    ran = cli("sync", "--tools", "codex")
    assert ran.code == 1
    assert "an incomplete agentplane block" in ran.err


def test_tools_lists_all_with_what_they_hold(plane: Plane, project: Path, cli: Cli) -> None:
    (project / ".cursor").mkdir()
    cli("sync", "--tools", "codex")
    data = cli("tools", "--json").json("tools")
    rows = {row["name"]: row for row in data["tools"]}
    assert len(rows) >= 20
    assert rows["cursor"]["in_project"]
    assert (rows["codex"]["state"], rows["codex"]["revision"]) == ("current", data["revision"])
    assert rows["claude-code"]["state"] == "absent"
    assert "Codex CLI" in cli("tools").out


def test_tools_in_a_narrow_terminal(plane: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The marks are what it is for; a line that is cut must not lose them."""
    monkeypatch.setattr("agentplane.cli.output.width", lambda: 40)
    lines = cli("tools").out.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("Claude Code"))
    assert lines[place + 1 : place + 3] == ["  ○ memory in CLAUDE.md", "  ○ hooks ○ MCP"]
    assert max(map(len, lines)) <= 40


def test_add_diff_and_remove(plane: Plane, project: Path, cli: Cli) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {}}\n')
    ran = cli("tools", "diff", "claude")
    assert ran.code == 1
    assert "+++ b/.claude/settings.json" in ran.out
    assert '+{"mcpServers": {"agentplane"' in ran.out
    assert cli("tools", "connect", "claude", "--check").out == ran.out
    assert not (project / ".claude").exists()

    ran = cli("tools", "connect", "claude,codex")
    assert ran.code == 0
    assert "Updated AGENTS.md, CLAUDE.md" in ran.err.replace("CLAUDE.md, AGENTS.md", "AGENTS.md, CLAUDE.md")
    assert "trust the hooks with `/hooks`" in ran.err
    again = cli("tools", "connect", "claude", "codex")
    assert (again.code, again.err) == (0, "Already connected.\n")
    assert (cli("tools", "diff").code, cli("tools", "diff").err) == (0, "No changes.\n")

    shown = cli("tools", "disconnect", "claude", "--dry-run")
    assert shown.code == 1
    assert "+++ /dev/null" in shown.out
    ran = cli("tools", "disconnect", "claude", "codex")
    assert ran.code == 0
    assert "Removed agentplane from" in ran.err
    assert sorted(path.name for path in project.iterdir()) == [".agentplane", ".mcp.json"]
    assert (project / ".mcp.json").read_text() == '{"mcpServers": {}}\n'
    assert "Nothing to remove" in cli("tools", "disconnect", "all").err


def test_tools_says_each_part(plane: Plane, project: Path, cli: Cli) -> None:
    cli("tools", "connect", "claude")
    (project / ".mcp.json").write_text("{")
    row = next(line for line in cli("tools").out.splitlines() if line.startswith("Claude Code"))
    assert "● memory" in row
    assert "● hooks" in row
    assert "x MCP" in row
    data = cli("tools", "--json").json("tools")
    (claude,) = (row for row in data["tools"] if row["name"] == "claude-code")
    assert [(part["part"], part["state"]) for part in claude["wired"]] == [
        ("file", "current"),
        ("hooks", "current"),
        ("mcp", "blocked"),
    ]


def test_add_says_what_it_left_and_what_to_add_by_hand(plane: Plane, project: Path, cli: Cli) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": [')
    ran = cli("tools", "connect", "claude")
    assert ran.code == 1
    assert ".mcp.json was not changed, because it isn't valid JSON: unexpected end on line 1" in ran.err
    assert '"args": ["mcp", "--tool", "claude-code"]' in ran.err
    data = cli("tools", "connect", "claude", "--json").json("tools-add")
    assert data["blocked"] == {".mcp.json": "isn't valid JSON: unexpected end on line 1"}
    data = cli("tools", "disconnect", "claude", "--json").json("tools-remove")
    assert ".claude/settings.json" in data["written"]


def test_diff_as_json_and_names_that_are_unknown(plane: Plane, cli: Cli) -> None:
    data = cli("tools", "diff", "zed", "--json").json("tools-diff")
    assert [one["path"] for one in data["files"]] == ["AGENTS.md", ".zed/settings.json"]
    cli("tools", "connect", "emacs").refused(2, "Unknown tool: emacs")
    cli("tools", "disconnect", ",").refused(2, "A tool name is required")
    cli("tools", "connect").refused(2, "NAMES")


def test_remove_keeps_what_another_tool_in_use_reads(plane: Plane, project: Path, cli: Cli) -> None:
    cli("tools", "connect", "codex", "zed")
    ran = cli("tools", "disconnect", "codex")
    assert "The memory stays in AGENTS.md, which is also read by zed." in ran.err
    assert (project / "AGENTS.md").exists()


def test_sync_says_what_a_file_has_no_room_for(plane: Plane, project: Path, cli: Cli) -> None:
    for text in UNLIKE:
        plane.inbox.approve([plane.propose(decision(text, rationale="Agreed upon. " * 30))])
    (project / "AGENTS.md").write_text("x" * (32 * 1024 - 950))
    ran = cli("sync", "--tools", "codex")
    assert ran.code == 0
    assert "AGENTS.md has reached its size limit: 6 entries shortened to their statements" in ran.err
    assert "6 entries shortened to their statements" in cli("sync", "--check", "--tools", "codex").out
    assert "read only so far" not in cli("sync", "--tools", "cursor").err
