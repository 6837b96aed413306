"""The settings screen, over real files."""

import os
import stat
from pathlib import Path

import pytest
from textual.widgets import Static

from agentplane.api import Plane
from agentplane.plane.settings_table import SETTINGS, VARIABLES
from agentplane.tui.screens.settings.screen import SettingsScreen
from agentplane.tui.widgets.footer import KeyBar, StatusBar
from agentplane.tui.widgets.modals.choose_modal import Pick
from agentplane.tui.widgets.modals.line_modal import LineDialog
from agentplane.tui.widgets.modals.question_modal import Question
from tests.tui.conftest import Sitting, sit


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config" / "agentplane" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


async def opened(sitting: Sitting) -> SettingsScreen:
    await sitting.press("comma")
    await sitting.until(lambda: isinstance(sitting.app.screen, SettingsScreen), "the settings")
    screen = sitting.app.screen
    assert isinstance(screen, SettingsScreen)
    await sitting.until(lambda: screen.view.listing.rows and screen.panes.detail, "the rows")
    return screen


async def at(sitting: Sitting, screen: SettingsScreen, id_: str) -> None:
    assert screen.view.seek(id_)
    screen.show_detail()
    await sitting.until(lambda: screen.panes.detail._page_id == id_, f"what is said of {id_}")


async def asked(sitting: Sitting, key: str, kind: type) -> None:
    await sitting.press(key)
    await sitting.until(lambda: isinstance(sitting.app.screen, kind), f"{key} asks")


def text_of(path: Path) -> str:
    return path.read_text()


async def row_is(sitting: Sitting, screen: SettingsScreen, id_: str, text: str, right: str) -> None:
    def found() -> bool:
        rows = {row.id: (row.text, row.right) for row in screen.view.listing.rows}
        return rows.get(id_) == (text, right)

    await sitting.until(found, f"{text} ({right})")
    await sitting.calm()


def about(sitting: Sitting) -> str:
    """The description of the row under the cursor, without its spaces and line breaks."""
    return "".join("".join(line.partition("│")[2] for line in sitting.screen.splitlines()).split())


def dialog(sitting: Sitting) -> str:
    """The text of the open dialog, without its line breaks."""
    return " ".join(" ".join(str(one.render()) for one in sitting.app.screen.query(Static)).split())


def bare(text: str) -> str:
    return "".join(text.split())


def said(sitting: Sitting) -> str:
    return sitting.app.screen.query_one(StatusBar).plain


def test_every_setting_is_listed_with_its_value_default_file_and_page(plane: Plane) -> None:
    plane.layout.config.write_text("[inbox]\ndaily_limit = 5\n")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        ids = [row.id for row in screen.view.listing.rows]
        assert sorted(ids) == sorted(
            [*(one.name for one in SETTINGS), *(f"${one.name}" for one in VARIABLES)]
        )
        for setting in SETTINGS:
            await at(sitting, screen, setting.name)
            for text in (
                setting.what,
                setting.more,
                f"Docs docs/{setting.page}",
                "applies only to you" if setting.is_personal else "committed with the project",
            ):
                assert bare(text) in about(sitting)
        await at(sitting, screen, "inbox.daily_limit")
        assert bare("Value 5 This value comes from .agentplane/config.toml:2. Default 0") in about(sitting)
        await row_is(sitting, screen, "inbox.daily_limit", "inbox.daily_limit = 5", "project")
        await at(sitting, screen, "$NO_COLOR")
        assert bare("set it in your shell") in about(sitting)

    sit(plane, steps, size=(160, 60))


