"""The screen of the curator. It shows approved entries that may no longer be true, with the proof and the remedies."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget

from agentplane.curate.finding import Finding
from agentplane.text import ages
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line
from agentplane.tui import actions
from agentplane.tui.backend import curation
from agentplane.tui.backend.curation import Curated
from agentplane.tui.backend.list_state import Row
from agentplane.tui.messages import OpDone, OpFailed, Refreshed, WorkFailed
from agentplane.tui.screens.curator import remedy_actions, rows
from agentplane.tui.screens.curator.health_line import HealthLine
from agentplane.tui.screens.curator.pane import FindingPane
from agentplane.tui.screens.curator.passes import Looked, Passes
from agentplane.tui.screens.curator.resolving_screen import ResolvingScreen
from agentplane.tui.screens.entry.pane import Detail
from agentplane.tui.screens.list_screen import NO_ROW, SELECTION_HIDDEN, STILL_READ, ListScreen
from agentplane.tui.widgets.footer import StatusBar


if TYPE_CHECKING:
    from agentplane.tui.backend.model import PlaneView

STILL_CHECKED = "the findings are still being checked"
_PROGRESS_SECONDS = 0.25
_DECIDING = (
    *remedy_actions.ACTIONS.values(), "edit_outside", "curator.apply", "curator.discard", "curator.other",
    "curator.dismiss", "curator.snooze",
)  # fmt: skip
_ONLY_WITH_REMEDY = (
    "curator.renew", "curator.move", "curator.merge", "curator.supersede", "curator.discard",
)  # fmt: skip
"""The actions that the footer shows only if the finding has such a remedy."""
_NAMED = (*remedy_actions.ACTIONS.values(), "curator.discard")


class CuratorScreen(ResolvingScreen):
    WHERE = "curator"
    HINT = "words   is:decide   is:error   is:evidence-changed"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("curator")]

    def __init__(self) -> None:
        super().__init__()
        self._curated: Curated | None = None
        """None until the kept result was read."""
        self._passes = Passes(self.post_message)
        self._is_visited = False
        """True from the first visit until a person goes to another screen. A dialog doesn't end a visit."""
        self._checked_at = ("", "")
        """The commit and the branch of the last pass over all entries."""
        self._wanted_entries: tuple[str, ...] = ()
        """The entries to whose findings the cursor goes."""
        self._has_looked = False
        """True if a pass ended since an entry was wanted."""
        self._troubles: tuple[str, ...] = ()

    @property
    def curated(self) -> Curated:
        return self._curated or Curated()

    @property
    def checking(self) -> bool:
        """True while a pass waits or runs."""
        return self._passes.busy

    # The rows

    def rows_of(self, shown: "PlaneView") -> list[Row]:
        model = self.plane_app.model
        if self._curated is None and model is not None:
            self._take_kept(curation.kept(model.plane))
        return rows.rows(self.curated, shown.memory.entries, shown.today, plain=self.plane_app.plain)

    def _take_kept(self, kept: Curated) -> None:
        """Use the kept result, unless a pass ended meanwhile."""
        if self._curated is None:
            self._curated = kept

    def matching(self, words: str, shown: "PlaneView | None", rows_: list[Row]) -> Collection[str] | None:
        return rows.matching(words, self.curated, shown.memory.entries) if shown else None

    def empty_text(self) -> str:
        shown = self.plane_app.shown
        if self._words:
            return self.no_hit()
        if shown is not None and not shown.shelf:
            return f"No approved entries yet.\nTo approve candidates, press {self.key('inbox')} to go to the inbox."
        counts = self.curated.counts
        if counts is None:
            return "Checking all entries for the first time…"
        checked = rows.checked_text(self.curated, ages.age(counts.at, datetime.now(UTC)))
        return f"Nothing to decide. {checked}\nTo check again, press {self.key('curator.check')}."

    def rows_replaced(self) -> None:
        if self._wanted_entries:
            self._go_to_wanted()
        if self._has_looked:
            self._wanted_entries, self._has_looked = (), False
        self._show_health()

    def go_to(self, id_: str) -> None:
        """Show the findings about an entry."""
        self._wanted_entries, self._has_looked = (id_,), False
        if self._shown is not None:
            self._go_to_wanted()

    def _go_to_wanted(self) -> None:
        """Put the cursor on the finding about the wanted entry. If there are several findings, list only these.

        If there is none, the next pass may find one.
        """
        ids = self._wanted_entries
        keys = [one.key for one in self.curated.listed if not set(ids).isdisjoint(one.ids)]
        if keys:
            self._wanted_entries = ()
        if keys and self.view.listing.place_of(keys[0]) is None and self._words:
            self._close_filter(keep=False)
        if len(keys) > 1 and len(ids) == 1:
            self.set_words(ids[0])
        if keys:
            self.view.seek(keys[0])
            self.show_detail()

    # Passes

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if widget.has_class("body"):
                yield HealthLine()
            yield widget

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_PROGRESS_SECONDS, self._show_health)

    def on_unmount(self) -> None:
        self._passes.close()

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if not self._is_visited:
            self._is_visited = True
            self._start()

    def on_screen_suspend(self) -> None:
        super().on_screen_suspend()
        if self not in self.app.screen_stack:
            self._is_visited = False
            self._passes.cancel()

    def on_refreshed(self, message: Refreshed) -> None:
        super().on_refreshed(message)
        model, look = self.plane_app.model, self.curated.look
        if not self._is_visited or model is None:
            return
        if look is None or self._checked_at != _commit(message.shown):
            self._start()
        else:
            self._passes.look_again(model.plane)

    def _start(self) -> None:
        """Check all entries. The stored result stays on the screen until the pass has ended."""
        model, shown = self.plane_app.model, self.plane_app.shown
        if model is not None and shown is not None and not (self.curated.look is None and self.checking):
            self._checked_at = _commit(shown)
            self._passes.start(model.plane)
            self._show_health()

    @on(Looked)
    def _looked(self, message: Looked) -> None:
        same = message.curated.look is self.curated.look
        self._curated = message.curated
        if not self.plane_app.pending:
            self.view.reopen(tuple(self.view.listing.settled))
        self._say_troubles()
        self._has_looked = True
        if not same:
            self.read(force=True)
            self._reload_view()
        self._show_health()
        self.update_status()

    def _reload_view(self) -> None:
        """Read the plane again if the headers and the memory screen have an earlier result of the curator."""
        shown, curated = self.plane_app.shown, self.curated
        if shown is not None and (shown.findings, shown.marks) != (curated.counts, curated.marks):
            self.plane_app.reload()

    def on_work_failed(self, message: WorkFailed) -> None:
        self.plane_app.fail(message.error)

    def run_commands(self, ids: Sequence[str], commands: Sequence[str]) -> None:
        model = self.plane_app.model
        if model is not None:
            self._passes.run_checks(model.plane, ids, commands)

    def _say_troubles(self) -> None:
        """Say once that a check stopped."""
        look = self.curated.look
        found = tuple(f"{one.where}: {one.what}" for one in look.made.troubles) if look else ()
        if found and found != self._troubles:
            self.query_one(StatusBar).fail(
                f"{counted(len(found), 'check')} stopped: {one_line(found[0], 160)}",
                look.made.troubles[0].remedy if look else "",
            )
        self._troubles = found

    def _show_health(self) -> None:
        for line in self.query(HealthLine).results(HealthLine):
            line.show(self.curated, self._passes.progress, plain=self.plane_app.plain)

    def action_check_now(self) -> None:
        self._start()

    def action_chart(self) -> None:
        if self.may("curator.chart"):
            self.query_one(HealthLine).toggle_class("-chart")
            self.update_status()

    # The description

    def detail(self) -> Widget:
        return FindingPane()

    def show_detail(self) -> None:
        from agentplane.tui.screens.curator.sections import Facts, sections

        pane: FindingPane | None = self.panes.detail  # type: ignore[assignment]
        shown, curated = self.plane_app.shown, self.curated
        if pane is None or shown is None:
            return
        here = curated.by_key.get(self.current or "")
        if here is None:
            pane.entry_id = None
            pane.show_page("", lambda _: ())
            return
        facts = Facts(
            entries=shown.memory.entries,
            checked=curated.look.made.checked if curated.look else {},
            since=curated.since.get(here.key),
            keys=self.plane_app.keys_wanted,
            width=0,
            plain=self.plane_app.plain,
            decides=shown.refusal is None,
        )
        pane.entry_id = here.ids[0]
        pane.show_page(
            here.key,
            lambda look: sections(here, msgspec.structs.replace(facts, width=pane.content_size.width), look),
        )

    async def open_row(self, id_: str) -> None:
        """Go to the entry. If there is no room for the pane, show the finding first."""
        if self.panes.has_class("-right") or self.panes.has_class("-bottom"):
            await self._go_to_entry(self.entry_id)
        else:
            await ListScreen.open_row(self, id_)

    @on(Detail.Follow)
    async def _follow(self, message: Detail.Follow) -> None:
        await self._go_to_entry(message.id)

    async def _go_to_entry(self, id_: str | None) -> None:
        if id_ is not None:
            self.panes.read(full=False)
            await self.plane_app.navigator.go_to_entry(id_, self.WHERE)

    @property
    def entry_id(self) -> str | None:
        here = self.curated.by_key.get(self.current or "")
        return here.ids[0] if here else None

    def names_of(self, ids: Iterable[str]) -> list[str]:
        """Return the keys of the findings about these entries."""
        wanted = set(ids)
        return [one.key for one in self.curated.listed if not wanted.isdisjoint(one.ids)]

    async def action_evidence(self) -> None:
        """Open the file that the proof is about."""
        from agentplane.tui.screens.entry.editor import open_file

        shown, targets = self.plane_app.shown, self.targets[:1]
        found = (
            curation.place_of(targets[0], shown.memory.snapshot.layout.project) if shown and targets else None
        )
        if found is None:
            self.plane_app.say("The proof of this finding isn't a file")
        else:
            open_file(self.app, str(found[0]), found[1])

    # Status line and availability

    @property
    def targets(self) -> list[Finding]:
        """The findings that an action applies to."""
        found = map(self.curated.finding, self.view.listing.target_ids)
        return [one for one in found if one is not None]

    def idle_status(self) -> str:
        return rows.counts_text(self.curated) if self._curated is not None and self._shown else ""

    def reason(self) -> str:
        here = self.curated.finding(self.current)
        has_pane = self.panes.has_class("-right") or self.panes.has_class("-bottom")
        return here.what if here and not has_pane else ""

    def what_is_off(self) -> dict[str, str]:
        shown, listing = self.plane_app.shown, self.view.listing
        off = {"curator.chart": "there is no space for the chart"} if self.has_class("-low") else {}
        if shown is None:
            return off | dict.fromkeys((*_DECIDING, "evidence"), STILL_READ)
        if shown.refusal:
            return off | dict.fromkeys(_DECIDING, shown.refusal)
        if not listing.target_ids:
            return off | dict.fromkeys(
                (*_DECIDING, "evidence"), SELECTION_HIDDEN if listing.marks else NO_ROW
            )
        findings = self.targets
        if len(findings) < len(listing.target_ids):
            return off | dict.fromkeys((*_DECIDING, "evidence"), STILL_CHECKED)
        return off | self.without_remedy(findings)

    @property
    def action_names(self) -> dict[str, str]:
        names = {"leave": "back"}
        findings = self.targets
        hidden = self.without_remedy(findings) if findings else {}
        names |= {id_: "" for id_ in _ONLY_WITH_REMEDY if not findings or id_ in hidden}
        if findings and "curator.apply" not in hidden:
            first, *others = findings[0].remedies
            names["curator.apply"] = remedy_actions.short_name(first)
            # The same remedy isn't named twice in the footer.
            same = remedy_actions.action_of(first)
            if same in _NAMED and not any(isinstance(other, type(first)) for other in others):
                names[same] = ""
        return names

    # Results

    def on_op_done(self, message: OpDone) -> None:
        if message.done.verb in ("undo", "redo"):
            self._wanted_entries, self._has_looked = message.done.ids[:1], False
        self.update_status()

    def on_op_failed(self, message: OpFailed) -> None:
        self.view.reopen(self.names_of(message.op.ids))
        self.update_status()


def _commit(shown: "PlaneView") -> tuple[str, str]:
    return shown.head or "", shown.branch or ""
