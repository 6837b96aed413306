"""Print the result of an operation, and the command to undo it."""

from contextlib import suppress
from typing import Any

import msgspec

from agentplane.api import Plane
from agentplane.api.committer import required
from agentplane.api.results import Committed, LeftBeside, Reached
from agentplane.cli import output, verbs
from agentplane.commands import MemoryCommand
from agentplane.errors import AgentplaneError
from agentplane.memory.verbs import listed, succession
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible
from agentplane.tools.sessions import sessions
from agentplane.tools.sessions.sessions import Session


_FEW = 4


def carry_out(plane: Plane, command: MemoryCommand, *, as_json: bool) -> None:
    """Carry out a command and print its result."""
    report(plane, required(plane.do(command)), as_json=as_json)


def report(plane: Plane, done: Committed, *, as_json: bool) -> None:
    """Print the result of an operation, the command to undo it, and the tool files that have its memory."""
    if as_json:
        fields = {"op": done.op, "verb": done.verb, "ids": done.ids, "revision": done.revision}
        session_rows = [session_row(one) for one in _with_old_memory(plane, done.revision)]
        output.emit(
            "op",
            **msgspec.to_builtins(fields),
            **reached_fields(done.reached),
            sessions=session_rows,
            beside=[_beside_row(both) for both in done.left_beside],
        )
        return
    inverse = "redo" if done.verb == "undo" else "undo"
    output.note(f"{_summary(done)} · memory revision {done.revision} · `agentplane {inverse}` to {inverse}")
    _print_beside(done)
    print_reached(done.reached)
    restarting = {one.pid for one in done.reached.restarting}
    with_old = _with_old_memory(plane, done.revision)
    for one in with_old:
        todo = (
            "agentplane will restart it as soon as it is idle."
            if one.pid in restarting
            else "Run `agentplane restart` to update it."
        )
        output.note(f"{one.tool} (pid {one.pid}) is using outdated memory. {todo}")


def _print_beside(done: Committed) -> None:
    """Print what the approved entries contradict or repeat, the first few of them."""
    from agentplane.review.conflicts.resolve import headline

    for both in done.left_beside[:_FEW]:
        output.note(f"{both.id} {headline(both.conflict)}. {both.other} was not changed.")
    if (rest := len(done.left_beside) - _FEW) > 0:
        output.note(f"{rest} more of the approved entries may contradict or repeat other entries.")


def _beside_row(both: LeftBeside) -> dict[str, Any]:
    return {"id": both.id, "other": both.other, "kind": both.conflict.kind, "score": both.conflict.score}


def reached_fields(by: Reached) -> dict[str, Any]:
    """Return the updated tool files as JSON, and the reason for each file that still has older memory."""
    delivered = by.delivered
    return {
        "delivered": delivered.brought if delivered else (),
        "old_memory": delivered.kept if delivered else {},
    }


def print_reached(by: Reached) -> None:
    delivered = by.delivered
    if delivered and delivered.brought:
        output.note(f"Updated {', '.join(map(visible, delivered.brought))}.")
    for path, reason in (delivered.kept if delivered else {}).items():
        output.note(
            f"{visible(path)} still has outdated memory, because it {one_line(reason, 120)}. "
            "Run `agentplane sync` to update it."
        )


def session_row(one: Session) -> dict[str, Any]:
    """Return a session as JSON."""
    return {
        "tool": one.tool,
        "pid": one.pid,
        "run_id": one.run_id,
        "since": one.since,
        "revision": one.revision,
        "state": one.state,
        "wrapped": one.wrapped,
        "reloads": one.reloads,
        "resume": one.resume,
    }


def _with_old_memory(plane: Plane, revision: str) -> list[Session]:
    """Return the sessions whose memory isn't the one of this revision.

    Return an empty list if they can't be listed, because the operation is done.
    """
    with suppress(AgentplaneError, OSError):
        return sessions.old(plane.tools.sessions(revision, closely=False))
    return []


def _summary(done: Committed) -> str:
    """Return a text such as `Deprecated DEC-014`."""
    if text := succession(done.verb, done.ids):
        return text
    subject = _approved(done) if done.verb in ("approve", "supersede") else listed(done.ids)
    return f"{verbs.past(done.verb, done.of)} {subject}"


def _approved(done: Committed) -> str:
    """Return a list of the approved and superseded entries, and of the rejected and dropped candidates."""
    others = [id_ for id_ in done.ids if id_ not in (*done.renamed, *done.renamed.values())]
    known = done.snapshot.ledger.known
    changed = [id_ for id_ in others if id_ in known and known[id_].digest is not None]
    dropped = [id_ for id_ in others if id_ not in (*changed, *done.rejected)]
    parts = [counted(len(done.renamed), "candidate")]
    what = "superseded" if done.verb == "supersede" else "linked"
    parts += [f"{what} {listed(changed)}"] if changed else []
    parts += [f"rejected {listed(done.rejected)}"] if done.rejected else []
    parts += [f"removed the duplicate {listed(dropped)}"] if dropped else []
    return ", ".join(parts)
