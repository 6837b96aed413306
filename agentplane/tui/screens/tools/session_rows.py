"""Sessions as rows below their tools, and the description of a session."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import structs
from rich.console import RenderableType
from rich.text import Text

from agentplane.text.visible import one_line, visible
from agentplane.tui.actions import Keymap
from agentplane.tui.backend.list_state import PLAIN, Row
from agentplane.tui.backend.sessions import session_text
from agentplane.tui.backend.sessions.session_watch import WatchedSession, typed
from agentplane.tui.backend.tools_model import Where
from agentplane.tui.widgets.markdown import Look


IN_USE: Where = "in use here"
_BADGES = {"current": ("●", "clean"), "old": ("~", "edited"), "unknown": ("?", "quiet")}
_STYLES = {"current": "good", "old": "warn", "unknown": "muted"}


STATES: Mapping[str, str] = {"old": "outdated"}
"""The words for a state that has another name here."""


def by_row(watched: Iterable[WatchedSession]) -> dict[str, WatchedSession]:
    return {f"{one.session.tool} {one.session.pid}": one for one in watched}


def below(
    tools: Sequence[Row], sessions: Mapping[str, WatchedSession], now: float, *, plain: bool = False
) -> list[Row]:
    """Return the rows of tools, each followed by its sessions. A tool with a session is in use here."""
    running = {watched.session.tool for watched in sessions.values()}
    placed = [structs.replace(row, group=IN_USE) if row.id in running else row for row in tools]
    rows: list[Row] = []
    for tool in sorted(placed, key=lambda row: row.group != IN_USE):
        rows.append(tool)
        rows += [
            _row(id_, watched, tool.group, now, plain=plain)
            for id_, watched in sessions.items()
            if watched.session.tool == tool.id
        ]
    return rows


def _row(id_: str, watched: WatchedSession, group: str, now: float, *, plain: bool) -> Row:
    one = watched.session
    badge, state = _BADGES[one.state]
    does = "restarting" if watched.activity.asked else session_text.doing(watched, now)
    parts = (
        f"since {session_text.clock(one, now)}",
        does,
        one_line(watched.activity.branch or "", 30),
    )
    return Row(
        id=id_,
        badge=badge.translate(PLAIN) if plain else badge,
        letter=" ",
        text=f"{'-' if plain else '└'} {' · '.join(filter(None, parts))}",
        right=STATES.get(one.state, one.state),
        state=state,
        group=group,
        below=True,
    )


def matching(words: str, sessions: Mapping[str, WatchedSession], tools: Sequence[str]) -> list[str]:
    """Return the ids of sessions of these tools, and of sessions whose text contains each of the words."""
    wanted = words.casefold().split()
    return [
        id_
        for id_, watched in sessions.items()
        if watched.session.tool in tools or all(word in _text(watched) for word in wanted)
    ]


def _text(watched: WatchedSession) -> str:
    one = watched.session
    parts = (
        one.tool,
        str(one.pid),
        STATES.get(one.state, one.state),
        watched.activity.state,
        watched.activity.branch,
        one.revision,
        "session",
    )
    return " ".join(filter(None, parts)).casefold()


def sections(
    watched: WatchedSession, revision: str, now: float, look: Look, keys: Keymap
) -> Iterator[list[RenderableType]]:
    """Yield the description of a session, section by section."""
    one, activity = watched.session, watched.activity
    yield [Text(f"{one.tool} session (process {one.pid})", look("strong"))]
    facts = {
        "started": f"{session_text.clock(one, now)}, {session_text.span(session_text.age(one, now))} ago",
        "branch": visible(activity.branch or ""),
        "folder": visible(one.folder),
        "run": one.run_id or "",
        "status": session_text.doing(watched, now)
        or "unknown, because the session runs without agentplane's hooks",
    }
    yield [
        Text(f"{name:<8}", look("muted")).append(value, look("text"))
        for name, value in facts.items()
        if value
    ]
    yield [Text("Memory", look("heading")), Text(_memory(watched, revision), look(_STYLES[one.state]))]
    yield [Text("Restart", look("heading")), *_restarting(watched, look, keys)]


def _memory(watched: WatchedSession, revision: str) -> str:
    one = watched.session
    if one.reloads:
        return f"The session reloads its memory automatically. The current memory revision is {revision}."
    if one.revision is None:
        return f"The session's memory revision is unknown. The current memory revision is {revision}."
    if one.state == "current":
        return f"The session has the current memory revision, {one.revision}."
    return f"The session has memory revision {one.revision}, which is outdated. The current revision is {revision}."


def _restarting(watched: WatchedSession, look: Look, keys: Keymap) -> Iterator[Text]:
    one = watched.session
    yield Text(_effect(watched, keys))
    if one.state == "old" and one.resume and not one.reloads:
        yield Text(visible(typed(one)), look("code"))


def _effect(watched: WatchedSession, keys: Keymap) -> str:
    one = watched.session
    if watched.activity.asked:
        return "A restart was requested. The session restarts when it is idle."
    if session_text.can_be_asked(one):
        key = keys.key("tools.restart")
        if one.hooked:
            return f"{key} restarts the session as soon as it is idle, with the tool's own resume command."
        return (
            f"{key} restarts the session now, with the tool's own resume command. "
            "Agentplane can't wait, because the session doesn't report when it is idle."
        )
    result = session_text.choice_result(watched)
    if result == session_text.TO_TYPE:
        return (
            "The session wasn't started with `agentplane run`, so agentplane can't restart it. "
            f"{keys.key('tools.restart')} shows and copies the command to restart the session yourself."
        )
    return f"{result[0].upper()}{result[1:]}."


def with_tool(
    tool_sections: Iterable[list[RenderableType]], sessions: Sequence[WatchedSession], now: float, look: Look
) -> Iterator[list[RenderableType]]:
    """Yield the description of a tool, with its sessions after its name."""
    first, *rest = tool_sections
    yield from (first, _listed(sessions, now, look), *rest)


def _listed(sessions: Sequence[WatchedSession], now: float, look: Look) -> list[RenderableType]:
    if not sessions:
        return []
    lines: list[RenderableType] = [Text("Running sessions", look("heading"))]
    for watched in sessions:
        one = watched.session
        given = (
            f"memory revision {one.revision}, {STATES.get(one.state, one.state)}"
            if one.revision
            else "memory revision unknown"
        )
        parts = (
            f"process {one.pid}, since {session_text.clock(one, now)}",
            session_text.doing(watched, now),
            watched.activity.branch,
            given,
        )
        lines.append(Text(visible(" · ".join(filter(None, parts))), look(_STYLES[one.state])))
    return lines
