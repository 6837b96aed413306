"""Writing and editing entries as fields. The file keeps every byte that no changed field holds."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select, Static

from agentplane.api import Plane
from agentplane.memory.entry import Entry
from agentplane.plane.derived import cache
from agentplane.tui.screens.conflict.screen import ConflictScreen
from agentplane.tui.screens.entry import editor as editing
from agentplane.tui.screens.entry.editor import EditScreen
from agentplane.tui.screens.entry.form import EntryForm, PathSuggester
from agentplane.tui.screens.entry.safe_area import SafeArea
from agentplane.tui.widgets.modals.choose_modal import Pick
from tests.conftest import decision
from tests.tui.conftest import Sitting, on_shelf, sit, waiting
from tests.tui.stand import Stand, drive, words_on


SIZES = pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
FORMATTED = """---
id: {id}
type: decision   # the kind
tags: [ 'ui',  tui ]  # where
note: |-
   kept as
    it is
status: proposed
scope:
    - src/**   # all of it
proposed_by: Ada
updated: 2026-11-20
---
Decision: Use Texual.

Free text,  with two  spaces.
    code
"""


def form_of(sitting: Sitting) -> EntryForm:
    screen = sitting.app.screen
    assert isinstance(screen, EditScreen)
    assert isinstance(screen.area, EntryForm)
    return screen.area


def the_candidate(plane: Plane) -> Entry:
    (entry,) = plane.memory.read().inbox
    return entry


def problem(screen: EditScreen, name: str) -> str:
    return str(screen.query_one(f"#{name}-problem", Static).render())


@SIZES
def test_a_candidate_is_written_in_a_form_from_the_empty_inbox(plane: Plane, size: tuple[int, int]) -> None:
    (plane.layout.project / "src" / "billing").mkdir(parents=True)

    async def steps(sitting: Sitting) -> None:
        assert "n to write" in " ".join(sitting.screen.split()) or size == (40, 12)
        await sitting.press("ctrl+n")
        for label in ("Statement", "Rationale", "Kind", "Tags", "Scope", "Expires", "Evidence"):
            assert f"\n {label}" in sitting.screen
        await sitting.type("Use UTC.")
        await sitting.press("enter")
        await sitting.type("One zone")
        await sitting.press("enter")
        await sitting.type("for all.")
        await sitting.press("tab", "enter", "down", "enter", "tab")  # the second kind
        await sitting.type("time, api")
        await sitting.press("tab")
        await sitting.type("src/b")
        scope = form_of(sitting).query_one("#scope", Input)
        await sitting.until(lambda: scope._suggestion == "src/billing/", "the path is completed")
        await sitting.press("right", "tab")
        await sitting.type("2099-12-31")
        await sitting.press("enter")
        await sitting.type('"a, b.md", README.md')
        await sitting.press("ctrl+s")
        await sitting.calm()
        assert sitting.here == "Use UTC."
        await sitting.press("u")
        await sitting.calm()
        assert waiting(plane) == []
        await sitting.press("U")
        await sitting.calm()

    sit(plane, steps, size=size)
    entry = the_candidate(plane)
    assert entry.body.strip() == "Assumption: Use UTC.\nRationale: One zone\nfor all."
    assert (entry.head.type, entry.head.tags, entry.head.scope) == (
        "assumption",
        ("time", "api"),
        ("src/billing/",),
    )
    assert (entry.head.expires_at, entry.head.evidence) == ("2099-12-31", ("a, b.md", "README.md"))


@pytest.mark.parametrize("screen", ["1", "2", "3", "4", "5"])
def test_a_candidate_can_be_written_from_every_screen(three: Plane, screen: str) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press(screen, "ctrl+n")
        await sitting.type("Use UTC.")
        await sitting.press("ctrl+n")  # not one more form over the form
        await sitting.press("ctrl+s")
        await sitting.calm()
        assert not isinstance(sitting.app.screen, EditScreen)

    sit(three, steps)
    assert "Use UTC." in waiting(three)


def test_a_candidate_can_be_written_over_a_comparison(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use PostgreSQL 15 for the ledger."))])
    plane.propose(decision("Use PostgreSQL 16 for the ledger."))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("enter")
        comparison = sitting.app.screen
        assert isinstance(comparison, ConflictScreen)
        await sitting.press("ctrl+p")
        await sitting.type("new cand")
        await sitting.found("new candidate")
        await sitting.press("enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, EditScreen), "the form")
        await sitting.type("Use UTC.")
        await sitting.press("ctrl+s")
        await sitting.until(lambda: sitting.app.screen is comparison, "the comparison")
        await sitting.calm()
        assert sitting.app.screen is comparison

    sit(plane, steps)
    assert "Use UTC." in waiting(plane)


def test_the_palette_finds_it(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+p")
        await sitting.type("new cand")
        await sitting.found("new candidate")
        await sitting.press("enter")
        await sitting.until(lambda: isinstance(sitting.app.screen, EditScreen), "the form")

    sit(three, steps)


def test_nobody_writes_where_nobody_may_decide(plane: Plane) -> None:
    from agentplane.errors import Refused

    def refuse(*_: object) -> None:
        raise Refused("This shell was started by a tool.")

    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+n")
        assert sitting.app.screen is sitting.inbox
        assert "started by a tool" in sitting.said

    sit(plane, steps, check=refuse)


@pytest.fixture
def formatted(plane: Plane) -> Plane:
    """A candidate in a hand-formatted text that is known."""
    id_ = plane.propose(decision("Use Texual."))
    entry = plane.memory.read().get(id_)
    plane.memory.edit(id_, FORMATTED.format(id=id_).encode().rstrip(), entry.digest)
    return plane


@SIZES
def test_a_field_is_edited_and_every_other_byte_stays(formatted: Plane, size: tuple[int, int]) -> None:
    path = formatted.layout.memory / "candidates.md"
    before = path.read_bytes()

    async def steps(sitting: Sitting) -> None:
        await sitting.press("e")
        assert form_of(sitting).form.statement == "Use Texual."
        await sitting.press("left", *["backspace"] * 3, *"tual")
        await sitting.press("ctrl+s")
        await sitting.calm()
        assert sitting.app.screen is sitting.inbox

    sit(formatted, steps, size=size)
    assert path.read_bytes() == before.replace(b"Use Texual.", b"Use Textual.")


def test_the_kind_of_an_approved_entry_stays(three: Plane) -> None:
    first = three.memory.read().inbox[0]
    three.inbox.approve([first.id])

    async def steps(sitting: Sitting) -> None:
        await sitting.press("2", "e")
        await sitting.until(lambda: isinstance(sitting.app.screen, EditScreen), "the form")
        assert form_of(sitting).query_one("#kind", Select).disabled
        await sitting.press("tab", *"Why not", "tab", *"db", "ctrl+s")
        await sitting.calm()

    sit(three, steps)
    (entry,) = three.memory.read().shelf
    assert entry.body.strip() == f"Decision: {first.statement}\nRationale: Why not"
    assert (entry.head.tags, entry.head.status, entry.trusted) == (("db",), "accepted", True)


def test_days_count_from_the_day_of_the_plane(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plane.store, "clock", lambda: datetime(2040, 5, 1, tzinfo=UTC))

    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+n")
        await sitting.type("Use UTC.")
        form_of(sitting).query_one("#expires").focus()
        await sitting.type("30d")
        await sitting.press("ctrl+s")
        await sitting.calm()

    sit(plane, steps)
    assert the_candidate(plane).head.expires_at == "2040-05-31"


def test_problems_are_shown_beside_their_fields_and_the_first_one_gets_the_focus(plane: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+n", "ctrl+s")
        screen = sitting.app.screen
        assert isinstance(screen, EditScreen)
        assert problem(screen, "statement") == "Statement is required."
        await sitting.type("Use UTC.")
        assert problem(screen, "statement") == ""
        form_of(sitting).query_one("#expires").focus()
        await sitting.type("soon")
        assert problem(screen, "expires") != ""
        await sitting.press("tab", "ctrl+s")
        assert (
            problem(screen, "expires")
            == 'Invalid date "soon". Use a date such as 2026-12-31 or a number of days such as 30d.'
        )
        assert screen.focused is form_of(sitting).query_one("#expires")
        assert waiting(plane) == []
        await sitting.press(*["backspace"] * 4, "3", "0", "d", "ctrl+s")
        await sitting.calm()

    sit(plane, steps)
    assert waiting(plane) == ["Use UTC."]


def test_evidence_that_is_missing_is_said_and_can_be_saved(plane: Plane) -> None:
    (plane.layout.project / "app.py").touch()

    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+n")
        await sitting.type("Use UTC.")
        screen = sitting.app.screen
        assert isinstance(screen, EditScreen)
        form_of(sitting).query_one("#evidence").focus()
        await sitting.type("app.py, gone.py:3")
        await sitting.press("shift+tab")
        await sitting.until(
            lambda: problem(screen, "evidence") == "Evidence not found: gone.py:3", "the file is missing"
        )
        await sitting.press("tab", *["backspace"] * 11)
        assert problem(screen, "evidence") == ""
        await sitting.type(", ../x.py")
        await sitting.press("shift+tab")
        await sitting.until(
            lambda: problem(screen, "evidence") == "Evidence is outside the project: ../x.py", "it is outside"
        )
        await sitting.press("ctrl+s")
        await sitting.calm()

    sit(plane, steps)
    assert the_candidate(plane).head.evidence == ("app.py", "../x.py")


def test_what_the_gate_says_is_shown_and_the_fields_stay(plane: Plane) -> None:
    plane.inbox.reject([plane.propose(decision("Use UTC."))], "Local time is fine.")

    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+n")
        await sitting.type("Use UTC.")
        await sitting.press("ctrl+s")
        screen = sitting.app.screen
        assert isinstance(screen, EditScreen)
        await sitting.until(lambda: screen.query_one("#message").has_class("-error"), "the refusal")
        assert "Local time is fine." in " ".join(sitting.screen.split())
        assert form_of(sitting).form.statement == "Use UTC."

    sit(plane, steps)
    assert waiting(plane) == []


def test_a_person_is_asked_before_leaving_and_the_draft_is_kept(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editing, "_REST", 0.01)

    def kept() -> list[str]:
        return [path.read_text() for path in cache.drafts(plane.layout)]

    async def steps(sitting: Sitting) -> None:
        await sitting.press("ctrl+n")
        await sitting.type("Use UTC.")
        await sitting.press("tab", "tab", "tab")
        await sitting.type("time")
        await sitting.until(lambda: ["tags: [time]" in text for text in kept()] == [True], "the draft")
        assert "Decision: Use UTC." in kept()[0]
        await sitting.press("escape")
        assert isinstance(sitting.app.screen, Pick)
        await sitting.press("escape")
        assert form_of(sitting).form.tags == "time"
        await sitting.press("escape", "2")
        await sitting.until(lambda: not kept(), "the draft is gone")
        await sitting.press("ctrl+n", "x")

    app = sit(plane, steps)
    assert ["Decision: x" in Path(path).read_text() for path in app.unsaved_drafts] == [True]


def test_keys_of_other_screens_do_nothing_while_the_kind_has_the_focus(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("e", "tab", "tab")
        screen = sitting.app.screen
        assert screen.focused is form_of(sitting).query_one("#kind")
        await sitting.press("u", "U", "ctrl+z", "1", "2", "q", "a", "r", "ctrl+n", "ctrl+f", "ctrl+g")
        assert sitting.app.screen is screen
        await sitting.press("enter", "escape")
        assert sitting.app.screen is screen  # escape closed the list of kinds
        await sitting.press("escape")
        assert sitting.app.screen is sitting.inbox

    sit(three, steps)
    assert len(waiting(three)) == 3


def test_saving_right_after_the_last_key_saves_it(three: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        await sitting.press("e")
        await sitting.burst("!", "ctrl+s")
        await sitting.calm()

    sit(three, steps)
    assert [text.endswith("!") for text in waiting(three)].count(True) == 1


def test_an_entry_is_superseded_in_the_same_form(three: Plane) -> None:
    first = three.memory.read().inbox[0]
    three.inbox.approve([first.id])
    (entry,) = three.memory.read().shelf

    async def steps(sitting: Sitting) -> None:
        await sitting.press("2")
        await sitting.pilot.app.run_action("supersede", sitting.app.screen)
        await sitting.until(lambda: isinstance(sitting.app.screen, EditScreen), "the form")
        await sitting.press(*" Always.", "ctrl+s")
        await sitting.calm()

    sit(three, steps)
    assert on_shelf(three) == [first.statement]
    (new,) = [one for one in three.memory.read().inbox if one.head.supersedes]
    assert new.statement == f"{first.statement} Always."
    assert new.head.supersedes == (entry.id,)


def test_a_text_that_no_form_can_show_is_edited_as_a_whole(plane: Plane) -> None:
    id_ = plane.propose(decision("Use it.", tags=["a\u200bb"]))

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await editing.edit_here(
            app, editing.of_entry(app.shown.memory, app.shown.memory.get(id_), app.shown.today)
        )
        await app.calm(pilot)
        screen = app.screen
        assert isinstance(screen, EditScreen)
        assert isinstance(screen.area, SafeArea)

    drive(Stand(plane), steps)


Change = Callable[[str], str]


@pytest.mark.parametrize(
    ("script", "is_form", "statement"),
    [("sed -i s/it/them/ $1", True, "Use them."), ('sed -i "s/^type: .*/type: [/" $1', False, "Use it.")],
)
def test_one_goes_on_in_the_editor_and_comes_back(
    plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, is_form: bool, statement: str
) -> None:
    class Suspended:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(Stand, "suspend", lambda _: Suspended())
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    id_ = plane.propose(decision("Use it."))
    app = Stand(plane)
    screen = EditScreen(editing.of_entry(app.shown.memory, app.shown.memory.get(id_), app.shown.today))

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        await pilot.press("ctrl+o")
        await app.calm(pilot)
        assert isinstance(screen.area, EntryForm) is is_form
        await pilot.press("ctrl+s")
        await app.calm(pilot)
        assert (app.screen is screen) is not is_form
        assert is_form or "✗" in words_on(app)

    drive(app, steps, screen=screen)
    assert the_candidate(plane).statement == statement


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("sr", "src/"),
        ("src/", "src/app.py"),
        ("docs, src/b", "docs, src/b c/"),
        ("none", None),
        ("", None),
        ("/et", None),
        ("../", None),
        ("src/app.py/x", None),
    ],
)
def test_paths_of_the_project_are_completed(tmp_path: Path, typed: str, completed: str | None) -> None:
    for folder in ("src/b c", "docs", ".git"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src" / "app.py").touch()
    assert asyncio.run(PathSuggester(tmp_path).get_suggestion(typed)) == completed
