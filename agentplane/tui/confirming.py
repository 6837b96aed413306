"""The question before a text with a flag of high severity is approved: every spot is shown, and nothing is taken for a yes but its own key."""

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
from agentplane.review.gate_answers import SECRET
from agentplane.review.spots import Spot
from agentplane.text.visible import one_line
from agentplane.tui import actions
from agentplane.tui.actions import Keymap
from agentplane.tui.box import Box


if TYPE_CHECKING:
    from agentplane.tui.app import PlaneApp

Answer = Literal["approve", "mask", "edit"]
OFFERS: tuple[Answer, ...] = ("mask", "edit", "approve")
_MOST = 12
_YES = ("Y", "C", "G")
"""The first that does not approve in the list is the key that confirms."""
_ABOUT_SECRETS = (
    "Tools are not given an entry that still looks like it contains a secret. If the secret is real, mask it here and "
    "change it where it is used."
)


class Confirm(Box[Answer | None]):
    """What the person answers; None: leave it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,escape,q", "dismiss(None)", "cancel"),
        Binding("m", "answer('mask')", "mask"),
        Binding("e", "answer('edit')", "edit"),
        Binding("down,j", "scroll(1)", "down"),
        Binding("up,k", "scroll(-1)", "up"),
        Binding("pagedown,space,ctrl+d", "scroll(10)", "page down"),
        Binding("pageup,ctrl+u", "scroll(-10)", "page up"),
    ]

    def __init__(
        self, title: str, found: Sequence[Spot], keys: Keymap, offers: Sequence[Answer], *, plain: bool
    ) -> None:
        super().__init__()
        self._title = title
        self._found = found
        self._offers = [offer for offer in offers if offer != "mask" or self._has_secret]
        self._marks = (">>", "<<") if plain else ("»", "«")
        taken = {key for name in ("approve", "approve_clean") for key in keys.keys_on(actions.action(name))}
        self._yes = next((key for key in _YES if key not in taken), "f9")

    @property
    def _has_secret(self) -> bool:
        return any(spot.code == SECRET for spot in self._found)

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(one_line(self._title)), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield Static(self._body())
            yield Static(Text(self._keys()), classes="box-keys")

    def _body(self) -> RenderableType:
        parts: list[RenderableType] = []
        for spot in self._found[:_MOST]:
            parts.append(Text(f"{spot.place}: {spot.what}", "bold"))
            if spot.match:
                opened, closed = self._marks
                line = Text(f"  {spot.before}")
                line.append(f"{opened}{spot.match}{closed}", "bold reverse")
                parts.append(line.append(spot.after))
        if len(self._found) > _MOST:
            parts.append(Text(f"and {len(self._found) - _MOST} more"))
        if self._has_secret:
            parts += [Text(), Text(_ABOUT_SECRETS)]
        return Group(*parts)

    def _keys(self) -> str:
        told = {"mask": "m mask", "edit": "e edit", "approve": f"{self._yes} approve as it is"}
        return "   ".join(
            [*(told[offer] for offer in ("mask", "edit", "approve") if offer in self._offers), "esc cancel"]
        )

    def on_key(self, event: events.Key) -> None:
        if event.key == self._yes:
            event.stop()
            self.action_answer("approve")

    def action_answer(self, answer: Answer) -> None:
        if answer in self._offers:
            self.dismiss(answer)

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)


def flagged(settings: Settings, entry: Entry) -> tuple[Spot, ...]:
    """The spots that a person has to confirm before this text is approved."""
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
    """Show the spots. The screen has the keys when this returns, so that nothing typed on reaches the list."""
    plane_app: PlaneApp = app  # type: ignore[assignment]
    codes = ", ".join(dict.fromkeys(spot.code for spot in found))
    title = f"Approve {one_line(entry.id, 40)} with this text? Flagged: {codes}"
    screen = Confirm(title, found, plane_app.keys_wanted, offers, plain=plane_app.plain)
    await app.push_screen(screen, then)
