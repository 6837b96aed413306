"""Changing texts on the screen and in an editor. Nothing that was typed is ever lost."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from textual.app import SuspendNotSupported
from textual.pilot import Pilot

from agentplane.api import Plane
from agentplane.errors import PlaneError
from agentplane.plane import drafts
from agentplane.plane.derived import cache
from agentplane.tui.screens.entry import editor as editing
from agentplane.tui.screens.entry.editor import EditScreen
from agentplane.tui.screens.entry.safe_area import SafeArea
from agentplane.tui.widgets.modals.choose_modal import Pick
from tests.conftest import decision
from tests.tui.stand import Stand, drive, words_on


@pytest.fixture
def entry(plane: Plane) -> str:
    return plane.inbox.approve([plane.propose(decision("Use Textual.", rationale="It is there."))]).ids[-1]


def screen_of(app: Stand, id_: str) -> EditScreen:
    """The whole text of an entry, as it is edited where no form can show it."""
    draft = editing.of_entry(app.shown.memory, app.shown.memory.get(id_), app.shown.today)
    return EditScreen(msgspec.structs.replace(draft, fields=None))


def drafts_of(plane: Plane) -> list[str]:
    return [path.read_text() for path in cache.drafts(plane.layout)]


def put(screen: EditScreen, old: str, new: str) -> None:
    assert isinstance(screen.area, SafeArea)
    screen.area.text = screen.area.text.replace(old, new)


def test_saving_is_one_op_and_undo_takes_it_back(plane: Plane, entry: str) -> None:
    app = Stand(plane)
    screen = screen_of(app, entry)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        put(screen, "Textual", "Rich")
        await pilot.press("ctrl+s")
        await app.calm(pilot)
        assert app.screen is not screen

    drive(app, steps, screen=screen)
    assert plane.memory.read().get(entry).statement == "Use Rich."
    assert plane.memory.read().get(entry).trusted
    assert [op.verb for op in app.ops] == ["edit"]
    assert drafts_of(plane) == []
    plane.history.undo()
    assert plane.memory.read().get(entry).statement == "Use Textual."


def test_keys_are_typed_and_not_taken_for_verbs(plane: Plane, entry: str) -> None:
    app = Stand(plane)
    screen = screen_of(app, entry)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("a", "r", "u", "q", "A")
        assert screen.area.text.endswith("aruqA")
        assert app.ops == []

    drive(app, steps, screen=screen)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("id: DEC-001", "id: DEC-002", "The ID can't be changed"),
        ("status: accepted", "status: maybe", "Invalid status `maybe`."),
        ("---\nid", "id", "The text isn't a single entry."),
    ],
)
def test_what_the_plane_would_refuse_is_said_and_the_text_stays(
    plane: Plane, entry: str, old: str, new: str, said: str
) -> None:
    app = Stand(plane)
    screen = screen_of(app, entry)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        put(screen, old, new)
        await pilot.press("ctrl+s")
        await app.calm(pilot)
        assert app.screen is screen
        assert said in words_on(app)
        assert new in screen.area.text
        assert app.ops == []

    drive(app, steps, screen=screen)


def test_where_the_entry_was_changed_meanwhile_the_text_stays(plane: Plane, entry: str) -> None:
    app = Stand(plane)
    screen = screen_of(app, entry)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        put(screen, "Textual", "Rich")
        memory = plane.memory.read()
        old = memory.get(entry)
        core = memory.snapshot.core(old.file, old.id) or b""
        plane.memory.edit(entry, core.replace(b"Textual", b"Curses"), old.digest)
        await pilot.press("ctrl+s")
        await app.calm(pilot)
        assert app.screen is screen
        assert "was changed while you were editing it" in words_on(app)
        assert "Use Rich." in screen.area.text
        assert any("Use Rich." in draft for draft in drafts_of(plane))

    drive(app, steps, screen=screen)
    assert plane.memory.read().get(entry).statement == "Use Curses."


def test_leaving_unchanged_asks_nothing(plane: Plane, entry: str) -> None:
    app = Stand(plane)
    screen = screen_of(app, entry)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("ctrl+s")
        assert "No changes to save. Press esc to close the editor." in words_on(app)
        await pilot.press("escape")
        assert app.screen is not screen

    drive(app, steps, screen=screen)
    assert app.ops == []


@pytest.mark.parametrize(("answer", "stays", "kept"), [("1", True, None), ("2", False, 0), ("3", False, 1)])
def test_leaving_with_a_changed_text_asks(
    plane: Plane, entry: str, answer: str, stays: bool, kept: int | None
) -> None:
    app = Stand(plane)
    screen = screen_of(app, entry)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        put(screen, "Textual", "Rich")
        await pilot.press("escape")
        assert isinstance(app.screen, Pick)
        await pilot.press(answer)
        await app.calm(pilot)
        assert (app.screen is screen) is stays

    drive(app, steps, screen=screen)
    if kept is not None:
        assert len(drafts_of(plane)) == kept
    assert plane.memory.read().get(entry).statement == "Use Textual."


def test_what_is_typed_is_kept_before_it_is_saved(
    plane: Plane, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terminal may be closed at any moment."""
    monkeypatch.setattr(editing, "_REST", 0.01)
    app = Stand(plane)
    screen = screen_of(app, entry)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        for old, new in (("Textual", "Rich"), ("Rich", "Curses")):
            put(screen, old, new)
            async with asyncio.timeout(60):
                while [f"Use {new}." in draft for draft in drafts_of(plane)] != [True]:
                    await pilot.pause(0.01)

    drive(app, steps, screen=screen)


