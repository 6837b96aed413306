"""The pane that shows one entry with everything a person needs to decide about it."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.console import Group, RenderableType
from rich.style import Style
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from agentplane.errors import AgentplaneError
from agentplane.text.visible import one_line
from agentplane.tui.protocols import InRegistry, keymap_of
from agentplane.tui.screens.background import run_latest


# The code that reads entries takes a while to load, and the first paint does not need it.
if TYPE_CHECKING:
    from agentplane.tui.backend.entries.entry_facts import EntryFacts, Subject

_REST = 0.12
"""Seconds that the cursor rests on a row before its facts are read from disk."""
_REMEMBERED = 64
_LOOKS = (
    "text", "strong", "emphasis", "code", "heading", "muted", "id", "good", "bad", "warn", "here", "there",
)  # fmt: skip


class Detail(VerticalScroll, can_focus=True):
    """A pane that describes one entry.

    Facts that are already loaded appear at once. Evidence, links and history follow from a thread.
    """

    DEFAULT_CSS = """
    Detail {
        min-width: 12;
        height: 1fr;
        padding: 0 1 0 2;
        background: $background;
        scrollbar-size-vertical: 1;
        scrollbar-color: $foreground 25%;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        & > Static { width: 100%; min-width: 8; height: auto; }
        & > .detail--strong { text-style: bold; }
        & > .detail--emphasis { text-style: italic; }
        & > .detail--code { color: $text-accent; }
        & > .detail--heading { text-style: bold; color: $text-muted; }
        & > .detail--muted { color: $text-muted; }
        & > .detail--id { color: $text-primary; text-style: bold; }
        & > .detail--good { color: $text-success; }
        & > .detail--bad { color: $text-error; text-style: bold; }
        & > .detail--warn { color: $text-warning; text-style: bold; }
        & > .detail--here { color: $text-error; text-style: strike; }
        & > .detail--there { color: $text-success; text-style: bold; }
        &:ansi {
            background: ansi_default;
            & > .detail--muted, & > .detail--heading { color: ansi_default; text-style: dim; }
        }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"detail--{name}" for name in _LOOKS}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "lines(1)", "Down", show=False),
        Binding("k,up", "lines(-1)", "Up", show=False),
        Binding("g,home", "edge(-1)", "Top", show=False),
        Binding("G,end", "edge(1)", "Bottom", show=False),
        Binding("ctrl+d,pagedown,space", "pages(1)", "Page down", show=False),
        Binding("ctrl+u,pageup", "pages(-1)", "Page up", show=False),
        Binding("enter", "compare", "Compare", show=False),
    ]

    class Compare(Message):
        """A person wants to compare the entry with the entries it conflicts with."""

        def __init__(self, id_: str) -> None:
            super().__init__()
            self.id = id_

    class Follow(Message):
        """A person wants to go to a linked entry."""

        def __init__(self, id_: str) -> None:
            super().__init__()
            self.id = id_

    class _FactsFound(Message):
        def __init__(self, key: tuple[str, ...], facts: "EntryFacts") -> None:
            super().__init__()
            self.key = key
            self.facts = facts

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__()
        self.subject: Subject | None = None
        self._ascii = ascii_only
        self._static = Static()
        self._empty = ""
        self._facts_by_key: dict[tuple[str, ...], EntryFacts] = {}
        self._facts_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield self._static

    def show(self, subject: "Subject | None", empty: str = "") -> None:
        """Show another subject, or the current state of the same one. None shows the text in `empty`."""
        if self._facts_timer:
            self._facts_timer.stop()
        moved = subject is None or self.subject is None or subject.id != self.subject.id
        self.subject, self._empty = subject, empty
        if moved:
            self.scroll_home(animate=False)
        self._draw()
        if subject is not None and subject.key not in self._facts_by_key:
            self._facts_timer = self.set_timer(_REST, partial(self._look_up, subject))

    @property
    def facts(self) -> "EntryFacts | None":
        """The facts found about the subject, or None until they are read."""
        return self._facts_by_key.get(self.subject.key) if self.subject else None

    def look(self, name: str) -> Style:
        return self.get_visual_style(f"detail--{name}").rich_style

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted:
            self.call_later(self._draw)  # the styles of the parts are set after this

    def _draw(self) -> None:
        self._static.update(self._content())

    def _content(self) -> RenderableType:
        from agentplane.tui.screens.entry.sections import About
        from agentplane.tui.widgets.markdown import prose

        if self.subject is None:
            return prose(self._empty, self.look)
        where = self.screen.WHERE if isinstance(self.screen, InRegistry) else ""
        keys = keymap_of(self.app)
        about = About(self.subject, self.facts, self.look, keys, where=where, ascii_only=self._ascii)
        return Group(*spaced(about.sections()))

    def _look_up(self, subject: "Subject") -> None:
        run_latest(self, partial(self._read, subject), "facts")

    def _read(self, subject: "Subject") -> None:
        """Read the facts about a subject. Runs in a thread."""
        from agentplane.tui.backend.entries.entry_facts import EntryFacts, facts_of

        try:
            facts = facts_of(subject)
        except (AgentplaneError, OSError):
            facts = EntryFacts()
        self.post_message(self._FactsFound(subject.key, facts))

    @on(_FactsFound)
    def _take(self, message: _FactsFound) -> None:
        message.stop()
        while len(self._facts_by_key) >= _REMEMBERED:
            del self._facts_by_key[next(iter(self._facts_by_key))]
        self._facts_by_key[message.key] = message.facts
        if self.subject and self.subject.key == message.key:
            self._draw()

    def action_lines(self, count: int) -> None:
        self.scroll_relative(y=count, animate=False)

    def action_pages(self, count: int) -> None:
        self.action_lines(count * max(self.size.height - 2, 1))

    def action_edge(self, direction: int) -> None:
        self.scroll_to(y=0 if direction < 0 else self.max_scroll_y, animate=False)

    def action_compare(self) -> None:
        if self.subject and self.subject.reviewed and self.subject.reviewed.conflicts:
            self.post_message(self.Compare(self.subject.id))

    async def open_evidence(self) -> None:
        """Open a cited file in the editor. If there are several files, ask which one."""
        from agentplane.tui.screens.entry.editor import open_file, say
        from agentplane.tui.widgets.modals.choose_modal import Pick

        pieces = [piece for piece in (self.facts.evidence if self.facts else ()) if piece.path]
        if not pieces:
            message = (
                "No files cited by this entry were found" if self.facts else "The evidence is still loading"
            )
            say(self.app, message)
            return

        def opened(place: int | None) -> None:
            if place is not None:
                open_file(self.app, pieces[place].path or "", pieces[place].line)

        if len(pieces) == 1:
            opened(0)
        else:
            await self.app.push_screen(
                Pick("Open a file", [one_line(piece.text) for piece in pieces]), opened
            )

    async def follow(self) -> None:
        """Go to a linked entry. If there are several entries, ask which one."""
        from agentplane.tui.screens.entry.editor import say
        from agentplane.tui.widgets.modals.choose_modal import Pick

        links = [link for link in (self.facts.links if self.facts else ()) if link.statement is not None]
        if not links:
            say(self.app, "This entry has no links")
            return

        def chosen(place: int | None) -> None:
            if place is not None:
                self.post_message(self.Follow(links[place].id))

        if len(links) == 1:
            chosen(0)
        else:
            labels = [
                f"{link.relation} {one_line(link.id, 20)}  {one_line(link.statement or '', 60)}"
                for link in links
            ]
            await self.app.push_screen(Pick("Go to", labels), chosen)


def spaced(sections: Iterable[Sequence[RenderableType]]) -> Iterator[RenderableType]:
    for place, section in enumerate(filter(None, sections)):
        if place:
            yield ""
        yield from section
