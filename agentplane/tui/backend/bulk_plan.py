"""The candidates that a bulk approval would include, and the reasons for leaving others out."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import msgspec


if TYPE_CHECKING:
    from agentplane.memory.entry import Entry
    from agentplane.tui.backend.model import PlaneView

_TITLES = 10


class Bulk(msgspec.Struct, frozen=True):
    ids: tuple[str, ...]
    kinds: tuple[tuple[str, int], ...]
    """The number of entries of each kind, most frequent kind first."""
    titles: tuple[str, ...]
    """The statements of the first candidates."""
    left_out: tuple[tuple[int, str], ...]
    warned: int = 0
    """The number of included candidates with a flag."""


def clean_ones(shown: "PlaneView", in_list: Collection[str]) -> Bulk:
    """Return the bulk approval of all ready candidates in the filtered list."""
    wanted = set(in_list)
    out: Counter[str] = Counter()
    taken: list[Entry] = []
    edited = {edit.id for edit in shown.hand_edits}
    for entry in shown.inbox:
        found = shown.reviewed.get(entry.id)
        if entry.id not in wanted:
            out["hidden by the filter"] += 1
        elif entry.id in edited:
            out["changed by hand"] += 1
        elif found is None or not found.checked:
            out["not checked yet"] += 1
        elif found.contested:
            out["with a conflict"] += 1
        elif found.flags:
            out["with a flag"] += 1
        else:
            taken.append(entry)
    return _bulk(taken, out)


def marked_ones(shown: "PlaneView", acted: Sequence[str], hidden: int) -> Bulk:
    """Return the bulk approval of the selected candidates that are shown.

    A candidate with a conflict or with a flag of high severity is left out, because it needs a separate
    decision.
    """
    # The first paint doesn't need the gate.
    from agentplane.review.gate import gate

    actions = msgspec.structs.asdict(shown.memory.snapshot.settings.gate)
    entries = {entry.id: entry for entry in shown.inbox}
    edited = {edit.id for edit in shown.hand_edits}
    out: Counter[str] = Counter({"marked, but hidden by the filter": hidden} if hidden else {})
    taken: list[Entry] = []
    warned = 0
    for id_ in acted:
        found = shown.reviewed.get(id_)
        if id_ not in entries:
            out["not in the inbox"] += 1
        elif id_ in edited:
            out["changed by hand"] += 1
        elif found is not None and found.contested:
            out["with a conflict: compare them one by one"] += 1
        elif (found is None or found.flags) and gate.has_high_flag(entries[id_], actions):
            out["with a high-severity flag: approve them one by one"] += 1
        else:
            taken.append(entries[id_])
            warned += bool(found and found.flags)
    return _bulk(taken, out, warned)


def _bulk(taken: "Sequence[Entry]", out: Counter[str], warned: int = 0) -> Bulk:
    kinds = Counter(entry.head.type or "no kind" for entry in taken)
    return Bulk(
        ids=tuple(entry.id for entry in taken),
        kinds=tuple(kinds.most_common()),
        titles=tuple(entry.statement for entry in taken[:_TITLES]),
        left_out=tuple((count, why) for why, count in out.most_common()),
        warned=warned,
    )
