"""The dialog before the approval of a text with a flag of high severity.

It shows every spot, and only one key approves.
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from agentplane.memory.entry import Entry
from agentplane.plane.settings import Settings
from agentplane.review import spots
from agentplane.review.confirm import Confirmation
from agentplane.review.gate.verdicts import SECRET
from agentplane.review.spots import Spot
from agentplane.text.visible import one_line
from agentplane.tui.widgets.modals.modal import LINE_KEYS, Box


if TYPE_CHECKING:
    from agentplane.tui.app import PlaneApp

Answer = Literal["approve", "mask", "edit"]
OFFERS: tuple[Answer, ...] = ("mask", "edit", "approve")
READING_SECONDS = 0.3
"""The time the spots are on the screen before a key can approve. A key that was typed ahead comes sooner."""
_APPROVE_KEY = "Y"
"""The key to confirm. It copies a text in the lists, so the settings can't make it approve there."""
_ABOUT_SECRETS = (
    "Tools don't receive an entry that looks like it contains a secret. If this is a real secret, mask the secret here, "
    "and then rotate it."
)


class Confirm(Box[Answer | None]):
    """A dialog that returns the person's answer, or None if they cancel."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,escape,q", "dismiss(None)", "cancel"),
        Binding("m", "answer('mask')", "mask"),
        Binding("e", "answer('edit')", "edit"),
        *LINE_KEYS,
        Binding("pagedown,space,ctrl+d", "page(1)", "page down"),
        Binding("pageup,ctrl+u", "page(-1)", "page up"),
    ]

    def __init__(self, title: str, found: Sequence[Spot], offers: Sequence[Answer], *, plain: bool) -> None:
        super().__init__()
        self._title = title
        self._spots = found
        self._too_many = len(found) > spots.MOST_CONFIRMED
        without = {"mask"} if not self._has_secret else set()
        without |= {"approve"} if self._too_many else set()
        self._offers = [offer for offer in offers if offer not in without]
        self._marks = (">>", "<<") if plain else ("»", "«")
        self._painted = False
        """True if the spots were on the screen for a moment."""
        self._read = False
        """True if the last spot was on the screen."""
        self._since = float("inf")

    @property
    def can_be_confirmed(self) -> bool:
        """True once the person can have read every spot."""
        return self._painted and self._read

    @property
    def _has_secret(self) -> bool:
        return any(spot.code == SECRET for spot in self._spots)

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(one_line(self._title)), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield Static(self._body())
            yield Static(Text(self._keys()), classes="box-keys")

    def on_mount(self) -> None:
        self.watch(self.query_one(VerticalScroll), "scroll_y", self._check_read, init=False)
        self.call_after_refresh(self._paint)

    def on_resize(self) -> None:
        self.call_after_refresh(self._check_read)

    def _paint(self) -> None:
        self._since = time.monotonic()
        self.set_timer(READING_SECONDS, self._ready)
        self._check_read()

    def _ready(self) -> None:
        self._painted = True
        self._check_read()

    def _check_read(self) -> None:
        """Check whether the last spot is on the screen, and show the keys that work now."""
        scroll = self.query_one(VerticalScroll)
        self._read = self._read or (self._painted and scroll.scroll_y >= scroll.max_scroll_y)
        self._show_keys(self._keys())

    def _show_keys(self, keys: str) -> None:
        self.query_one(".box-keys", Static).update(Text(keys))

    def _body(self) -> RenderableType:
        parts: list[RenderableType] = []
        for spot in self._spots[: spots.MOST_CONFIRMED]:
            parts.append(Text(f"{spot.place}: {spot.what}", "bold"))
            if spot.match:
                opened, closed = self._marks
                line = Text(f"  {spot.before}")
                line.append(f"{opened}{spot.match}{closed}", "bold reverse")
                parts.append(line.append(spot.after))
        if self._too_many:
            parts.append(Text(spots.too_many(self._spots)))
        if self._has_secret:
            parts += [Text(), Text(_ABOUT_SECRETS)]
        return Group(*parts)

    def _keys(self) -> str:
        unread = self._painted and not self._read
        labels = {
            "mask": "m mask",
            "edit": "e edit",
            "approve": "space shows the rest" if unread else f"{_APPROVE_KEY} approve as is",
        }
        offers: tuple[Answer, ...] = ("mask", "edit", "approve")
        return "   ".join([*(labels[offer] for offer in offers if offer in self._offers), "esc cancel"])

    def on_key(self, event: events.Key) -> None:
        if event.key != _APPROVE_KEY:
            return
        event.stop()
        # A key that was typed ahead, before the spots were on the screen, confirms nothing.
        if not self._painted or event.time < self._since + READING_SECONDS or "approve" not in self._offers:
            return
        if self._read:
            self.action_answer("approve")
        else:
            self._show_keys(
                f"Scroll down with space to see all of the flagged text, then press {_APPROVE_KEY}.   esc cancel"
            )

    def action_answer(self, answer: Answer) -> None:
        if answer in self._offers:
            self.dismiss(answer)

    def action_page(self, direction: int) -> None:
        scroll = self.query_one(VerticalScroll)
        scroll.scroll_relative(y=direction * max(scroll.size.height - 1, 1), animate=False)


def flagged(settings: Settings, entry: Entry) -> tuple[Spot, ...]:
    """Return the spots that a person has to confirm before this text is approved."""
    return spots.of(entry, msgspec.structs.asdict(settings.gate))


def confirmation(entry: Entry, found: Sequence[Spot]) -> Confirmation:
    return Confirmation(entry.digest, tuple(dict.fromkeys(spot.code for spot in found)))


async def ask(
    app: App[Any],
    entry: Entry,
    found: Sequence[Spot],
    then: Callable[[Answer | None], None],
    offers: Sequence[Answer] = OFFERS,
) -> None:
    """Show the spots. The dialog gets all keys once this returns, so that no key typed ahead reaches the list."""
    plane_app: PlaneApp = app  # type: ignore[assignment]
    codes = ", ".join(dict.fromkeys(spot.code for spot in found))
    title = f"Approve {one_line(entry.id, 40)} with this flagged text? Flags: {codes}"
    screen = Confirm(title, found, offers, plain=plane_app.plain)
    await app.push_screen(screen, then)
