"""A context pack as rows.

The rows show the tools that receive it, its entries by group, additional lines, and the entries that were
cut.
"""

from collections.abc import Iterator, Mapping

from agentplane.context import pack, pack_text
from agentplane.context.choose import section
from agentplane.memory.entry import Entry
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line
from agentplane.tui.actions import Keymap
from agentplane.tui.backend.context_model import ContextView, ToolPacks
from agentplane.tui.backend.list_state import PLAIN, Row
from agentplane.tui.screens.entry.sections import ago


# No entry id starts with this character.
_PREFIX = "\0"
THIS = f"{_PREFIX}this"
NO_TOOL = f"{_PREFIX}no tool"
NOTHING = f"{_PREFIX}nothing"
WAITING = f"{_PREFIX}waiting"
TOOL, RUN, EDITED = f"{_PREFIX}tool ", f"{_PREFIX}run ", f"{_PREFIX}edited "
WITHHELD = f"{_PREFIX}withheld "
"""Like the three prefixes above, it is followed by a name."""
FOR, ADDITIONS, LEFT_OUT = "context", "also included", "left out"
_CUT: dict[pack.CutKind, str] = {"room": "no room", "held": "held back", "scope": "other files"}


def is_special(id_: str) -> bool:
    """Return True if the row is not an entry."""
    return id_.startswith(_PREFIX)


def rows(view: ContextView, keys: Keymap, *, plain: bool = False) -> list[Row]:
    made = [_this(view), *_tools(view, keys), *_entries(view, keys), *_additions(view), *_left_out(view)]
    if not plain:
        return made
    return [Row(one.id, one.badge.translate(PLAIN), one.letter, one.text, one.right, one.state, one.group) for one in made]  # fmt: skip


def _this(view: ContextView) -> Row:
    receipt = view.pack.receipt
    missing = sum(cut.kind in pack.WITHOUT_ROOM for cut in receipt.cut)
    text = f"context · {receipt.tokens:,} of {receipt.budget:,} tokens"
    badge, state = ("~", "edited") if missing else ("●", "clean")
    return Row(THIS, badge, " ", text, _missing(missing), state, FOR)


def _tools(view: ContextView, keys: Keymap) -> Iterator[Row]:
    for one in view.tools:
        badge, state = ("●", "clean") if one.is_whole else ("~", "edited")
        if one.file.pack is None:
            badge, state = "×", "flag"
        elif not one.is_wired:
            badge, state = "·", "quiet"
        text = f"{one_line(one.tool.title, 40)} · {_size(one)}"
        yield Row(f"{TOOL}{one.tool.name}", badge, " ", text, _worst(one), state, FOR)
    if not view.tools:
        yield Row(
            NO_TOOL, "·", " ", f"no tool found (press {keys.key('tools')} to see all tools)", "", "quiet", FOR
        )


def _size(one: ToolPacks) -> str:
    """Return the size together with the limit that it comes nearest to."""
    sizes = [(one.file.size, one.file.limit, "bytes")] if one.file.limit else []
    if one.start is not None:
        unit = "chars" if one.start.measure == "characters" else one.start.measure
        sizes.append((one.start.size, one.start.limit, unit))
    if not sizes:
        return "no known limit"
    size, limit, unit = max(sizes, key=lambda item: item[0] / item[1])
    return f"{size:,}/{limit:,} {unit}"


def _worst(one: ToolPacks) -> str:
    if one.file.pack is None:
        return "not writable"
    missing = max(sum(cut.kind in pack.WITHOUT_ROOM for cut in made.receipt.cut) for made in one.packs)
    short = max(sum(given.form != "full" for given in made.receipt.given) for made in one.packs)
    return _missing(missing) or (f"{short:,} shortened" if short else "" if one.is_wired else "not connected")


def _missing(count: int) -> str:
    return f"{count:,} left out" if count else ""


def _entries(view: ContextView, keys: Keymap) -> Iterator[Row]:
    """Yield the rows of entries under the headings of the context pack, in the order of getting room."""
    ordered = view.pack.choice.ordered
    width = _width(view.entries)
    for name in pack_text.sections(ordered):
        for entry in ordered:
            if section(entry) == name and entry.id in view.forms:
                badge, state = ("●", "clean") if view.forms[entry.id] == "full" else ("~", "edited")
                yield _entry(entry, width, badge, state, why(view, entry), pack_text.title(name))
    if not view.entries:
        yield Row(
            NOTHING,
            "·",
            " ",
            f"no approved entries yet (press {keys.key('inbox')} to review candidates)",
            "",
            "quiet",
            "included",
        )


def _entry(entry: Entry, width: int, badge: str, state: str, right: str, group: str) -> Row:
    return Row(
        id=entry.id,
        badge=badge,
        letter=entry.head.type[:1].upper() or "-",
        text=f"{entry.id:<{width}}  {entry.statement}",
        right=right,
        state=state,
        group=group,
    )


def _additions(view: ContextView) -> Iterator[Row]:
    sources, group = view.sources, ADDITIONS
    run = sources.last_run
    if run is not None:
        summary = (
            run.lines[0].partition(": ")[2] if run.lines else f"withheld because of {', '.join(run.withheld)}"
        )
        text = f"last run, not reviewed · {summary}"
        yield Row(f"{RUN}{run.run_id}", "▸", " ", text, "", "quiet", group)
    for id_ in sources.hand_edits:
        text = f"{id_} has an unaccepted manual edit, so tools get the approved text"
        yield Row(f"{EDITED}{id_}", "~", " ", text, "", "edited", group)
    for id_ in view.pack.receipt.withheld:
        text = f"{id_} is withheld, because it may contain a secret"
        yield Row(f"{WITHHELD}{id_}", "×", " ", text, "", "flag", group)
    if sources.waiting:
        text = f"{counted(sources.waiting, 'candidate')} to review"
        yield Row(WAITING, "?", " ", text, "", "quiet", group)


def _left_out(view: ContextView) -> Iterator[Row]:
    entries, width = view.entries, _width(view.entries)
    for cut in view.pack.receipt.cut:
        right = f"{'pinned, ' if cut.pinned else ''}{_CUT.get(cut.kind, one_line(cut.why, 60))}"
        yield _entry(entries[cut.id], width, "×", "flag" if cut.pinned else "quiet", right, LEFT_OUT)


def _width(entries: Mapping[str, Entry]) -> int:
    return min(max(map(len, entries), default=0), 14)


def why(view: ContextView, entry: Entry) -> str:
    """Return the reason for the position of an entry in a word or two, or else its age."""
    if entry.head.pinned:
        return "pinned"
    if view.ask.paths and entry.head.scope:
        return "these files"
    place = view.pack.choice.near.get(entry.id)
    if place is not None:
        return f"task rank {place + 1}"
    return ago(entry.head.updated) if entry.head.updated else ""


def matching(words: str, view: ContextView, listed: list[Row]) -> list[str]:
    """Return the ids of rows that contain each of the words.

    For an entry, the search includes its body, tags, type and scope.
    """
    wanted, entries = words.casefold().split(), view.entries
    ids = []
    for row in listed:
        text = f"{row.text} {row.right} {row.group}"
        if entry := entries.get(row.id):
            text += (
                f" {entry.body} {' '.join(entry.head.tags)} {entry.head.type} {' '.join(entry.head.scope)}"
            )
        folded = text.casefold()
        if all(word in folded for word in wanted):
            ids.append(row.id)
    return ids
