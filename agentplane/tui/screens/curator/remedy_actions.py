"""The actions of the screen that carry out remedies, and the words for what they do."""

from collections.abc import Mapping, Sequence

import msgspec

from agentplane.curate import remedies
from agentplane.curate.remedies import Remedy


ACTIONS: Mapping[type[Remedy], str] = {
    remedies.Renew: "curator.renew",
    remedies.MoveEvidence: "curator.move",
    remedies.EditEntry: "edit",
    remedies.Deprecate: "curator.deprecate",
    remedies.Supersede: "curator.supersede",
    remedies.MergeEntries: "curator.merge",
}
"""The actions for remedies of one type. The other remedies are in the list of all remedies."""
_OTHER = "curator.other"
_SHORT: Mapping[type[Remedy], str] = {
    remedies.Renew: "renew",
    remedies.MoveEvidence: "update evidence",
    remedies.EditEntry: "edit",
    remedies.Deprecate: "deprecate",
    remedies.Supersede: "supersede",
    remedies.MergeEntries: "merge",
    remedies.SplitEntry: "split",
    remedies.SetExpiry: "set expiry",
    remedies.SetScope: "change scope",
    remedies.SetKind: "change kind",
    remedies.ApproveInstead: "approve instead",
    remedies.ReviewEdit: "accept",
    remedies.ApproveCheck: "allow command",
}


def action_of(remedy: Remedy) -> str:
    """Return the id of the action that carries out a remedy."""
    if isinstance(remedy, remedies.ReviewEdit) and not remedy.accept:
        return "curator.discard"
    return ACTIONS.get(type(remedy), _OTHER)


def short_name(remedy: Remedy) -> str:
    """Return a word or two for the footer."""
    if isinstance(remedy, remedies.ReviewEdit) and not remedy.accept:
        return "discard"
    return _SHORT[type(remedy)]


def label(remedy: Remedy, statements: Mapping[str, str]) -> str:
    """Return a line that names a remedy and the entries that it changes, for a list to choose from."""
    match remedy:
        case remedies.Supersede(id=id_, by=by):
            return f"{by} replaces {id_}: {statements.get(by, '')}"
        case remedies.MoveEvidence(new=new):
            return f"{remedy.title}: {new}"
        case remedies.SetKind(kind=kind):
            return f"{remedy.title} to {kind}"
        case remedies.ReviewEdit(accept=False):
            return "Discard the edit"
        case _:
            ids = remedy_ids(remedy)
            return f"{remedy.title}: {', '.join(ids)}  {statements.get(ids[0], '')}"


def remedy_ids(remedy: Remedy) -> tuple[str, ...]:
    """Return the ids of the entries that a remedy is about."""
    match remedy:
        case remedies.Renew() | remedies.Deprecate() | remedies.MergeEntries() | remedies.SetExpiry():
            return remedy.ids
        case _:
            return (remedy.id,)


def question(remedy: Remedy) -> str:
    """Return the question before a remedy writes something."""
    ids = remedy_ids(remedy)
    what = ids[0] if len(ids) == 1 else f"{len(ids):,} entries"
    match remedy:
        case remedies.MoveEvidence():
            return f"Update the evidence of {what}?"
        case remedies.Supersede(by=by):
            return f"Mark {what} as superseded by {by}?"
        case remedies.SetExpiry(day=day):
            return f"Set the expiry date of {what} to {day}?"
        case remedies.SetScope():
            return f"Change the scope of {what}?"
        case remedies.SetKind(kind=kind):
            return f"Turn {what} into a {kind}?"
        case remedies.ApproveInstead(candidate=candidate):
            return f"Approve {candidate} instead of {what}?"
        case _:
            return f"{short_name(remedy).capitalize()} {what}?"


class Joined(msgspec.Struct, frozen=True):
    """One remedy for several findings, or the reason why there is none."""

    remedy: Remedy | None = None
    why: str = ""


DIFFERENT = "the selected findings need different remedies, so apply them one by one"


def joined(chosen: Sequence[Remedy]) -> Joined:
    """Return one remedy that does the same as all of these. Only entries as a whole can be joined."""
    if len(chosen) == 1:
        return Joined(chosen[0])
    ids = tuple(dict.fromkeys(id_ for remedy in chosen for id_ in remedy_ids(remedy)))
    for kind in (remedies.Renew, remedies.Deprecate):
        if all(isinstance(remedy, kind) for remedy in chosen):
            return Joined(kind(ids))
    return Joined(why=DIFFERENT)
