"""The texts about sessions of coding tools, such as a line about outdated memory and the results of restarts."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from agentplane.text.visible import one_line, visible
from agentplane.tui.backend.sessions.session_watch import Help, WatchedSession, left_alone, typed


if TYPE_CHECKING:
    from agentplane.tools.sessions.restart import Outcome
    from agentplane.tools.sessions.sessions import Session

TO_TYPE = "show the command"
_START_AGAIN = "end the session and start it again"
_MOST_NAMED = 2
_MINUTE, _DAY = 60, 86400
_UNITS = ((_DAY, "d"), (3600, "h"), (_MINUTE, "min"), (1, "s"))


def span(seconds: float) -> str:
    """Return a duration in the largest unit that fits."""
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
    return f"{max(int(seconds // size), 0)} {unit}"


def age(one: "Session", now: float) -> float:
    """Return the number of seconds since the session began."""
    return max(now - datetime.fromisoformat(one.since).timestamp(), 0.0)


def clock(one: "Session", now: float) -> str:
    """Return the local time at which the session began, or the date if it is older than a day."""
    moment = datetime.fromisoformat(one.since).astimezone()
    return f"{moment:%H:%M}" if age(one, now) < _DAY else f"{moment:%d %b}".lstrip("0")


def doing(watched: WatchedSession, now: float) -> str:
    """Return `idle`, `idle for 2 min` or `busy`, or an empty string if the activity is unknown."""
    activity = watched.activity
    if activity.state == "idle":
        since = min(max(now - activity.since, 0.0), age(watched.session, now))
        return "idle" if since < _MINUTE else f"idle for {span(since)}"
    return "busy" if activity.state == "at work" else ""


def can_be_asked(one: "Session") -> bool:
    return one.asked and one.state == "old" and not one.reloads and not one.scripted


def _at_once(one: "Session") -> str:
    return "" if one.hooked else " now"


def prompts(old: Sequence[WatchedSession], key: str, now: float) -> list[str]:
    """Return texts such as `codex (idle for 2 min) has outdated memory: M to restart`, with shorter ones for narrow screens."""
    count = len(old)
    if count == 1:
        does = (
            f"{key} to restart{_at_once(old[0].session)}"
            if can_be_asked(old[0].session)
            else f"{key} to {TO_TYPE}"
        )
        return [
            f"{_described(old[0], now)} has outdated memory: {does}",
            f"{old[0].session.tool} has outdated memory: {key}",
        ]
    names = [_described(one, now) for one in old[:_MOST_NAMED]]
    listed = (
        ", ".join(names) + f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else " and ".join(names)
    )
    return [f"{who} have outdated memory: {key} to list them" for who in (listed, f"{count} sessions")]


def _described(watched: WatchedSession, now: float) -> str:
    return f"{watched.session.tool} ({doing(watched, now) or f'pid {watched.session.pid}'})"


def choice(watched: WatchedSession, now: float) -> str:
    """Return the line for a session in a list of choices, with its memory revision and the result of choosing it."""
    one = watched.session
    activity = doing(watched, now)
    parts = (
        f"{one.tool}, pid {one.pid}",
        f"memory revision {one.revision}",
        activity,
        choice_result(watched),
    )
    return " · ".join(filter(None, parts))


def choice_result(watched: WatchedSession) -> str:
    """Return the result of choosing this session."""
    one = watched.session
    if watched.activity.asked:
        return "restarts when idle"
    if why := left_alone(one):
        return why
    if can_be_asked(one):
        return "restarts when idle" if watched.activity.state == "at work" else f"restarts{_at_once(one)}"
    return TO_TYPE


def restart_result(one: "Session", outcome: "Outcome", revision: str) -> str:
    """Return the result so far of a request to restart a session."""
    match outcome.state:
        case "restarted":
            return (
                f"{one.tool} restarted with memory revision {revision}"
                if revision
                else f"{one.tool} restarted"
            )
        case "waits":
            return f"{one.tool} restarts when idle. Current state: {one_line(outcome.why, 80)}"
        case "ended":
            command = typed(one)
            return f"{_named(one)} has ended" + (
                f". To resume it, run: {visible(command)}" if command else ""
            )
    message = f"{_named(one)} was not restarted: {one_line(outcome.why, 100)}"
    if one.state != "old":
        return message
    command = typed(one)
    return (
        f"{message}. End the session, then run: {visible(command)}"
        if command
        else f"{message}. To update its memory, {_START_AGAIN}"
    )


def instructions(help_: Help) -> str:
    """Return instructions for a session that a person has to restart."""
    one = help_.session
    if help_.why:
        return f"{_named(one)}: {help_.why}"
    if help_.command:
        return f"{_named(one)}: end the session, then run this command (copied): {visible(help_.command)}"
    return f"{_named(one)}: {_START_AGAIN} (its session ID is unknown)"


def _named(one: "Session") -> str:
    return f"{one.tool} (pid {one.pid})"
