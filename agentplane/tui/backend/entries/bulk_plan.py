"""The candidates that a bulk approval would include, and the reasons for leaving others out."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import msgspec


if TYPE_CHECKING:
    from agentplane.memory.entry import Entry
    from agentplane.review.inbox import Reviewed
    from agentplane.tui.backend.model import PlaneView

_TITLES = 10


class Bulk(msgspec.Struct, frozen=True):
    ids: tuple[str, ...]
    kinds: tuple[tuple[str, int], ...]
    """The number of entries of each kind, most frequent kind first."""
    titles: tuple[tuple[str, str], ...]
    """The statements of the first candidates, those with advice before the others, each with its advice or an empty text."""
    left_out: tuple[tuple[int, str], ...]
    warned: int = 0
    """The number of included candidates with a flag."""
    advised: int = 0
    """The number of included candidates with advice, such as `may contradict DEC-014 (0.87)`."""


def clean_ones(shown: "PlaneView", in_list: Collection[str]) -> Bulk:
    """Return the bulk approval of all ready candidates in the filtered list."""
    wanted = set(in_list)
    left_out: Counter[str] = Counter()
    included: list[Entry] = []
    edited = {edit.id for edit in shown.hand_edits}
    for entry in shown.inbox:
        reviewed = shown.reviewed.get(entry.id)
        if entry.id in shown.attention.folded:
            left_out["folded"] += 1
        elif entry.id not in wanted:
            left_out["hidden by the filter"] += 1
        elif entry.id in edited:
            left_out["with a manual edit"] += 1
        elif reviewed is None or not reviewed.checked:
            left_out["not checked yet"] += 1
        elif reviewed.contested:
            left_out["with a conflict"] += 1
        elif reviewed.flags:
            left_out["with a flag"] += 1
        else:
            included.append(entry)
    return _bulk(shown, included, left_out)


def marked_ones(shown: "PlaneView", target_ids: Sequence[str], hidden: int) -> Bulk:
    """Return the bulk approval of the selected candidates that are shown.

    A candidate with a conflict or with a flag of high severity is left out, because it needs a separate
    decision.
    """
    # The first paint doesn't need the gate.
    from agentplane.review.gate import gate

    actions = msgspec.structs.asdict(shown.memory.snapshot.settings.gate)
    entries = {entry.id: entry for entry in shown.inbox}
    edited = {edit.id for edit in shown.hand_edits}
    left_out: Counter[str] = Counter({"selected, but hidden by the filter": hidden} if hidden else {})
    included: list[Entry] = []
    warned = 0
    for id_ in target_ids:
        reviewed = shown.reviewed.get(id_)
        if id_ not in entries:
            left_out["not in the inbox"] += 1
        elif id_ in edited:
            left_out["with a manual edit"] += 1
        elif reviewed is not None and reviewed.contested:
            left_out["with a conflict, to be compared one by one"] += 1
        elif (reviewed is None or reviewed.flags) and gate.has_high_flag(entries[id_], actions):
            left_out["with a high-severity flag, to be approved one by one"] += 1
        else:
            included.append(entries[id_])
            warned += bool(reviewed and reviewed.flags)
    return _bulk(shown, included, left_out, warned)


def _bulk(shown: "PlaneView", included: "Sequence[Entry]", reasons: Counter[str], warned: int = 0) -> Bulk:
    kinds = Counter(entry.head.type or "no kind" for entry in included)
    advice = {entry.id: _advice(shown.reviewed.get(entry.id)) for entry in included}
    advised_first = sorted(included, key=lambda entry: not advice[entry.id])
    return Bulk(
        ids=tuple(entry.id for entry in included),
        kinds=tuple(kinds.most_common()),
        titles=tuple((entry.statement, advice[entry.id]) for entry in advised_first[:_TITLES]),
        left_out=tuple((count, why) for why, count in reasons.most_common()),
        warned=warned,
        advised=sum(map(bool, advice.values())),
    )


def _advice(reviewed: "Reviewed | None") -> str:
    if reviewed is None or not reviewed.conflicts:
        return ""
    from agentplane.review.conflicts.resolve import headline

    return headline(reviewed.conflicts[0], len(reviewed.conflicts))
