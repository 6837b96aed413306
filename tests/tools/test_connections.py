"""Tools wired as a whole: all that is missing is written, nothing else, and it comes out without a trace."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.tools import connections, foreign_file, presence
from agentplane.tools.foreign_file import Change
from agentplane.tools.settings_file import desired, edit
from tests.conftest import UNLIKE, decision


WILD = Path(__file__).parent / "wild"


def tree(project: Path) -> dict[str, bytes | None]:
    """Every path outside of the plane; None for a folder."""
    return {
        str(path.relative_to(project)): path.read_bytes() if path.is_file() else None
        for path in sorted(project.rglob("*"))
        if ".agentplane" not in path.relative_to(project).parts
    }


def furnish(project: Path) -> None:
    """A project in which people use several tools and settled them as they like."""
    for name, source in {
        ".claude/settings.json": "team/settings.json",
        ".mcp.json": "team/mcp.json",
        ".codex/config.toml": "team/config.toml",
        ".gemini/settings.json": "personal/bare.json",
        ".cursor/hooks.json": "windows/hooks.json",
        ".vscode/mcp.json": "windows/mcp.json",
        ".zed/settings.json": "personal/zed.json",
        "opencode.jsonc": "personal/opencode.jsonc",
    }.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((WILD / source).read_bytes())
    (project / "AGENTS.md").write_bytes(b"# Rules\r\n\r\nBe kind.")


def states(plane: Plane) -> set[str]:
    return {part.state for wiring in plane.tools.wiring(TOOLS) for part in wiring.parts}


def test_all_tools_are_wired_once_and_come_out_without_a_trace(plane: Plane, project: Path) -> None:
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    furnish(project)
    before = tree(project)
    wired = plane.tools.wire(TOOLS)
    assert wired.blocked == {}
    assert states(plane) == {"current"}
    stamps = {path: os.stat(project / path).st_ino for path in wired.written}
    assert plane.tools.wire(TOOLS).written == ()
    assert plane.tools.wiring_changes(TOOLS) == []
    assert stamps == {path: os.stat(project / path).st_ino for path in wired.written}
    out = plane.tools.unwire(TOOLS)
    assert (out.blocked, set(out.written)) == ({}, set(wired.written))
    assert tree(project) == before
    assert plane.tools.unwire(TOOLS).written == ()


def test_the_preview_is_what_is_written(plane: Plane, project: Path) -> None:
    furnish(project)
    (tool,) = presence.named(["claude"])
    changes = plane.tools.wiring_changes([tool])
    assert {one.path for one in changes} == {"CLAUDE.md", ".claude/settings.json", ".mcp.json"}
    assert sorted(connections.touched(project, [tool])) == sorted(one.path for one in changes)
    assert any(line.startswith("+") and "agentplane mcp" not in line for line in changes[1].diff())
    plane.tools.wire([tool])
    for change in changes:
        assert (project / change.path).read_bytes() == change.after
    back = plane.tools.wiring_changes([tool], out=True)
    plane.tools.unwire([tool])
    for change in back:
        path = project / change.path
        assert (path.read_bytes() if path.exists() else None) == change.after


def test_what_is_missing_is_completed(plane: Plane, project: Path) -> None:
    tools = presence.named(["gemini"])
    plane.tools.wire(tools)
    path = project / ".gemini" / "settings.json"
    data = json.loads(path.read_text())
    del data["mcpServers"], data["hooks"]["SessionEnd"]
    path.write_text(json.dumps(data, indent=2))
    (wiring,) = plane.tools.wiring(tools)
    assert [part.state for part in wiring.parts] == ["current", "old", "absent"]
    assert plane.tools.wire(tools).written == (".gemini/settings.json",)
    assert {part.state for part in plane.tools.wiring(tools)[0].parts} == {"current"}


BLOCKED = {
    "broken": (b'{"mcpServers": {', "isn't valid JSON: unexpected end on line 1"),
    "half written": (b'{"mcpServers": {}}}', "isn't valid JSON: unexpected text after the end on line 1"),
    "read-only": (b"{}", "is read-only"),
    "utf-16": ("{}".encode("utf-16"), "is not UTF-8"),
    "latin": (b'{"a": "\xe9"}', "is not UTF-8"),
    "foreign": (
        b'{"mcpServers": {"agentplane": {"url": "https://example.test"}}}',
        "already has a different MCP server named",
    ),
    "large": (b'{"a": "' + b"x" * (5 << 20) + b'"}', "is larger than 4 MB"),
}


@pytest.mark.parametrize("case", BLOCKED)
def test_a_file_that_is_not_ours_to_change_stays_and_is_said(plane: Plane, project: Path, case: str) -> None:
    data, why = BLOCKED[case]
    path = project / ".mcp.json"
    path.write_bytes(data)
    path.chmod(0o444 if case == "read-only" else 0o644)
    wired = plane.tools.wire(presence.named(["claude"]))
    assert why in wired.blocked[".mcp.json"]
    assert json.loads(wired.by_hand[".mcp.json"])["mcpServers"]["agentplane"]["args"][0] == "mcp"
    assert ".claude/settings.json" in wired.written
    assert path.read_bytes() == data
    (wiring,) = plane.tools.wiring(presence.named(["claude"]))
    assert [part.state for part in wiring.parts] == ["current", "current", "blocked"]
    plane.tools.unwire(presence.named(["claude"]))
    assert path.read_bytes() == data
    assert not (project / ".claude").exists()


def test_a_command_of_a_person_that_calls_us_stays_and_is_said(plane: Plane, project: Path) -> None:
    tools = presence.named(["claude"])
    path = project / ".claude" / "settings.json"
    path.parent.mkdir()
    hook = {"type": "command", "command": "make lint && agentplane hook stop --tool claude-code"}
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    before = path.read_text()
    plane.tools.wire(tools)
    assert plane.tools.unwire(tools).calling == (".claude/settings.json",)
    assert path.read_text() == before
    path.write_text("{broken")
    assert plane.tools.unwire(tools).calling == ()


@pytest.mark.parametrize("case", ["read-only", "torn", "full"])
def test_an_instruction_file_that_is_not_ours_to_change_stays_and_is_said(
    plane: Plane, project: Path, case: str
) -> None:
    text, why = {
        "read-only": ("# Rules\n", "is read-only"),
        "torn": (
            "# Rules\n<!-- agentplane:end -->\n",
            "contains an incomplete agentplane block. Remove the `<!-- agentplane:… -->` line of that block",
        ),
        "full": (
            "x" * 40_000,
            (
                "has no room for the memory: Codex CLI reads only the first 32768 bytes of this file,"
                " and other text uses nearly all of them"
            ),
        ),
    }[case]
    tools = presence.named(["codex"])
    path = project / "AGENTS.md"
    path.write_text(text)
    path.chmod(0o444 if case == "read-only" else 0o644)
    assert ("AGENTS.md" in connections.touched(project, tools)) == (case == "full")
    wired = plane.tools.wire(tools)
    assert wired.blocked == {"AGENTS.md": why}
    assert ".codex/hooks.json" in wired.written
    assert path.read_text() == text


@pytest.mark.parametrize("name", [".mcp.json", ".claude/settings.json", ".claude"])
def test_links_out_of_the_project_are_left(plane: Plane, project: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    if name == ".claude":
        outside.mkdir()
    else:
        outside.write_text("{}")
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).symlink_to(outside)
    wired = plane.tools.wire(presence.named(["claude"]))
    assert list(wired.blocked.values()) == ["is a link to a file outside the project"]
    plane.tools.unwire(presence.named(["claude"]))
    assert (list(outside.iterdir()) == []) if outside.is_dir() else (outside.read_text() == "{}")
    assert (project / name).is_symlink()


def test_a_link_within_the_project_is_followed(plane: Plane, project: Path) -> None:
    (project / "shared.json").write_text('{"mcpServers": {}}')
    (project / ".mcp.json").symlink_to("shared.json")
    plane.tools.wire(presence.named(["claude"]))
    assert (project / ".mcp.json").is_symlink()
    assert "agentplane" in (project / "shared.json").read_text()
    plane.tools.unwire(presence.named(["claude"]))
    assert (project / "shared.json").read_text() == '{"mcpServers": {}}'


def test_a_file_in_a_folders_place_is_said(plane: Plane, project: Path) -> None:
    (project / ".claude").write_text("mine")
    wired = plane.tools.wire(presence.named(["claude"]))
    assert ".claude/settings.json" in wired.blocked
    assert (project / ".claude").read_text() == "mine"


def test_what_another_program_writes_meanwhile_is_not_lost(project: Path) -> None:
    path = project / "a.json"
    path.write_text("theirs")
    assert "by another program" in foreign_file.write(project, Change("a.json", b"before", b"after"))
    assert "by another program" in foreign_file.write(project, Change("a.json", b"before", None))
    assert path.read_text() == "theirs"


def test_a_new_hooks_file_never_silences_hooks_elsewhere(plane: Plane, project: Path) -> None:
    (project / ".factory").mkdir()
    rival = project / ".factory" / "settings.json"
    rival.write_text('{"hooks": {"Stop": []}}')
    wired = plane.tools.wire(presence.named(["droid"]))
    assert "disable the hooks" in wired.blocked[".factory/hooks.json"]
    assert not (project / ".factory" / "hooks.json").exists()
    rival.write_text('{"model": "x"}')
    assert ".factory/hooks.json" in plane.tools.wire(presence.named(["droid"])).written


def test_a_file_that_others_read_too_keeps_the_memory(plane: Plane, project: Path) -> None:
    (project / "opencode.json").write_text("{}")
    plane.tools.wire(presence.named(["codex", "opencode"]))
    out = plane.tools.unwire(presence.named(["codex"]))
    assert out.shared == {"AGENTS.md": ("opencode",)}
    assert "agentplane:begin" in (project / "AGENTS.md").read_text()
    assert not (project / ".codex").exists()
    plane.tools.unwire(presence.named(["opencode"]))
    assert tree(project) == {"opencode.json": b"{}"}


def test_the_other_of_two_files_of_a_tool_is_used_when_it_is_there(plane: Plane, project: Path) -> None:
    (project / "opencode.jsonc").write_text("{ /* mine */ }")
    plane.tools.wire(presence.named(["opencode"]))
    assert not (project / "opencode.json").exists()
    assert "agentplane" in (project / "opencode.jsonc").read_text()
    (project / "opencode.json").write_text("{}")
    plane.tools.unwire(presence.named(["opencode"]))
    assert (project / "opencode.jsonc").read_text() == "{ /* mine */ }"


def test_settings_in_the_home_folder_are_never_written(
    plane: Plane, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text("{}")
    monkeypatch.setenv("HOME", str(project))
    wired = plane.tools.wire(presence.named(["claude"]))
    assert wired.written == ("CLAUDE.md",)
    assert set(wired.blocked) == {".claude/settings.json", ".mcp.json"}
    assert (project / ".claude" / "settings.json").read_text() == "{}"


def test_a_folder_that_holds_something_else_stays(plane: Plane, project: Path) -> None:
    plane.tools.wire(presence.named(["cursor", "kiro"]))
    (project / ".cursor" / "rules" / "own.mdc").write_text("mine\n")
    plane.tools.unwire(presence.named(["cursor", "kiro"]))
    assert tree(project) == {".cursor": None, ".cursor/rules": None, ".cursor/rules/own.mdc": b"mine\n"}


def test_a_hook_ends_well_and_says_nothing_where_the_program_is_missing(tmp_path: Path) -> None:
    (tool,) = presence.named(["claude"])
    place = next(one for one in desired.places(tmp_path, tool) if one.part == "hooks")
    for want in place.wants:
        command = want.value["hooks"][0]["command"]
        ran = subprocess.run(
            ("/bin/sh", "-c", command), env={"PATH": "/nowhere"}, input=b"{}", capture_output=True
        )
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
        program = tmp_path / "agentplane"
        program.write_text('#!/bin/sh\necho "$@"\nexit 9\n')
        program.chmod(0o755)
        ran = subprocess.run(
            ("/bin/sh", "-c", command), env={"PATH": str(tmp_path)}, input=b"{}", capture_output=True
        )
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert ran.stdout.decode().strip() == want.says.removeprefix("agentplane ")


def test_every_row_says_where_and_in_which_shape() -> None:
    """Tools that take hooks or servers in a project have settings files there; nothing leads out of it."""
    for tool in TOOLS:
        for place in desired.all_places(tool):
            assert not place.path.startswith(("/", "~"))
            assert ".." not in place.path
        for place in desired.places(Path("/nonexistent"), tool):
            assert edit.state(None, place) == "absent"
        assert not tool.resume or any("{id}" in word for word in tool.resume)
