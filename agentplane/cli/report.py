"""What an op did, and how it is taken back."""

import msgspec

from agentplane.cli import out
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
    "supersede": "approved",
    "merge": "merged",
}


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
