"""Deciding: approve, reject, deprecate, adopt, revert. A person's, at a terminal."""

import click
import msgspec

from agentplane.cli import out
from agentplane.cli.door import ids_argument, json_option, opened
from agentplane.plane.store import Done
from agentplane.text.visible import one_line


_FEW = 4
_PAST = {
    "approve": "approved",
    "reject": "rejected",
    "deprecate": "deprecated",
    "adopt": "adopted",
    "revert": "reverted",
    "edit": "edited",
    "undo": "undid",
    "redo": "redid",
    "prune": "pruned",
}


@click.command()
@ids_argument()
@json_option
def approve_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Move candidates to the shelf."""
    done = opened(deciding="approving").approve(ids)
    if not as_json:
        for candidate, entry in zip(done.ids[::2], done.ids[1::2], strict=True):
            out.line(f"{candidate} -> {entry}")
    report(done, as_json=as_json)


@click.command()
@ids_argument()
@click.option("--why", help="The reason; it is kept.")
@json_option
def reject_command(ids: tuple[str, ...], why: str | None, as_json: bool) -> None:
    """Drop candidates."""
    report(opened(deciding="rejecting").reject(ids, why), as_json=as_json)


@click.command()
@ids_argument()
@click.option("--why", help="The reason; it is kept.")
@json_option
def deprecate_command(ids: tuple[str, ...], why: str | None, as_json: bool) -> None:
    """Take entries out of force; they stay on the shelf as deprecated."""
    report(opened(deciding="deprecating").deprecate(ids, why), as_json=as_json)


@click.command()
@ids_argument(required=False)
@json_option
def adopt_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Approve what was edited by hand; without an ID, all of it."""
    report(opened(deciding="adopting").adopt(ids), as_json=as_json)


@click.command()
@ids_argument(required=False)
@json_option
def revert_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Put back what was approved before an edit by hand; without an ID, all of it.

    What stood there by hand is kept in the op: `agentplane undo` brings it back.
    """
    report(opened(deciding="reverting").revert(ids), as_json=as_json)


def report(done: Done, *, as_json: bool) -> None:
    """What an op did, and how it is taken back."""
    if as_json:
        fields = {"op": done.op, "verb": done.verb, "ids": done.ids, "revision": done.revision}
        out.emit("op", **msgspec.to_builtins(fields))
        return
    many = len(done.ids) > _FEW
    what = f"{len(done.ids)} ids" if many else ", ".join(one_line(id_, 40) for id_ in done.ids)
    if done.verb == "approve":
        what = out.count(len(done.ids) // 2, "candidate")
    did = f"{_PAST[done.verb]} the {done.of} of" if done.of != done.verb else _PAST[done.verb]
    back = "`agentplane redo` does it again" if done.verb == "undo" else "`agentplane undo` takes it back"
    out.note(f"{did} {what} · memory {done.revision} · {back}")
