"""Ask a person to confirm a flag of high severity.

The spot is shown, and the person approves a single text or leaves it unchanged.
"""

import os
import sys

import msgspec

from agentplane.agents.catalog import tool_in
from agentplane.api import Plane
from agentplane.api.results import Committed
from agentplane.cli import output
from agentplane.commands import (
    Adopt,
    Approve,
    ChangeKind,
    Edit,
    Merge,
    MergeEntries,
    SetFields,
    SplitEntry,
)
from agentplane.errors import BadInput, Refused
from agentplane.memory.entry import Entry
from agentplane.plane.settings import Settings
from agentplane.review.confirm import Confirmation, Unconfirmed
from agentplane.review.policy import check_person
from agentplane.text.visible import cells, one_line


OPTION = "--confirm"
Confirmable = Approve | Merge | Edit | Adopt | SetFields | MergeEntries | SplitEntry | ChangeKind
HELP = "Flags to confirm, for example `secret` or `hidden,instruction`. Requires a single ID."


def carried_out(plane: Plane, command: Confirmable, codes: str | None) -> Committed | None:
    """Carry out a command, and confirm its flags if it needs that.

    The flags come from --confirm, or the person is shown the spots and asked. Return None if there was
    nothing to change.
    """

    def act(confirmed: Confirmation | None) -> Committed | None:
        return plane.do(msgspec.structs.replace(command, confirmed=confirmed))

    if codes is not None:
        # Settings can let a tool approve other texts. Only a person can confirm a flag.
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
            output.forget_typed()
            if not output.confirmed(
                f"Approve {one_line(error.entry.id, 40)} without changing the flagged text?"
            ):
                raise
        else:
            _show(plane, error.entry)
            _check_named(error, named)
        return act(error.confirmation)


def _asks() -> bool:
    return sys.stdin.isatty() and tool_in(os.environ) is None


def _check_named(error: Unconfirmed, named: tuple[str, ...]) -> None:
    """Raise BadInput unless exactly the flags of the text are named."""
    missing = [code for code in error.codes if code not in named]
    wrong = [code for code in named if code not in error.codes]
    name = one_line(error.entry.id, 40)
    if missing:
        raise BadInput(
            f"{name} also has other flags: {', '.join(missing)}.",
            todo=f"To confirm all of its flags, use {OPTION} {','.join(error.codes)}.",
        )
    if wrong:
        unknown = ", ".join(one_line(code, 20) for code in wrong)
        raise BadInput(
            f"{name} doesn't have the flag {unknown}.",
            todo=f"{name} has these flags: {', '.join(error.codes)}.",
        )


def _show(plane: Plane, entry: Entry) -> None:
    """Print every spot with its line on stderr. Refuse a text with too many spots to read."""
    from agentplane.review import spots
    from agentplane.review.gate.verdicts import SECRET

    actions = msgspec.structs.asdict(plane.store.settings().gate)
    found = spots.of(entry, actions)
    if len(found) > spots.MOST_CONFIRMED:
        name = one_line(entry.id, 40)
        raise Refused(
            f"{name} has {len(found):,} flagged passages, which is too many to confirm.",
            todo=f"Edit the text with `agentplane edit {name}`.",
        )
    if any(spot.code == SECRET for spot in found):
        output.note(
            "Tools don't receive entries that contain a likely secret, even if the entries are approved."
        )
    for spot in found:
        output.note(f"{spot.place}: {spot.what}")
        if spot.match:
            output.note(f"  {spot.before}{spot.match}{spot.after}")
            output.note(f"  {' ' * cells(spot.before)}{'^' * cells(spot.match)}")
