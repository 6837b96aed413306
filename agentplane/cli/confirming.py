"""Asking a person to confirm a flag of high severity: the spot is shown, then one text is approved or left."""

import os
import sys
from collections.abc import Callable
from typing import TypeVar

from agentplane.api import Plane
from agentplane.cli import out
from agentplane.errors import BadInput
from agentplane.memory.entry import Entry
from agentplane.plane.origin import tool_in
from agentplane.plane.settings import Settings
from agentplane.review.confirm import Confirmation, Unconfirmed
from agentplane.review.policy import check_person
from agentplane.text.visible import cells, one_line


_Done = TypeVar("_Done")

_MOST = 10
OPTION = "--confirm"
HELP = "Approve one flagged text as it is; names the flags, for example `secret` or `hidden,instruction`."


def carried_out(plane: Plane, act: Callable[[Confirmation | None], _Done], codes: str | None) -> _Done:
    """Carry out an op. If it needs a confirmation, show the spots and ask, or take the flags named with --confirm."""
    if codes is not None:
        # Other approvals may come from a tool where the settings allow it. This one is always a person's.
        check_person(Settings(), "confirming")
    named = tuple(code.strip() for code in codes.split(",") if code.strip()) if codes is not None else None
    try:
        return act(None if named is None else Confirmation("", named))
    except Unconfirmed as error:
        if not error.alone:
            raise
        if named is None:
            if not _asks():
                raise
            _show(plane, error.entry)
            if not out.confirmed(f"Approve {one_line(error.entry.id, 40)} with this text as it is?"):
                raise
        else:
            _show(plane, error.entry)
            _check_named(error, named)
        return act(error.confirmation)


def _asks() -> bool:
    return sys.stdin.isatty() and tool_in(os.environ) is None


def _check_named(error: Unconfirmed, named: tuple[str, ...]) -> None:
    """Only what is named is confirmed, and only what is there can be named."""
    missing = [code for code in error.codes if code not in named]
    wrong = [code for code in named if code not in error.codes]
    name = one_line(error.entry.id, 40)
    if missing:
        raise BadInput(
            f"{name} has other flags as well: {', '.join(missing)}.",
            todo=f"To confirm all of them: {OPTION} {','.join(error.codes)}",
        )
    if wrong:
        said = ", ".join(one_line(code, 20) for code in wrong)
        raise BadInput(f"{name} has no flag {said}.", todo=f"Its flags are {', '.join(error.codes)}.")


def _show(plane: Plane, entry: Entry) -> None:
    """Print the spots with their lines on stderr."""
    import msgspec

    from agentplane.review import spots

    actions = msgspec.structs.asdict(plane.store.settings().gate)
    found = spots.of(entry, actions)
    for spot in found[:_MOST]:
        out.note(f"{spot.place}: {spot.what}")
        if spot.match:
            out.note(f"  {spot.before}{spot.match}{spot.after}")
            out.note(f"  {' ' * cells(spot.before)}{'^' * cells(spot.match)}")
    if len(found) > _MOST:
        out.note(f"and {len(found) - _MOST} more: agentplane show {one_line(entry.id, 40)}")