def test_it_opens_from_the_palette_and_closes_with_q(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+p")
        await sitting.type("preferences")
        await sitting.found("settings")
        await sitting.press("enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, SettingsScreen), "the settings")
        assert ", Settings" in sitting.screen.splitlines()[1]
        await sitting.press("q")
        assert sitting.app.screen is sitting.inbox
        assert "Settings" not in sitting.screen.splitlines()[1]

    sit(plane, steps)


def test_a_personal_setting_is_changed_at_once_in_the_persons_own_file(plane: Plane, own: Path) -> None:
    own.write_text("# mine\n[tui]\n# plain\nascii = false # for the old terminal\n")
    before = plane.layout.config.read_bytes()

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        assert not sitting.app.plain
        await at(sitting, screen, "tui.ascii")
        await sitting.press("e")
        await row_is(sitting, screen, "tui.ascii", "tui.ascii = true", "yours")
        assert text_of(own) == "# mine\n[tui]\n# plain\nascii = true # for the old terminal\n"
        assert sitting.app.plain
        await sitting.press("backspace")
        await row_is(sitting, screen, "tui.ascii", "tui.ascii = false", "")
        assert text_of(own) == "# mine\n[tui]\n# plain\n# for the old terminal\n"
        assert not sitting.app.plain

    sit(plane, steps)
    assert plane.layout.config.read_bytes() == before


def test_a_theme_is_picked_and_takes_effect(plane: Plane, own: Path) -> None:
    plane.layout.config.write_text('[tui]\ntheme = "gruvbox"\n')

    async def steps(sitting: Sitting) -> None:
        assert sitting.app.theme == "gruvbox"
        screen = await opened(sitting)
        await at(sitting, screen, "tui.theme")
        assert bare("This value comes from .agentplane/config.toml:2.") in about(sitting)
        await asked(sitting, "e", Pick)
        assert "auto  (default)" in sitting.screen
        assert "gruvbox  (current)" in sitting.screen
        await sitting.press("1")
        await row_is(sitting, screen, "tui.theme", 'tui.theme = "auto"', "yours")
        assert sitting.app.theme == "agentplane-dark"

    sit(plane, steps, size=(120, 60))
    assert own.read_text() == '[tui]\ntheme = "auto"\n'
    assert plane.layout.config.read_text() == '[tui]\ntheme = "gruvbox"\n'


def test_a_committed_setting_is_changed_only_after_a_question(plane: Plane) -> None:
    config = plane.layout.config
    config.write_text("# ours\n[tools] # served\n# after each decision\ndeliver = true # yes\n")
    before = config.read_bytes()

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "tools.deliver")
        await asked(sitting, "e", Question)
        assert "Set tools.deliver to false?" in sitting.screen
        assert "This changes `tools.deliver` in .agentplane/config.toml. The file is committed" in dialog(
            sitting
        )
        await sitting.press("e", "enter", "escape")
        await sitting.calm()
        assert config.read_bytes() == before
        await asked(sitting, "e", Question)
        await sitting.press("y")
        await row_is(sitting, screen, "tools.deliver", "tools.deliver = false", "project")
        assert "Set tools.deliver to false in .agentplane/config.toml" in said(sitting)
        assert config.read_bytes() == before.replace(b"true", b"false")
        await asked(sitting, "backspace", Question)
        assert "Reset tools.deliver to its default, true?" in sitting.screen
        await sitting.press("y")
        await row_is(sitting, screen, "tools.deliver", "tools.deliver = true", "")

    sit(plane, steps)
    assert config.read_text() == "# ours\n[tools] # served\n# after each decision\n# yes\n"


def test_a_choice_is_picked_and_asked_about(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "gate.size")
        await asked(sitting, "e", Pick)
        assert "flag  (current, default)" in sitting.screen
        await sitting.press("3")
        await sitting.until(lambda: isinstance(sitting.app.screen, Question), "asked")
        await sitting.press("y")
        await row_is(sitting, screen, "gate.size", 'gate.size = "off"', "project")

    sit(plane, steps)
    assert plane.store.settings().gate.size == "off"


def test_an_invalid_value_is_refused_in_words_and_the_field_stays(plane: Plane) -> None:
    before = plane.layout.config.read_bytes()

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "inbox.daily_limit")
        await asked(sitting, "e", LineDialog)
        for wrong in ("many", "-1", "2.5", ""):
            await sitting.press("ctrl+u", "ctrl+k")
            await sitting.type(wrong)
            await sitting.press("enter")
            assert isinstance(sitting.app.screen, LineDialog)
            assert "Use a whole number of at least 0 and at most 100,000." in dialog(sitting)
        assert plane.layout.config.read_bytes() == before
        await sitting.press("ctrl+u", "ctrl+k", "1", "2", "enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, Question), "asked")
        await sitting.press("y")
        await row_is(sitting, screen, "inbox.daily_limit", "inbox.daily_limit = 12", "project")

    sit(plane, steps)
    assert plane.store.settings().inbox.daily_limit == 12


def test_a_change_that_contradicts_another_setting_is_not_asked_about(plane: Plane) -> None:
    before = plane.layout.config.read_bytes()

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "trust.require_signatures")
        await sitting.press("e")
        await sitting.until(lambda: "`trust.allowed_signers` is empty" in said(sitting), "refused")
        assert sitting.app.screen is screen

    sit(plane, steps)
    assert plane.layout.config.read_bytes() == before


