"""The screen that lists coding tools, shows how each tool is connected, and connects tools."""

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from msgspec import structs
from textual.binding import BindingType
from textual.widget import Widget

from agentplane.commands import Sync, Unwire, Wire
from agentplane.errors import AgentplaneError
from agentplane.tui import actions
from agentplane.tui.backend.list_state import Row
from agentplane.tui.messages import SessionsSeen
from agentplane.tui.screens.file_writing_screen import WritingScreen
from agentplane.tui.screens.list_screen import NO_ROW, SELECTION_HIDDEN, STILL_READ


if TYPE_CHECKING:
    from agentplane.api import Plane
    from agentplane.tui.backend.model import PlaneView
    from agentplane.tui.backend.sessions.session_watch import WatchedSession
    from agentplane.tui.backend.tools_model import Planned, ToolView
    from agentplane.tui.screens.text_pane import Page

UNREAD = "Can't read the tool files: "
_UP_TO_DATE = "the tool's files are already up to date"


_COMMANDS: Mapping[str, type[Wire | Sync | Unwire]] = {"wire": Wire, "sync": Sync, "unwire": Unwire}


class ToolsScreen(WritingScreen):
    WHERE = "tools"
    HINT = "words, tool or file"
    shows_sessions = True
    """The app looks for sessions regularly while this screen is open."""
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("tools")]

    def __init__(self) -> None:
        super().__init__()
        self._views: dict[str, ToolView] = {}
        self._sessions: dict[str, WatchedSession] = {}
        """The running sessions, by the ids of their rows."""
        self._problem = ""

    # The rows

    def rows_of(self, shown: "PlaneView") -> list[Row]:
        from agentplane.tui.backend import tools_model
        from agentplane.tui.backend.model import as_error

        model = self.plane_app.model
        if model is None:
            return []
        try:
            views = tools_model.views(model.plane, shown.memory, model.plane.today())
        except (AgentplaneError, OSError) as error:
            self._problem, self._views = as_error(error).what, {}
            return []
        self._problem, self._views = "", {view.tool.name: view for view in views}
        return self._made_rows()

    def _made_rows(self) -> list[Row]:
        from agentplane.tui.screens.tools import rows, session_rows

        plain = self.plane_app.plain
        return session_rows.below(
            rows.rows(list(self._views.values()), plain=plain), self._sessions, self._now, plain=plain
        )

    def on_sessions_seen(self, message: SessionsSeen) -> None:
        from agentplane.tui.screens.tools import session_rows

        self._sessions = session_rows.by_row(message.watched)
        if self._shown is not None:
            self.rows_replaced()
            self.show_detail()

    def rows_replaced(self) -> None:
        """Add sessions that were found while the rows were made."""
        made = self._made_rows()
        if made != self._rows:
            self._rows = made
            self.view.replace(made)
            if self._words:
                self._filter(self._words)
            self.update_status()

    @property
    def _now(self) -> float:
        model = self.plane_app.model
        return model.plane.store.clock().timestamp() if model else 0.0

    def matching(self, words: str, shown: "PlaneView | None", rows_: list[Row]) -> Collection[str] | None:
        from agentplane.tui.screens.tools import rows, session_rows

        tools = rows.matching(words, self._views.values())
        return [*tools, *session_rows.matching(words, self._sessions, tools)]

    def empty_text(self) -> str:
        return UNREAD + self._problem if self._problem else self.no_hit()

    def on_screen_resume(self) -> None:
        # Other programs change tool files, and agentplane doesn't watch them.
        self.read(force=True)
        self.plane_app.sessions.look()

    # The detail

    def detail(self) -> Widget:
        from agentplane.tui.screens.text_pane import Page

        return Page()

    def show_detail(self) -> None:
        from agentplane.tui.screens.tools import rows, session_rows

        page: Page | None = self.panes.detail  # type: ignore[assignment]
        here, shown = self.current or "", self._shown
        if page is None or shown is None:
            return
        now, plain, keys = self._now, self.plane_app.plain, self.plane_app.keys_wanted
        if (watched := self._sessions.get(here)) is not None:
            page.show_page(here, lambda look: session_rows.sections(watched, shown.revision, now, look, keys))
        elif (view := self._views.get(here)) is not None:
            mine = [one for one in self._sessions.values() if one.session.tool == here]
            in_use = structs.replace(view, where=session_rows.IN_USE) if mine else view
            page.show_page(
                here,
                lambda look: session_rows.with_tool(
                    rows.sections(in_use, shown.revision, look, keys, plain=plain), mine, now, look
                ),
            )
        else:
            page.show_page("", lambda _: ())

    # Actions

    @property
    def action_names(self) -> dict[str, str]:
        return {"leave": "back"} | ({} if self._sessions else {"tools.restart": ""})

    def idle_status(self) -> str:
        wired = sum(view.status not in ("", "memory only") for view in self._views.values())
        sessions = [one.session for one in self._sessions.values()]
        old = sum(one.state == "old" and not one.reloads for one in sessions)
        running = f"{len(sessions)} running" + (f", {old} outdated" if old else "")
        shown = self.plane_app.shown
        auto = bool(shown and shown.memory.snapshot.settings.tools.restart == "auto")
        parts = (f"{wired} connected", running if sessions else "", "automatic restart on" if auto else "")
        return " · ".join(filter(None, parts)) if self._views else ""

    def what_is_off(self) -> dict[str, str]:
        listing = self.view.listing
        every = ("tools.wire", "tools.sync", "tools.unwire")
        all_ = (*every, "tools.restart")
        if self.plane_app.shown is None:
            return dict.fromkeys(all_, STILL_READ)
        if not listing.target_ids:
            why = SELECTION_HIDDEN if listing.marks else NO_ROW
            return dict.fromkeys(all_, why)
        views = [self._views[name] for name in listing.target_ids if name in self._views]
        off: dict[str, str] = (
            {}
            if views
            else dict.fromkeys(every, f"this row is a session ({self.key('tools.restart')} to restart it)")
        )
        if views and all(view.status == "wired" for view in views):
            off |= {"tools.wire": "the tool is already connected", "tools.sync": _UP_TO_DATE}
        elif views and all(view.file.state == "current" for view in views):
            off["tools.sync"] = _UP_TO_DATE
        if views and not any(view.status for view in views):
            off["tools.unwire"] = "the tool isn't connected"
        if not self._to_restart:
            off["tools.restart"] = "no session has outdated memory"
        return off

    @property
    def _to_restart(self) -> "list[WatchedSession]":
        """The sessions to act on. For a tool, these are its sessions with outdated memory."""
        target_ids = set(self.view.listing.target_ids)
        return [
            watched
            for id_, watched in self._sessions.items()
            if id_ in target_ids
            or (
                watched.session.tool in target_ids
                and watched.session.state == "old"
                and not watched.session.reloads
            )
        ]

    def action_restart_here(self) -> None:
        restarts = self.plane_app.sessions.restarts
        if self.may("tools.restart") and self.plane_app.may_decide() and restarts is not None:
            restarts.ask([watched.session for watched in self._to_restart])

    def action_wire(self) -> None:
        self._ask("wire")

    def action_sync(self) -> None:
        self._ask("sync")

    def action_unwire(self) -> None:
        self._ask("unwire")

    def _ask(self, verb: str) -> None:
        if self.may(f"tools.{verb}"):
            names = tuple(name for name in self.view.listing.target_ids if name in self._views)
            self.ask_before(partial(_planned, verb=verb, names=names), self._write)

    def _write(self, planned: "Planned") -> None:
        names, verb = tuple(tool.name for tool in planned.tools), planned.verb
        self.submit(_COMMANDS[verb](names))


def _planned(plane: "Plane", verb: str, names: tuple[str, ...]) -> "Planned":
    from agentplane.tui.backend import tools_model

    return tools_model.planned(plane, verb, names)
