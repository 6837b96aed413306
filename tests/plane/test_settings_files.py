"""The values of the two settings files, and which one counts."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.commands import SetSetting
from agentplane.errors import BadInput
from agentplane.extensions import POINTS
from agentplane.plane import settings, settings_files, settings_read, settings_table
from agentplane.plane.settings import Tui


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config" / "agentplane" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def values(plane: Plane) -> dict[str, tuple[object, str, str]]:
    return {one.setting.name: (one.value, one.source, one.where) for one in plane.settings.look().settings}


def test_every_setting_has_a_row_in_the_table() -> None:
    assert [one.name for one in settings_table.SETTINGS] == settings_read.names(settings.Settings)
    assert {one.name for one in settings_table.SETTINGS if one.is_personal} == {
        "tui.theme",
        "tui.ascii",
        "tui.preview",
        "tui.keys",
    }


def test_the_variable_of_every_extension_point_is_in_the_table() -> None:
    assert {point.variable for point in POINTS} <= {one.name for one in settings_table.VARIABLES}


def test_the_persons_own_value_counts_and_says_where_it_is(plane: Plane, own: Path) -> None:
    plane.layout.config.write_text('# c\n[tui]\ntheme = "nord"\nascii = true\n[hooks]\nask = false\n')
    own.write_text('[tui]\n\ntheme = "gruvbox"\n')
    found = values(plane)
    assert found["tui.theme"] == ("gruvbox", "personal", f"{own}:3")
    assert found["tui.ascii"] == (True, "project", ".agentplane/config.toml:4")
    assert found["hooks.ask"] == (False, "project", ".agentplane/config.toml:6")
    assert found["tui.preview"] == ("auto", "default", "")
    merged = settings_files.personal(plane.store.settings().tui)
    assert merged == Tui(theme="gruvbox", ascii=True)


def test_keys_are_replaced_one_by_one(plane: Plane, own: Path) -> None:
    plane.layout.config.write_text('[tui.keys]\nundo = "z"\ncopy = "c"\n')
    own.write_text('[tui.keys]\ncopy = "X"\n')
    assert settings_files.personal(plane.store.settings().tui).keys == {"undo": "z", "copy": "X"}
    assert values(plane)["tui.keys"][0] == {"undo": "z", "copy": "X"}


def test_settings_of_the_project_are_errors_in_the_persons_own_file(plane: Plane, own: Path) -> None:
    own.write_text("# mine\n[trust]\ntools_may_approve = true\n")
    with pytest.raises(BadInput, match="Unknown setting: `trust`") as caught:
        settings_files.personal(Tui())
    assert caught.value.where == f"{own}:2"
    view = plane.settings.look()
    assert [(one.file.is_personal, one.line) for one in view.broken] == [(True, 2)]
    assert plane.store.settings().trust.tools_may_approve is False


def test_a_terminal_that_draws_no_signs_is_named(
    plane: Plane, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.write_text("[tui]\nascii = false\n")
    monkeypatch.setenv("TERM", "linux")
    assert values(plane)["tui.ascii"] == (True, "environment", "TERM=linux")


def test_a_personal_setting_is_written_into_the_persons_own_file(plane: Plane, own: Path) -> None:
    before = plane.layout.config.read_bytes()
    own.parent.rmdir()
    assert plane.do(SetSetting("tui.ascii", True))
    assert own.read_text() == "[tui]\nascii = true\n"
    assert plane.layout.config.read_bytes() == before
    assert plane.do(SetSetting("tui.ascii", None))
    assert own.read_text() == "[tui]\n"


def test_a_setting_that_does_not_exist_is_refused(plane: Plane) -> None:
    with pytest.raises(BadInput, match=r"Unknown setting: `tools\.restarts`"):
        plane.preview(SetSetting("tools.restarts", "auto"))
