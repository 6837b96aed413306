"""The context pack, which gives a tool the project's approved memory within a budget of tokens.

Statements get room first, in order. The other lines of entries share the remaining room. Invariants in scope
are therefore the last entries to be left out. If a pinned entry doesn't fit, the unpinned entries after it
are left out too. Entries without room are named. The text depends only on the memory and the request, never
on the clock or the machine, so it stays the same to the byte while nothing changes.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from agentplane.context import returned
from agentplane.context.choose import Ask, Choice, choose
from agentplane.context.pack_text import Size, frame, item, notes_section, other_lines, reserve, whole_text
from agentplane.context.sources import Sources
from agentplane.memory import expiry, ids
from agentplane.memory.entry import Entry
from agentplane.text.json import canonical


SCHEMA = "agentplane/receipt@1"
LEAST = 200
"""A budget below this has no room for the frame and a statement."""


class GivenEntry(msgspec.Struct, frozen=True):
    id: str
    sha256: str
    """Hash of the approved text."""
    form: str
    """`full`, or `statement` if the other lines had no room."""
    pinned: bool = False


CutKind = Literal["room", "held", "scope", "said", "expired"]
"""The reason an entry is left out.

- `room` means that the entry doesn't fit the budget.
- `held` means that the entry would fit, but a pinned entry doesn't.
- `scope` means that the entry is about other paths.
- `said` means that an instruction file of the tool already says it.
- `expired` means that its date has passed.
"""


WITHOUT_ROOM: frozenset[CutKind] = frozenset(("room", "held"))
IN_FORCE: frozenset[CutKind] = WITHOUT_ROOM | {"scope"}
"""Kinds of cuts that another context pack of the same memory could include."""


class Cut(msgspec.Struct, frozen=True):
    id: str
    why: str
    pinned: bool = False
    kind: CutKind = "room"
    at: str = ""
    """The line of an instruction file that says it, such as `AGENTS.md:6`."""


NO_ROOM = "no room left in the budget"
HELD_BACK = "no room left, because not even all pinned entries fit in the budget"
OUTSIDE = "its scope doesn't match the given paths"


class Receipt(msgspec.Struct, frozen=True):
    """The contents of a context pack, and the entries that were cut."""

    schema: str
    revision: str
    task: str | None
    paths: tuple[str, ...]
    budget: int
    tokens: int
    sha256: str
    """Hash of the text of the context pack."""
    given: tuple[GivenEntry, ...]
    cut: tuple[Cut, ...]
    withheld: tuple[str, ...] = ()
    """The ids of entries that look like they contain a secret."""


class Pack(msgspec.Struct, frozen=True):
    text: str
    receipt: Receipt
    choice: Choice
    """The entries to choose from, in order, including the withheld ones."""
    ask: Ask = Ask()


def tokens(text: str) -> int:
    """Return an estimate that is more likely too high than too low.

    A token is about four bytes of English, and fewer bytes of code.
    """
    return -(-len(text.encode()) * 2 // 7)


def tokens_in(size: int) -> int:
    """Return the number of tokens that fit into a size in bytes, by the same estimate."""
    return size * 2 // 7


def characters(text: str) -> int:
    """Return the number of characters as JavaScript counts them, because most tools are written in it.

    Characters outside the Basic Multilingual Plane count twice.
    """
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def make(
    sources: Sources,
    ask: Ask,
    choice: Choice | None = None,
    repeated: Mapping[str, str] = MappingProxyType({}),
) -> Pack:
    """Return the context pack that fits the budget, without entries that look like they contain a secret.

    `choice` is the choice of these entries for this task and these paths, if the caller has it. Ranking is
    slow. `repeated` maps entries that an instruction file of the reader already says to their place. They are
    left out.
    """
    whole = left = choice or choose(sources.entries, ask)
    ahead = 0
    while True:
        made = _fitted(sources, ask, left, repeated)
        given = {one.id for one in made.receipt.given}
        wanted = [entry for place, entry in enumerate(left.ordered) if place < ahead or entry.id in given]
        # Entries without room are still named, and an id that agentplane didn't assign can contain a secret.
        wanted += [entry for entry in (*left.ordered, *left.outside) if not ids.is_plain(entry.id)]
        found = sources.divide(list({entry.id: entry for entry in wanted}.values()))
        if not found.withheld:
            return msgspec.structs.replace(made, choice=whole)
        sources, left = sources.without(found), left.without(found.withheld)
        # Other entries get the room of the withheld ones. Looking further ahead each time needs fewer rounds.
        ahead = 2 * max(ahead, len(given))


def _fitted(sources: Sources, ask: Ask, choice: Choice, repeated: Mapping[str, str]) -> Pack:
    ordered = [entry for entry in choice.ordered if entry.id not in repeated]
    size = _SIZES[ask.measure]
    returned_text = returned.text(sources.sent_back, ask.budget // _SHARE_RETURNED, size)
    room = ask.budget - size(frame(sources, ask) + returned_text) - reserve(ordered, size)
    forms, held_back = _forms(ordered, sources, room, size)
    left_out = [entry for entry in ordered if entry.id not in forms]
    text = whole_text(sources, ask, ordered, forms, [entry.id for entry in left_out]) + returned_text
    with_notes = f"{text}{notes_section(sources.last_run)}"
    # Unreviewed notes get only the room that reviewed entries leave.
    text = with_notes if size(with_notes) <= ask.budget else text
    receipt = Receipt(
        schema=SCHEMA,
        revision=sources.revision,
        task=_recorded(ask.task) if ask.task else None,
        paths=tuple(map(_recorded, ask.paths)),
        budget=ask.budget,
        tokens=tokens(text),
        sha256=canonical.sha256(text.encode()),
        given=tuple(
            GivenEntry(entry.id, entry.digest, forms[entry.id], entry.head.pinned)
            for entry in ordered
            if entry.id in forms
        ),
        cut=(
            *(_without_room(entry, held_back) for entry in left_out),
            *(_repeated_cut(entry, repeated[entry.id]) for entry in choice.ordered if entry.id in repeated),
            *(Cut(entry.id, OUTSIDE, entry.head.pinned, "scope") for entry in choice.outside),
            *(_expired(entry) for entry in sources.expired),
        ),
        withheld=sources.withheld,
    )
    return Pack(text, receipt, choice, ask)


def _without_room(entry: Entry, held_back: Collection[str]) -> Cut:
    if entry.id in held_back:
        return Cut(entry.id, HELD_BACK, entry.head.pinned, "held")
    return Cut(entry.id, NO_ROOM, entry.head.pinned)


def _repeated_cut(entry: Entry, place: str) -> Cut:
    return Cut(entry.id, f"{place} already says the same", entry.head.pinned, "said", place)


def _expired(entry: Entry) -> Cut:
    return Cut(entry.id, f"expired on {expiry.day_of(entry.head)}", entry.head.pinned, "expired")


_SHARE_RETURNED = 4
"""Sent-back candidates get at most this part of the budget: one fourth."""
_SIZES = {"tokens": tokens, "characters": characters}


def _forms(
    ordered: Sequence[Entry], sources: Sources, room: int, size: Size
) -> tuple[dict[str, str], set[str]]:
    """Return the form of each entry that fits, and the ids held back because a pinned entry doesn't fit."""
    forms: dict[str, str] = {}
    held_back: set[str] = set()
    whole, missing = room, False
    for entry in ordered:
        cost, pinned = (
            size(item(entry, full=False, against=sources.against, doubts=sources.doubts)),
            entry.head.pinned,
        )
        if cost > room:
            # A pinned entry larger than the whole room holds nothing back, because it could never fit.
            missing = missing or (pinned and cost <= whole)
        elif missing and not pinned:
            held_back.add(entry.id)
        else:
            room -= cost
            forms[entry.id] = "statement"
    for entry in ordered:
        cost = size(other_lines(entry))
        if entry.id in forms and cost <= room:
            room -= cost
            forms[entry.id] = "full"
    return forms, held_back


def _recorded(text: str) -> str:
    """Return a task or a path for a receipt. Tools can read receipts, so secrets are masked."""
    from agentplane.scan.secrets.mask import masked_text  # takes long to load, and few packs are for a task

    return masked_text(text)


def receipt_bytes(receipt: Receipt) -> bytes:
    fields: dict[str, Any] = msgspec.to_builtins(receipt)
    return msgspec.json.format(msgspec.json.encode(fields), indent=2) + b"\n"