def test_a_list_and_an_unset_value_are_typed(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        for name, text in (("runs.share", '["summary.md"]'), ("policy.auto_approve_confidence", "0.9")):
            await at(sitting, screen, name)
            await asked(sitting, "e", LineDialog)
            await sitting.press("ctrl+u", "ctrl+k")
            await sitting.type(text)
            await sitting.press("enter")
            await sitting.until(lambda: isinstance(sitting.app.screen, Question), "asked")
            await sitting.press("y")
            await row_is(sitting, screen, name, f"{name} = {text}", "project")
        await asked(sitting, "e", LineDialog)
        await sitting.press("ctrl+u", "ctrl+k", "enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, Question), "asked")
        await sitting.press("y")
        await row_is(
            sitting, screen, "policy.auto_approve_confidence", "policy.auto_approve_confidence = not set", ""
        )

    sit(plane, steps)
    assert plane.store.settings().runs.share == ("summary.md",)


def test_no_committed_setting_is_changed_where_no_person_decides(plane: Plane, own: Path) -> None:
    before = plane.layout.config.read_bytes()

    def check(_: object, what: str) -> None:
        from agentplane.errors import Refused

        raise Refused(f"{what} is for people")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "tools.deliver")
        await sitting.press("e")
        await sitting.until(lambda: "is for people" in said(sitting), "refused")
        assert sitting.app.screen is screen
        await at(sitting, screen, "tui.ascii")
        await sitting.press("e")
        await row_is(sitting, screen, "tui.ascii", "tui.ascii = true", "yours")

    sit(plane, steps, check=check)
    assert plane.layout.config.read_bytes() == before


def test_a_value_of_the_environment_is_named_and_stays(
    plane: Plane, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "linux")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "tui.ascii")
        assert bare("TERM=linux in the environment sets this value.") in about(sitting)
        await sitting.press("e")
        await sitting.until(lambda: "TERM=linux in the environment sets this value" in said(sitting), "why")
        await sitting.press("backspace")
        await at(sitting, screen, "$EDITOR")
        await sitting.press("e", "E")
        await sitting.until(lambda: "set it in your shell" in said(sitting), "why")

    sit(plane, steps)
    assert not own.exists()


@pytest.mark.parametrize("at_start", [True, False])
def test_a_broken_file_is_shown_with_its_line_and_not_overwritten(
    plane: Plane, own: Path, at_start: bool
) -> None:
    broken = b'# ours\n[tools]\nrestart = "never"\n'

    def damage() -> None:
        plane.layout.config.write_bytes(broken)

    async def steps(sitting: Sitting) -> None:
        if at_start:
            await sitting.until(lambda: sitting.app.notices.unreadable, "not readable")
        screen = await opened(sitting)
        damage()
        await sitting.press("ctrl+r")
        path = ".agentplane/config.toml"

        def has_row() -> bool:
            return any(row.id == path for row in screen.view.listing.rows)

        await sitting.until(has_row, "the broken file")
        await at(sitting, screen, path)
        await sitting.until(lambda: f"{path}:3:`tools.restart`" in about(sitting), "its line")
        assert bare('Use "ask" or "auto".') in about(sitting)
        for key in ("e", "backspace"):
            await sitting.press(key)
            await sitting.until(lambda: "fix the file first" in said(sitting), "why")
        await sitting.press("f4")
        await sitting.until(lambda: sitting.app.screen is screen, "no question")
        assert plane.layout.config.read_bytes() == broken
        # The settings of the person don't depend on the file of the project.
        await at(sitting, screen, "tui.preview")
        await asked(sitting, "e", Pick)
        await sitting.press("2")
        await row_is_read(sitting, screen, 'tui.preview = "right"')
        plane.layout.config.write_text("[tools]\ndeliver = false\n")
        await row_is(sitting, screen, "tools.deliver", "tools.deliver = false", "project")
        assert not has_row()

    if at_start:
        damage()
    sit(plane, steps, size=(160, 40), calm=False)
    assert own.read_text() == '[tui]\npreview = "right"\n'