def test_it_is_kept_also_while_somebody_goes_on_typing(
    plane: Plane, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editing, "_REST", 0.3)
    app = Stand(plane)
    screen = screen_of(app, entry)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        for _ in range(40):
            put(screen, "Textual", "Textual x")
            await pilot.pause(0.05)
            if drafts_of(plane):
                break
        assert drafts_of(plane)

    drive(app, steps, screen=screen)


def test_who_wants_to_keep_it_in_a_file_stays_where_there_can_be_none(
    plane: Plane, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise PlaneError("the disk is read-only")

    monkeypatch.setattr(drafts, "keep", full)
    app = Stand(plane)
    screen = screen_of(app, entry)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        put(screen, "Textual", "Rich")
        await pilot.press("escape", "3")
        await app.calm(pilot)
        assert app.screen is screen
        assert "Can't save the draft: the disk is read-only" in words_on(app)
        assert "Use Rich." in screen.area.text

    drive(app, steps, screen=screen)


def test_what_is_written_when_the_program_ends_is_kept_and_named(plane: Plane, entry: str) -> None:
    app = Stand(plane)
    screen = screen_of(app, entry)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        put(screen, "Textual", "Rich")

    drive(app, steps, screen=screen)
    assert ["Use Rich." in Path(path).read_text() for path in app.unsaved_drafts] == [True]

    again = Stand(plane)

    async def told(pilot: Pilot[None], app: Stand) -> None:
        await app.calm(pilot)
        assert f"You have an earlier draft of this text in {' '.join(kept)}" in " ".join(
            words_on(app).split()
        )

    kept = app.unsaved_drafts
    drive(again, told, (200, 40), screen_of(again, entry))


def test_a_candidate_is_edited_too(plane: Plane) -> None:
    id_ = plane.propose(decision("Use Texual."))
    app = Stand(plane)
    screen = screen_of(app, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        put(screen, "Texual", "Textual")
        await pilot.press("ctrl+s")
        await app.calm(pilot)

    drive(app, steps, screen=screen)
    assert plane.memory.read().get(id_).statement == "Use Textual."


def test_hidden_characters_are_seen_and_kept(plane: Plane) -> None:
    id_ = plane.propose(decision("Use\u200b it."))
    path = plane.layout.memory / "candidates.md"
    path.write_bytes(path.read_bytes().replace(b" it.", b" it\x1b[31m."))
    app = Stand(plane)
    screen = screen_of(app, id_)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        assert "\x1b" not in words_on(app)
        assert "Use� it�[31m." in words_on(app)
        assert "\x1b" in screen.area.text

    drive(app, steps, screen=screen)


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The headless driver cannot hand over a terminal; here it needs not."""

    class Suspended:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(Stand, "suspend", lambda _: Suspended())


def editor(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(path))


@pytest.mark.usefixtures("handed")
@pytest.mark.parametrize(
    ("script", "statement", "open_still"),
    [
        ('sed -i s/Textual/Rich/ "$1"', "Use Rich.", False),
        ("true", "Use Textual.", False),
        ('sed -i "s/^id: .*/id: X-1/" "$1"', "Use Textual.", True),
        ('sed -i s/Textual/Rich/ "$1"; exit 3', "Use Textual.", False),
        ('rm "$1"', "Use Textual.", False),
    ],
)
def test_the_users_own_editor(
    plane: Plane, entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    script: str, statement: str, open_still: bool,
) -> None:  # fmt: skip
    editor(tmp_path, script, monkeypatch)
    app = Stand(plane)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await editing.edit_outside(
            app, editing.of_entry(app.shown.memory, app.shown.memory.get(entry), app.shown.today)
        )
        await app.calm(pilot)
        assert isinstance(app.screen, EditScreen) is open_still
        if open_still:
            assert "The ID can't be changed" in words_on(app)

    drive(app, steps)
    assert plane.memory.read().get(entry).statement == statement
    assert len(drafts_of(plane)) == (open_still or "exit 3" in script)


def test_where_the_terminal_cannot_be_handed_over_one_edits_here(plane: Plane, entry: str) -> None:
    app = Stand(plane)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        with pytest.raises(SuspendNotSupported), app.suspend():
            pass
        await editing.edit_outside(
            app, editing.of_entry(app.shown.memory, app.shown.memory.get(entry), app.shown.today)
        )
        await app.calm(pilot)
        assert isinstance(app.screen, EditScreen)

    drive(app, steps)
    assert drafts_of(plane) == []


def test_where_there_is_no_editor_one_edits_here(
    plane: Plane, entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    app = Stand(plane)
    said: list[str] = []
    monkeypatch.setattr(app, "notify", lambda text, **_: said.append(text))

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await editing.edit_outside(
            app, editing.of_entry(app.shown.memory, app.shown.memory.get(entry), app.shown.today)
        )
        await app.calm(pilot)
        assert isinstance(app.screen, EditScreen)

    drive(app, steps)
    assert said == ["$EDITOR isn't set. Edit the text here instead."]


@pytest.mark.parametrize("break_", ["\r", "\u2028", "\x0b"])
def test_a_text_that_a_screen_would_change_goes_to_the_editor(plane: Plane, break_: str) -> None:
    id_ = plane.propose(decision("Use it."))
    path = plane.layout.memory / "candidates.md"
    path.write_bytes(path.read_bytes().replace(b"Use it.", f"Use{break_}it.".encode()))
    app = Stand(plane)
    called = []

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await editing.edit_here(
            app, editing.of_entry(app.shown.memory, app.shown.memory.get(id_), app.shown.today)
        )
        await app.calm(pilot)

    with pytest.MonkeyPatch.context() as patch:

        async def outside(*_: object) -> None:
            called.append(1)

        patch.setattr(editing, "edit_outside", outside)
        drive(app, steps)
    assert called == [1]


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20), (40, 12), (12, 5)])
def test_every_size(plane: Plane, entry: str, size: tuple[int, int]) -> None:
    app = Stand(plane)

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("x")
        assert app.screen.query_one("TextArea").size.height >= 1

    drive(app, steps, size, screen_of(app, entry))
