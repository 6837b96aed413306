"""The pane with one entry: what it says of a candidate, and what its keys do."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from agentplane.api import Plane
from agentplane.memory.proposing import Proposal
from agentplane.tui.backend.entries import entry_facts as grounds
from agentplane.tui.backend.entries.entry_facts import Subject
from agentplane.tui.screens.entry.pane import Detail
from agentplane.tui.widgets.modals.choose_modal import Pick
from tests.conftest import decision
from tests.tui.stand import words_on


class DetailApp(App[None]):
    def __init__(self, subject: Subject | None, *, ascii_only: bool = False) -> None:
        super().__init__()
        self.first = subject
        self.detail = Detail(ascii_only=ascii_only)
        self.heard: list[object] = []

    def compose(self) -> ComposeResult:
        yield self.detail

    def on_mount(self) -> None:
        self.detail.show(self.first, "Nothing is *chosen*.")
        self.detail.focus()

    @on(Detail.Compare)
    @on(Detail.Follow)
    def hear(self, message: Detail.Compare | Detail.Follow) -> None:
        self.heard.append((type(message).__name__, message.id))

    async def calm(self, pilot: Pilot[None]) -> None:
        await pilot.pause(0.2)
        with suppress(WorkerCancelled):
            await self.workers.wait_for_complete()
        await pilot.pause()


Steps = Callable[[Pilot[None], DetailApp], Awaitable[None]]


def drive(app: DetailApp, steps: Steps, size: tuple[int, int] = (80, 50)) -> None:
    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await app.calm(pilot)
            await steps(pilot, app)

    asyncio.run(run())


def subject(plane: Plane, id_: str) -> Subject:
    memory = plane.memory.read()
    (reviewed,) = plane.inbox.review([id_])
    edits = {edit.id: edit for edit in memory.hand_edits}
    return Subject(memory.get(id_), memory, reviewed, edits.get(id_))


@pytest.fixture
def candidate(plane: Plane, project: Path) -> str:
    """One with all that can be said of a candidate."""
    (project / "hooks.py").write_text("def retry(): ...\n")
    plane.inbox.approve([plane.propose(decision("Retry webhooks after a fixed 30 s."))])
    run = plane.write_log({"tool": "codex", "task": "retry policy", "summary": "Met the rate limit."})
    return plane.propose(
        decision(
            "Retry webhooks with exponential backoff.", rationale="Fixed delays met the **rate limit**.\n\n- one\n- two",
            evidence=["hooks.py#retry", "gone.md"], source=run, tags=["webhooks"], scope=["app/**"],
            confidence=0.9, supersedes=["DEC-001"],
        )
    )  # fmt: skip


def test_all_that_a_person_needs_is_there(plane: Plane, candidate: str) -> None:
    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        said = words_on(app)
        for text in (
            f"{candidate}  decision   proposed by Ada · today",
            "Retry webhooks with exponential backoff.",
            "Rationale\n",
            "Fixed delays met the rate limit.",
            " •  one",
            "! would supersede DEC-001",
            "enter to compare",
            "“Retry webhooks after a fixed 30 s.”",
            "Flags",
            "gone.md` doesn't exist",
            "✓ hooks.py#retry",
            "✗ gone.md  doesn't exist",
            "codex · retry policy",
            "“Met the rate limit.”",
            "webhooks",
            "app/**",
            "0.9",
            ".agentplane/memory/candidates.md:",
            "→ supersedes DEC-001",
            "proposed by Ada (terminal)",
        ):
            assert text in said, text

    drive(DetailApp(subject(plane, candidate)), steps)


def test_what_is_in_memory_is_there_before_the_disk_was_asked(
    plane: Plane, candidate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grounds, "facts_of", lambda _: grounds.EntryFacts())

    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        app.detail._facts_by_key.clear()
        app.detail._draw()
        await pilot.pause()
        said = words_on(app)
        assert "Retry webhooks with exponential backoff." in said
        assert "hooks.py#retry" in said
        assert "✓" not in said

    drive(DetailApp(subject(plane, candidate)), steps)


def test_enter_asks_for_the_comparison(plane: Plane, candidate: str) -> None:
    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        await pilot.press("enter")
        await pilot.pause()
        assert app.heard == [("Compare", candidate)]

    drive(DetailApp(subject(plane, candidate)), steps)


def test_without_a_review_it_says_that_it_looks(plane: Plane, candidate: str) -> None:
    memory = plane.memory.read()

    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        assert "Checking for conflicts" in words_on(app)
        await pilot.press("enter")
        assert app.heard == []

    drive(DetailApp(Subject(memory.get(candidate), memory)), steps)


def test_ascii(plane: Plane, candidate: str) -> None:
    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        said = words_on(app)
        assert "+ hooks.py#retry" in said
        assert "x gone.md" in said
        assert not set("✓✗▲→←") & set(said)

    drive(DetailApp(subject(plane, candidate), ascii_only=True), steps)


def test_hostile_text_is_text(plane: Plane) -> None:
    evil = "Use [bold]it[/bold] <!-- hidden --> [x](http://evil.test)\u200b."
    id_ = plane.propose(
        Proposal(type="decision", statement=evil, tags=["[red]t"], rationale="[link=x]y[/link]")
    )

    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        said = words_on(app)
        assert "Use [bold]it[/bold] <!-- hidden --> [x](http://evil.test)<U+200B>." in said
        assert "[red]t" in said
        assert "[link=x]y[/link]" in said
        strips = app.screen._compositor.render_strips()
        links = [s.style.link for strip in strips for s in strip if s.style and s.style.link]
        assert links == []

    drive(DetailApp(subject(plane, id_)), steps, (120, 50))


def test_a_long_body_is_cut_and_scrolled(plane: Plane) -> None:
    id_ = plane.propose(decision("Long.", rationale="\n".join(f"line {n}" for n in range(3000))))

    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        assert "line 0" in words_on(app)
        await pilot.press("j", "j")
        assert app.detail.scroll_offset.y == 2
        await pilot.press("ctrl+d")
        assert app.detail.scroll_offset.y > 10
        await pilot.press("G")
        await pilot.pause()
        assert app.detail.max_scroll_y > 500
        assert app.detail.scroll_offset.y == app.detail.max_scroll_y
        await pilot.press("g")
        assert app.detail.scroll_offset.y == 0

    drive(DetailApp(subject(plane, id_)), steps)


def test_nothing_chosen(plane: Plane) -> None:
    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        assert "Nothing is chosen." in words_on(app)
        await pilot.press("enter", "j", "G")
        await app.detail.open_evidence()
        await app.detail.follow()

    drive(DetailApp(None), steps)


def test_moving_on_forgets_what_comes_too_late(plane: Plane, candidate: str) -> None:
    other = plane.propose(decision("Another one."))

    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        for id_ in (candidate, other, candidate, other):
            app.detail.show(subject(plane, id_))
        await app.calm(pilot)
        said = words_on(app)
        assert "Another one." in said
        assert "hooks.py" not in said
        assert app.detail.facts is not None

    drive(DetailApp(subject(plane, candidate)), steps)


def test_of_several_files_one_is_picked(plane: Plane, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr(
        "agentplane.tui.screens.entry.editor.open_file", lambda _, path, line: opened.append((path, line))
    )
    for name in ("a.py", "b.py"):
        (project / name).write_text("x\ny\n")
    id_ = plane.propose(decision("Two.", evidence=["a.py", "b.py:2"]))

    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        await app.detail.open_evidence()
        await pilot.pause()
        assert isinstance(app.screen, Pick)
        await pilot.press("escape")
        await app.detail.open_evidence()
        await pilot.pause()
        await pilot.press("j", "enter")
        await app.detail.open_evidence()
        await pilot.pause()
        await pilot.press(
            "1",
        )

    drive(DetailApp(subject(plane, id_)), steps)
    assert opened == [(str(project / "b.py"), 2), (str(project / "a.py"), None)]


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-light"])
def test_a_theme_changes_what_is_drawn_at_once(plane: Plane, candidate: str, theme: str) -> None:
    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        app.theme = "nord"
        await pilot.pause()
        before = app.export_screenshot()
        app.theme = theme
        await pilot.pause()
        await pilot.pause()
        assert app.export_screenshot() != before
        assert app.detail.look("good").color is not None

    drive(DetailApp(subject(plane, candidate)), steps)


def test_no_control_code_of_a_header_reaches_the_terminal(plane: Plane) -> None:
    """Every value of a header is written by somebody."""
    esc = r"\x1b]0;t\x07"
    lines = [
        "---",
        f'id: "D-{esc}1"',
        f'type: "{esc}"',
        f'status: "{esc}"',
        f'tags: ["{esc}"]',
        f'source: "{esc}"',
    ]
    lines += [
        f'{key}: "{esc}"'
        for key in ("expires_at", "check", "anchor", "updated", "proposed_by", "approved_by")
    ]
    lines += [f'{key}: ["{esc}"]' for key in ("evidence", "scope", "supersedes", "superseded_by")]
    path = plane.layout.memory / "decisions.md"
    path.write_text("\n".join([*lines, "---", "Decision: x", ""]))
    memory = plane.memory.read()
    (entry,) = memory.shelf
    (edit,) = memory.hand_edits

    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        assert app.detail.facts is not None
        said = words_on(app)
        assert "<U+001B>]0;t<U+0007>" in said
        assert not {"\x1b", "\x07"} & set(said)

    drive(DetailApp(Subject(entry, memory, None, edit)), steps)


def test_an_entry_without_a_text(plane: Plane) -> None:
    path = plane.layout.memory / "decisions.md"
    path.write_text("---\nid: DEC-001\ntype: decision\nstatus: accepted\n---\n")
    memory = plane.memory.read()

    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        assert "DEC-001  decision" in words_on(app)

    drive(DetailApp(Subject(memory.shelf[0], memory)), steps)


def test_keys_that_are_not_ours_are_shown_too(plane: Plane) -> None:
    id_ = plane.propose(decision("Use it."))
    path = plane.layout.memory / "candidates.md"
    added = 'turn: 14\nquote: "no, \\u202euse [red]backoff[/]"\nlast: [1, x]\n'
    path.write_text(path.read_text().replace("type: decision\n", f"type: decision\n{added}"))

    async def steps(pilot: Pilot[None], app: DetailApp) -> None:
        said = words_on(app)
        assert "{+turn: 14" in said
        assert 'quote: "no, \\u202euse [red]backoff[/]"' in said
        assert "last: [1, x]+}" in said
        assert "turn         14" in said
        assert "quote        no, <U+202E>use [red]backoff[/]" in said
        assert 'last         [1,"x"]' in said

    drive(DetailApp(subject(plane, id_)), steps)