async def row_is_read(sitting: Sitting, screen: SettingsScreen, text: str) -> None:
    await sitting.until(lambda: text in [row.text for row in screen.view.listing.rows], text)


def test_a_broken_file_of_the_person_is_named_and_the_project_is_used(plane: Plane, own: Path) -> None:
    broken = "[tui]\nascii = true\nthemes = 7\n"
    own.write_text(broken)

    async def steps(sitting: Sitting) -> None:
        assert f"{own}:3" in sitting.said.replace("\n", "")
        assert not sitting.app.plain
        screen = await opened(sitting)
        id_ = screen.view.listing.rows[0].id
        await at(sitting, screen, id_)
        assert bare("Unknown setting: `tui.themes`") in about(sitting)
        assert bare("Did you mean `tui.theme`?") in about(sitting)
        await at(sitting, screen, "tui.ascii")
        await sitting.press("e")
        await sitting.until(lambda: "Unknown setting: `tui.themes`" in said(sitting), "refused")

    sit(plane, steps, size=(200, 40))
    assert own.read_text() == broken


def test_the_file_is_opened_in_the_editor_at_the_line(
    plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane.layout.config.write_text("# ours\n\n[hooks]\nask = false\n")
    script, noted = tmp_path / "vi", tmp_path / "noted"
    script.write_text(f'#!/bin/sh\necho "$@" > {noted}\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VISUAL", str(script))

    async def steps(sitting: Sitting) -> None:
        from contextlib import nullcontext

        monkeypatch.setattr(sitting.app, "suspend", nullcontext)
        screen = await opened(sitting)
        for name in ("hooks.ask", "kinds", "tui.keys"):
            await at(sitting, screen, name)
            await sitting.press("E")
            await sitting.until(noted.exists, "opened")
            lines.append(noted.read_text().strip())
            noted.unlink()
        await at(sitting, screen, "kinds")
        await sitting.press("e")
        await sitting.until(
            lambda: "this setting is a table (E to edit it in the file)" in said(sitting), "why"
        )

    lines: list[str] = []
    sit(plane, steps)
    own = os.path.join(os.environ["XDG_CONFIG_HOME"], "agentplane", "config.toml")
    assert lines == [f"+4 {plane.layout.config}", str(plane.layout.config), own]


def test_a_filter_finds_settings_by_what_they_do_and_by_who_gets_them(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        for typed, found in (("outdated", ["tools.restart"]), ("personal ascii", ["tui.ascii"])):
            await sitting.press("slash")
            await sitting.type(typed)
            await sitting.until(
                lambda found=found: [row.id for row in screen.view.listing.shown] == found, typed
            )
            await sitting.press("escape")

    sit(plane, steps)


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("no_color", [False, True])
def test_it_fits_every_width_with_and_without_colors(
    plane: Plane, width: int, no_color: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    plane.layout.config.write_text("[hooks]\nask = false\n")

    async def steps(sitting: Sitting) -> None:
        screen = await opened(sitting)
        await at(sitting, screen, "hooks.ask")
        lines = sitting.screen.splitlines()
        assert all(len(line) <= width for line in lines)
        assert any("●" in line and "hooks.ask = false" in line for line in lines)
        assert any("·" in line and "= true" in line for line in lines)
        assert "e edit" in screen.query_one(KeyBar).render().plain
        await asked(sitting, "e", Question)
        assert "Set hooks.ask to true?" in sitting.screen
        assert "y change" in sitting.screen
        await sitting.press("escape", "enter")
        await sitting.until(lambda: "Docs" in sitting.screen or width < 80, "the description")

    sit(plane, steps, size=(width, 24))
