"""The pane that describes one run, with its context, its actions and its results."""

from datetime import datetime
from functools import partial

import msgspec
from rich.console import Group, RenderableType
from textual import on
from textual.message import Message
from textual.worker import get_current_worker

from agentplane.memory.view import Memory
from agentplane.runs.query.timeline import TimelineRow
from agentplane.text.visible import one_line
from agentplane.tui.backend.runs.run_facts import RunFacts
from agentplane.tui.protocols import keymap_of
from agentplane.tui.screens.background import run_latest
from agentplane.tui.screens.entry import pane
from agentplane.tui.screens.entry.pane import Detail


_REST = 0.12
"""Seconds that the cursor rests on a run before its record is read from disk."""
_REMEMBERED = 32


class Chosen(msgspec.Struct, frozen=True):
    """A run in a list, and the memory that was read last."""

    row: TimelineRow
    memory: Memory

    @property
    def key(self) -> tuple[str, str, str]:
        """Cache key for the description of the run."""
        return self.row.run_id or "", self.row.kind, str(self.memory.snapshot.ledger.size)


class RunDetail(Detail):
    """A pane that describes one run.

    Facts from the list appear at once. Facts from the capsule follow from a thread.
    """

    class _FactsRead(Message):
        def __init__(self, key: tuple[str, str, str], facts: RunFacts) -> None:
            super().__init__()
            self.key = key
            self.facts = facts

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__(ascii_only=ascii_only)
        self._chosen: Chosen | None = None
        self._run_facts_by_key: dict[tuple[str, str, str], RunFacts] = {}

    def show_run(self, chosen: Chosen | None) -> None:
        """Show another run, or the current state of the same run. None clears the pane."""
        if self._facts_timer:
            self._facts_timer.stop()
        before, self._chosen = self._chosen, chosen
        if chosen is None or before is None or chosen.row.run_id != before.row.run_id:
            self.scroll_home(animate=False)
        self._draw()
        # An open run still changes, so it is always read again.
        if chosen is not None and (chosen.key not in self._run_facts_by_key or chosen.row.kind != "run"):
            self._facts_timer = self.set_timer(_REST, partial(self._ask, chosen))

    @property
    def run_facts(self) -> RunFacts | None:
        """The known facts about the run.

        After a change of memory, earlier facts are used until new ones are read.
        """
        if self._chosen is None:
            return None
        key = self._chosen.key
        same = (facts for known, facts in reversed(self._run_facts_by_key.items()) if known[:2] == key[:2])
        return self._run_facts_by_key.get(key) or next(same, None)

    def _content(self) -> RenderableType:
        from agentplane.tui.screens.runs.sections import RunAbout

        chosen = self._chosen
        if chosen is None:
            return ""
        now = datetime.now().astimezone()
        about = RunAbout(chosen.row, self.run_facts, chosen.memory, now, self.look, keymap_of(self.app))
        return Group(*pane.spaced(about.sections()))

    def _ask(self, chosen: Chosen) -> None:
        run_latest(self, partial(self._read_run, chosen), "run")

    def _read_run(self, chosen: Chosen) -> None:
        """Read the facts about a run. Runs in a thread."""
        from agentplane.tui.backend.runs.run_facts import facts_of

        worker = get_current_worker()
        try:
            facts = facts_of(chosen.memory, chosen.row, lambda: not worker.is_cancelled)
        except OSError as error:
            facts = RunFacts(problem=(error.strerror or str(error)).lower())
        if not worker.is_cancelled:
            self.post_message(self._FactsRead(chosen.key, facts))

    @on(_FactsRead)
    def _take_run(self, message: _FactsRead) -> None:
        message.stop()
        while len(self._run_facts_by_key) >= _REMEMBERED:
            del self._run_facts_by_key[next(iter(self._run_facts_by_key))]
        self._run_facts_by_key.pop(message.key, None)
        self._run_facts_by_key[message.key] = message.facts
        if self._chosen and self._chosen.key == message.key:
            self._draw()

    async def action_compare(self) -> None:  # type: ignore[override]  # Textual awaits awaitable results
        """Go to an entry that the run proposed. The enter key in the text does this."""
        await self.follow()

    async def follow(self) -> None:
        """Go to an entry that the run proposed, or to its parent run. If there are several, ask which one."""
        from agentplane.tui.screens.entry.editor import say
        from agentplane.tui.widgets.modals.choose_modal import Pick

        facts = self.run_facts
        targets = [
            (one.id, f"{one_line(one.id, 20)}  {one_line(one.state, 20)}  {one_line(one.statement, 60)}")
            for one in (facts.candidates if facts else ())
            if one.state not in ("rejected", "merged")
        ]
        parent = facts.run.parent_run_id if facts and facts.run else None
        if parent:
            targets.append((parent, f"parent run {one_line(parent, 40)}"))
        if not targets:
            say(
                self.app,
                "This run has no links" if facts else "This run is still loading",
            )
            return

        def chosen(place: int | None) -> None:
            if place is not None:
                self.post_message(self.Follow(targets[place][0]))

        if len(targets) == 1:
            chosen(0)
        else:
            await self.app.push_screen(Pick("Go to", [line for _, line in targets]), chosen)
