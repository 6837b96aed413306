"""The command settings: it lists, shows and changes settings, in the file that holds them."""

import os
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.plane.settings_table import SETTINGS
from tests.cli.conftest import Cli, Typing, cli, command  # noqa: F401 -- fixtures


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path / "home"


def test_every_setting_is_listed_with_its_value(plane: Plane, cli: Cli) -> None:  # noqa: F811
    plane.layout.config.write_text('[tools]\nrestart = "auto"\n')
    rows = {line.split()[0]: line for line in cli("settings").out.splitlines()}
    assert list(rows) == [setting.name for setting in SETTINGS]
    assert rows["tools.restart"].split() == ["tools.restart", '"auto"', ".agentplane/config.toml:2"]
    assert rows["tools.deliver"].endswith("true")


def test_one_setting_says_what_it_does_and_where_it_comes_from(plane: Plane, cli: Cli) -> None:  # noqa: F811
    out = cli("settings", "tools.restart").out
    assert 'tools.restart = "ask"' in out
    assert "no file" in out
    assert 'Values: "ask", "auto"' in out
    assert "sessions" in out.splitlines()[-1]
    plane.layout.config.write_text('[tools]\nrestart = "auto"\n')
    assert "Set in: .agentplane/config.toml:2" in cli("settings", "tools.restart").out


def test_it_is_changed_and_removed_without_touching_the_rest(plane: Plane, command: Cli) -> None:  # noqa: F811
    before = plane.layout.config.read_text()
    ran = command(Typing(), "settings", "tools.restart", "auto")
    assert (ran.code, ran.out) == (0, "")
    assert 'Set tools.restart to "auto" in .agentplane/config.toml.' in ran.err
    assert plane.store.settings().tools.restart == "auto"
    assert "Nothing to change" in command(Typing(), "settings", "tools.restart", "auto").err
    assert "Removed" in command(Typing(), "settings", "tools.restart", "--unset").err
    assert [line for line in plane.layout.config.read_text().split("\n") if line and line[0] not in "[#"] == [
        line for line in before.split("\n") if line and line[0] not in "[#"
    ]


def test_only_a_person_changes_what_the_project_shares(
    plane: Plane,
    home: Path,
    cli: Cli,  # noqa: F811
    command: Cli,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cli("settings", "gate.secret", "off").refused(3, "requires a person")
    monkeypatch.setenv("CLAUDECODE", "1")
    command(Typing(), "settings", "gate.secret", "off").refused(3, "requires a person")
    assert plane.store.settings().gate.secret == "refuse"
    assert cli("settings", "tui.ascii", "true").code == 0
    assert (home / ".config/agentplane/config.toml").read_text() == "[tui]\nascii = true\n"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["nope"], "Unknown setting: `nope`"),
        (["--unset"], "A setting is required"),
        (["tools.restart", "auto", "--unset"], "Can't combine"),
        (["kinds", "{}"], "Edit .agentplane/config.toml"),
        (["policy.auto_approve_confidence", "7"], "from 0 to 1|at most 1"),
        (["tools.restart", "maybe"], '"ask"'),
    ],
)
def test_what_cannot_be_set_is_an_error_that_writes_nothing(
    plane: Plane,
    command: Cli,  # noqa: F811
    words: list[str],
    wanted: str,
) -> None:
    before = plane.layout.config.read_bytes()
    said = command(Typing(), "settings", *words).refused(2)
    assert any(one in said for one in wanted.split("|")), said
    assert plane.layout.config.read_bytes() == before


def test_a_broken_file_is_named_after_the_list(plane: Plane, cli: Cli) -> None:  # noqa: F811
    plane.layout.config.write_text("[tools\n")
    ran = cli("settings")
    assert ran.code == 2
    assert ran.out.startswith("trust.hand_edits")
    assert "config.toml:1" in ran.err


def test_the_value_of_a_broken_file_is_not_called_a_default(plane: Plane, home: Path, cli: Cli) -> None:  # noqa: F811
    own = home / ".config/agentplane/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[tui]\nascii = true\npreview = 7\n")
    cli("settings", "tui.ascii").refused(2, "config.toml:3")
    cli("settings", "tui.ascii", "--json").refused(2, "config.toml:3")
    assert cli("settings", "tools.restart").code == 0
    own.write_text("[tui]\nascii = true\n")
    plane.layout.config.write_text("[tools\n")
    assert cli("settings", "tui.ascii").out.startswith("tui.ascii = true")
    cli("settings", "tui.preview").refused(2, "config.toml:1")
    cli("settings", "tools.restart").refused(2, "config.toml:1")


def test_the_json_has_each_setting(plane: Plane, cli: Cli) -> None:  # noqa: F811
    plane.layout.config.write_text('[tools]\nrestart = "auto"\n')
    rows = cli("settings", "--json").json("settings")["settings"]
    assert [row["name"] for row in rows] == [setting.name for setting in SETTINGS]
    (row,) = cli("settings", "tools.restart", "--json").json("settings")["settings"]
    assert (row["value"], row["default"], row["where"]) == (
        "auto",
        "ask",
        f".agentplane{os.sep}config.toml:2",
    )


def test_names_and_values_are_completed(plane: Plane) -> None:
    import click

    from agentplane.cli import complete
    from agentplane.cli.project.settings import settings_command

    context = click.Context(settings_command)
    name, value = settings_command.params[:2]
    assert [item.value for item in complete.settings(context, name, "tools.")] == [
        "tools.deliver",
        "tools.restart",
    ]
    context.params["name"] = "tools.restart"
    assert [item.value for item in complete.setting_values(context, value, "a")] == ["ask", "auto"]
    context.params["name"] = "tools.deliver"
    assert {item.value for item in complete.setting_values(context, value, "")} == {"true", "false"}
