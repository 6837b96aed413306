"""Our entries in settings files of others: put in once, known again, and taken out to the byte."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentplane.agents.catalog import TOOLS
from agentplane.tools import presence
from agentplane.tools.settings_file import desired, edit
from agentplane.tools.settings_file.desired import Place
from tests.text.json.test_splice import texts


NOWHERE = Path("/nonexistent")
PLACES = [place for tool in TOOLS for place in desired.places(NOWHERE, tool)]
JSON_PLACES = [place for place in PLACES if not place.toml]
(TOML_PLACE,) = (place for place in PLACES if place.toml)
WILD = sorted((Path(__file__).parents[1] / "wild").rglob("*.*"))


def place_of(name: str, part: str) -> Place:
    (tool,) = presence.named([name])
    return next(place for place in desired.places(NOWHERE, tool) if place.part == part)


def name_of(place: Place) -> str:
    return f"{place.part} {place.path}"


@pytest.mark.parametrize("place", PLACES, ids=name_of)
def test_a_file_made_for_us_goes_with_us(place: Place) -> None:
    made = edit.put(None, place)
    assert edit.put(made, place) == made
    assert edit.state(made, place) == "current"
    assert edit.without(made, [place]) is None
    later = made.replace(b"\n", b"\r\n")
    assert edit.state(later, place) == "current"
    assert edit.without(later, [place]) is None


@pytest.mark.parametrize("path", WILD, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_files_as_projects_have_them_come_back_to_the_byte(path: Path) -> None:
    data = path.read_bytes()
    # Kiro's file of hooks holds a list where the others hold an object.
    fitting = (
        [TOML_PLACE]
        if path.suffix == ".toml"
        else [one for one in JSON_PLACES if one != place_of("kiro", "hooks")]
    )
    for place in fitting:
        assert edit.state(data, place) == "absent"
        made = edit.put(data, place)
        assert edit.put(made, place) == made
        assert edit.state(made, place) == "current"
        assert edit.without(made, [place]) == data


@given(texts(), st.sampled_from(JSON_PLACES))
def test_any_json_comes_back_to_the_byte(text: str, place: Place) -> None:
    data = text.encode()
    try:
        made = edit.put(data, place)
    except edit.UnfitError as error:
        assert "has no" in str(error)  # noqa: PT017 -- never because of how it is written
        assume(False)
    assert edit.put(made, place) == made
    assert edit.without(made, [place]) == data


@given(texts())
def test_hooks_and_server_in_one_file_come_out_together(text: str) -> None:
    both = [place_of("gemini-cli", "hooks"), place_of("gemini-cli", "mcp")]
    data: bytes | None = text.encode()
    try:
        made = edit.put(edit.put(data, both[0]), both[1])
    except edit.UnfitError:
        assume(False)
    assert edit.without(made, both) == data
    assert edit.without(edit.without(made, both[1:]), both[:1]) == data  # type: ignore[arg-type]


TOML_LINES = st.lists(
    st.sampled_from(["# note", "", 'a = "x"', "[t]", "b = 1", "[[l]]", 'c = """', '[mcp_servers.agentplane]"""', "[mcp_servers]", "[mcp_servers.other]", 'command = "y"', "f = nan"]),
    max_size=8,
)  # fmt: skip


@given(TOML_LINES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", "\n\n"]))
def test_any_toml_comes_back_to_the_byte(lines: list[str], ending: str, last: str) -> None:
    data = (ending.join(lines) + last).encode()
    try:
        made = edit.put(data, TOML_PLACE)
    except edit.UnfitError as error:
        assert "isn't valid TOML" in str(error)  # noqa: PT017 -- never because of how it is written
        assume(False)
    assert edit.put(made, TOML_PLACE) == made
    assert edit.without(made, [TOML_PLACE]) == data


@given(texts(), st.sampled_from(JSON_PLACES), st.data())
def test_what_others_edit_meanwhile_stays(text: str, place: Place, data: st.DataObject) -> None:
    """Another program adds a member at the top, before or behind ours."""
    try:
        made = edit.put(text.encode(), place).decode()
    except edit.UnfitError:
        assume(False)
    opening = made.index("{") + 1
    assume("//" not in made[:opening])
    assume("/*" not in made[:opening])
    later = f'{made[:opening]}"theirs": 1, {made[opening:]}'
    rest = edit.without(later.encode(), [place])
    assert rest is not None
    assert b'"theirs": 1' in rest
    assert b"agentplane" not in rest


def test_our_entries_are_what_the_tool_reads() -> None:
    hooks = json.loads(edit.put(None, place_of("claude-code", "hooks")))
    (group,) = hooks["hooks"]["SessionStart"]
    assert (
        group["hooks"][0]["command"].split("&& ")[1]
        == "agentplane hook session-start --tool claude-code || true"
    )
    server = json.loads(edit.put(None, place_of("claude-code", "mcp")))
    assert server["mcpServers"]["agentplane"] == {"type": "stdio", "command": "agentplane", "args": ["mcp", "--tool", "claude-code"], "alwaysLoad": True}  # fmt: skip
    codex = tomllib.loads(edit.put(None, place_of("codex", "mcp")).decode())
    assert codex == {
        "mcp_servers": {"agentplane": {"command": "agentplane", "args": ["mcp", "--tool", "codex"]}}
    }
    cursor = json.loads(edit.put(None, place_of("cursor", "hooks")))
    assert cursor["version"] == 1
    assert "agentplane hook stop --tool cursor" in cursor["hooks"]["stop"][0]["command"]
    opencode = json.loads(edit.put(None, place_of("opencode", "mcp")))
    assert opencode["mcp"]["agentplane"]["command"] == ["agentplane", "mcp", "--tool", "opencode"]
    assert "SessionStart" in json.loads(edit.put(None, place_of("factory", "hooks")))
    kiro = json.loads(edit.put(None, place_of("kiro", "hooks")))
    assert kiro["hooks"][0]["trigger"] == "SessionStart"


def test_no_command_holds_what_a_tool_would_put_a_variable_in_for() -> None:
    assert all(b"$" not in edit.put(None, place) for place in PLACES)


def hooks_of(groups: list[Any]) -> bytes:
    return json.dumps({"hooks": {"Stop": groups}}, indent=2).encode()


def test_our_command_in_a_group_of_theirs_goes_and_theirs_stays() -> None:
    place = place_of("claude-code", "hooks")
    ours = {"type": "command", "command": "agentplane hook stop --tool claude-code"}
    theirs = {"type": "command", "command": "make lint"}
    mixed = hooks_of([{"matcher": "", "hooks": [theirs, ours]}, {"hooks": [ours, ours]}])
    assert edit.without(mixed, [place]) == hooks_of([{"matcher": "", "hooks": [theirs]}])


def test_an_entry_of_before_is_brought_up_to_date_where_it_stands() -> None:
    place = place_of("claude-code", "hooks")
    data = edit.put(hooks_of([{"hooks": [{"type": "command", "command": "make"}]}]), place)
    guard = b"command -v agentplane >/dev/null 2>&1 && agentplane hook stop --tool claude-code || true"
    older = data.replace(guard, b"agentplane hook stop --tool claude-code --old")
    assert edit.state(older, place) == "old"
    assert edit.put(older, place) == data
    server = place_of("claude-code", "mcp")
    made = edit.put(None, server)
    assert edit.put(made.replace(b'"claude-code"', b'"other"'), server) == made
    codex = edit.put(b"a = 1\n", TOML_PLACE)
    assert edit.put(codex.replace(b'"codex"', b'"other"'), TOML_PLACE) == codex


@pytest.mark.parametrize(
    "command",
    [
        "cd app && agentplane hook stop --tool claude-code",
        "agentplane hook stop --tool claude-code; notify-send done",
        "agentplane hook stop --tool claude-code | tee -a log",
        "time /opt/bin/agentplane hook stop --tool claude-code || true",
    ],
)
def test_what_a_person_put_around_our_command_stays(command: str) -> None:
    place = place_of("claude-code", "hooks")
    data = hooks_of([{"hooks": [{"type": "command", "command": command}]}])
    made = edit.put(data, place)
    assert json.dumps(command).encode() in made
    assert made.count(b"hook stop") == 1
    assert edit.state(made, place) == "current"
    assert edit.without(made, [place]) == data


def test_where_a_person_says_the_program_lies_stays_until_it_goes() -> None:
    place = place_of("claude-code", "hooks")
    ours = {"type": "command", "command": "/opt/bin/agentplane hook stop --tool claude-code"}
    theirs = {"type": "command", "command": "make lint"}
    made = edit.put(hooks_of([{"hooks": [theirs, ours]}]), place)
    assert b"/opt/bin/agentplane" in made
    assert made.count(b"hook stop") == 1
    assert edit.without(made, [place]) == hooks_of([{"hooks": [theirs]}])


def test_what_a_person_added_to_our_server_stays_until_it_goes() -> None:
    place = place_of("claude-code", "mcp")
    data = b'{"mcpServers": {"mine": {"command": "/opt/bin/agentplane", "args": ["mcp", "--tool", "claude-code"], "env": {"A": "b"}}}}'
    assert edit.put(data, place) == data
    assert edit.without(data, [place]) == b'{"mcpServers": {}}'


REFUSED = [
    ("claude-code", b'{"hooks": {', "isn't valid JSON"),
    ("claude-code", b"", "isn't valid JSON"),
    ("claude-code", b"[]", "no JSON object"),
    ("claude-code", b'{"hooks": []}', "no object"),
    ("claude-code", b'{"hooks": {"Stop": {}}}', "no array"),
    ("claude-code", b'{"hooks": {}, "hooks": {}}', "contains `hooks` twice"),
    ("claude-code", b'{"a": "\xff"}', "not UTF-8"),
    (
        "gemini-cli mcp",
        b'{"mcpServers": {"agentplane": {"command": "other"}}}',
        "already has a different MCP server",
    ),
    ("codex mcp", b"a = [", "isn't valid TOML"),
    ("codex mcp", b"mcp_servers = { x = 1 }\n", "has other content where"),
    ("codex mcp", b'[mcp_servers.agentplane]\ncommand = "other"\n', "already has a different MCP server"),
    ("codex mcp", b"\xef\xbb\xbfa = 1\n", "isn't valid TOML"),
]


@pytest.mark.parametrize(("name", "data", "why"), REFUSED)
def test_what_cannot_take_our_entries_is_said(name: str, data: bytes, why: str) -> None:
    tool, _, part = name.partition(" ")
    with pytest.raises(edit.UnfitError, match=why):
        edit.put(data, place_of(tool, part or "hooks"))


def test_a_server_of_ours_in_a_form_that_we_did_not_write_is_left() -> None:
    data = b'mcp_servers.agentplane = { command = "agentplane", args = ["mcp"] }\n'
    with pytest.raises(edit.UnfitError, match="form that agentplane can't edit"):
        edit.without(data, [TOML_PLACE])
