"""The descriptions of the rows of a context pack.

A description has the text and size of the pack, the entries that don't fit a tool, or the reasons for an
entry.
"""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from agentplane.context import pack, pack_text
from agentplane.context.pack import Cut, Pack
from agentplane.memory.entry import Entry
from agentplane.text.visible import one_line, visible
from agentplane.tui.actions import Keymap
from agentplane.tui.backend.context_model import ContextView, ToolPacks
from agentplane.tui.screens.context import rows
from agentplane.tui.screens.entry.sections import ago
from agentplane.tui.widgets.markdown import Look


_MOST_LINES = 1_000
_MOST_CHARACTERS = 100_000
_MOST_CUT = 40

Section = list[RenderableType]


def sections(view: ContextView, id_: str, branch: str, look: Look, keys: Keymap) -> Iterator[Section]:
    """Yield the description of a row, section by section."""
    if id_.startswith(rows.TOOL):
        name = id_.removeprefix(rows.TOOL)
        for one in view.tools:
            if one.tool.name == name:
                yield from _tool(one, look, keys)
    elif (entry := view.entries.get(id_)) is not None:
        yield from _entry(view, entry, look)
    else:
        yield from _this(view, branch, look, keys)


# The pack


def _this(view: ContextView, branch: str, look: Look, keys: Keymap) -> Iterator[Section]:
    ask = view.ask
    on = f" on {one_line(branch, 40)}" if branch else ""
    yield [
        Text(f"Context{on}", look("strong")),
        _fact("task", one_line(ask.task, 200) if ask.task else f"none (press {keys.key('pack.task')} to set one)", look),
        _fact("files", ", ".join(one_line(path, 80) for path in ask.paths) or f"whole project (press {keys.key('pack.paths')} to name files)", look),
        _fact("budget", f"{ask.budget:,} tokens", look),
        _fact("size", _size(view.pack), look),
        _fact("revision", one_line(view.pack.receipt.revision, 20), look),
    ]  # fmt: skip
    if not view.entries:
        yield [
            Text(
                f"No approved entries yet. Press {keys.key('inbox')} to open the inbox and approve candidates.",
                look("warn"),
            )
        ]
    if not view.tools:
        yield [
            Text(
                f"No coding tool was found or connected. Press {keys.key('tools')} to see all tools, "
                f"or {keys.key('pack.write')} to write only the file context/active.md.",
                look("muted"),
            )
        ]
    yield _short(view.pack, look)
    yield _cut(view.pack.receipt.cut, look, "Left out")
    yield _text(view.pack, "Text", look)


def _fact(name: str, value: str, look: Look) -> Text:
    return Text.assemble((f"{name:<10}", look("muted")), value)


def _size(made: Pack) -> str:
    data = made.text.encode()
    lines = data.count(b"\n")
    return f"about {made.receipt.tokens:,} tokens · {len(data):,} bytes · {lines:,} lines"


def _short(made: Pack, look: Look) -> Section:
    names = [given.id for given in made.receipt.given if given.form != "full"]
    if not names:
        return []
    more = f" and {len(names) - _MOST_CUT} more" if len(names) > _MOST_CUT else ""
    listed = ", ".join(one_line(name, 40) for name in names[:_MOST_CUT])
    return [
        Text("Shortened to the statement, because space is limited", look("heading")),
        Text(f"{listed}{more}"),
    ]


def _cut(cuts: Sequence[Cut], look: Look, title: str) -> Section:
    if not cuts:
        return []
    lines: Section = [Text(f"{title}: {len(cuts):,}", look("heading"))]
    for cut in cuts[:_MOST_CUT]:
        pinned = " (pinned)" if cut.pinned else ""
        lines.append(
            Text.assemble((one_line(cut.id, 40), look("id")), (pinned, look("warn")), f"  {visible(cut.why)}")
        )
    if len(cuts) > _MOST_CUT:
        lines.append(Text(f"and {len(cuts) - _MOST_CUT:,} more", look("muted")))
    return lines


def _text(made: Pack, title: str, look: Look) -> Section:
    """Return the written text, with hidden characters spelled out. A very long text is cut off at the end."""
    lines = visible(made.text[:_MOST_CHARACTERS]).splitlines()
    shown: Section = [Text(title, look("heading")), *(Text(line) for line in lines[:_MOST_LINES])]
    if len(lines) > _MOST_LINES or len(made.text) > _MOST_CHARACTERS:
        left = made.text.count("\n") - min(len(lines), _MOST_LINES)
        shown.append(
            Text(
                f"… {left:,} more lines. Run `agentplane context --print` to see the whole text.",
                look("muted"),
            )
        )
    return shown


# A tool


def _tool(one: ToolPacks, look: Look, keys: Keymap) -> Iterator[Section]:
    file, title = one.file, one_line(one.tool.title, 60)
    state = "connected" if one.is_wired else f"not connected (press {keys.key('tools')} to connect)"
    yield [Text.assemble((title, look("strong")), (f"  {state}", look("muted")))]
    lines: Section = [Text(f"In {visible(file.path)}", look("heading"))]
    if file.pack is None:
        yield [
            *lines,
            Text(
                f"Agentplane can't write this file, because it {one_line(file.why, 200).rstrip('.')}.",
                look("bad"),
            ),
        ]
    else:
        if file.imports:
            lines.append(Text("This file imports context/active.md."))
        limit = f"limit of {file.limit:,} bytes" if file.limit else "no known limit"
        lines.append(Text(f"The whole file is {file.size:,} bytes ({limit})."))
        if file.limit:
            lines.append(Text(f"Space for the memory: {file.room:,} bytes."))
        lines.append(_fact("memory", _size(file.pack), look))
        yield lines
        yield from _missing(file.pack, "Left out because the file is full", look)
    if one.start is not None:
        start = one.start
        size = f"The context uses {start.size:,} of {start.limit:,} {start.measure}."
        hook_note = Text(
            "Agentplane's hook provides this context. If AGENTPLANE_TASK is set, the hook chooses entries for that task.",
            look("muted"),
        )
        if not start.is_hooked:
            hook_note = Text(
                f"The tool's settings don't contain agentplane's hook. Press {keys.key('tools')} to connect the tool.",
                look("warn"),
            )
        yield [Text("At the start of a session", look("heading")), Text(size), hook_note]
        yield from _missing(start.pack, "Left out at the start of a session", look)
    if file.pack is not None:
        yield _text(
            file.pack, "Text in the tool's file" if not file.imports else "Text of context/active.md", look
        )


def _missing(made: Pack, title: str, look: Look) -> Iterator[Section]:
    yield _short(made, look)
    cuts = made.receipt.cut
    yield _cut([cut for cut in cuts if cut.kind in pack.IN_FORCE], look, title)
    yield _cut(
        [cut for cut in cuts if cut.kind == "said"],
        look,
        "Left out because the tool's own files already say the same thing",
    )
    yield _cut([cut for cut in cuts if cut.kind == "expired"], look, "Left out because they expired")


# An entry


def _entry(view: ContextView, entry: Entry, look: Look) -> Iterator[Section]:
    head = entry.head
    title = Text.assemble(
        (one_line(entry.id, 40), look("id")), "  ", (one_line(head.type, 30), look("strong"))
    )
    if head.pinned:
        title.append("  pinned", look("warn"))
    yield [title, Text(visible(entry.statement), look("strong"))]
    form = view.forms.get(entry.id)
    heading = "Why it is included" if form else "Why it is left out"
    yield [Text(heading, look("heading")), *(Text(f"· {reason}") for reason in reasons(view, entry))]
    if form:
        form_text = (
            "Tools get the full text."
            if form == "full"
            else "Tools get only the statement, because space is limited."
        )
        yield [
            Text("Text for tools", look("heading")),
            Text(form_text, look("muted")),
            *_as_given(view, entry, form),
        ]
    if lacking := [place for one in view.tools for place in _lacking(one, entry.id)]:
        yield [Text("Tools that don't get this entry", look("heading")), Text(", ".join(lacking))]


def _lacking(one: ToolPacks, id_: str) -> Iterator[str]:
    """Yield the places where the tool doesn't receive this entry."""
    title = one_line(one.tool.title, 40)
    if one.file.pack and (cut := _cut_of(one.file.pack, id_)):
        yield f"{title} (in {visible(one.file.path)}){_where_stated(cut)}"
    if one.start and (cut := _cut_of(one.start.pack, id_)):
        yield f"{title} (at the start of a session){_where_stated(cut)}"


def _cut_of(made: Pack, id_: str) -> Cut | None:
    return next((cut for cut in made.receipt.cut if cut.id == id_), None)


def _where_stated(cut: Cut) -> str:
    return f": {visible(cut.why)}" if cut.kind == "said" else ""


def _as_given(view: ContextView, entry: Entry, form: str) -> Iterator[Text]:
    lines = pack_text.item(
        entry, full=form == "full", against=view.sources.against, doubts=view.sources.doubts
    )
    yield from (Text(line) for line in lines.splitlines()[:_MOST_LINES])


def reasons(view: ContextView, entry: Entry) -> Iterator[str]:
    """Yield the reasons for the position of an entry, the strongest first.

    For an entry that was cut, the reason for the cut comes first.
    """
    if cut := view.cuts.get(entry.id):
        yield visible(cut.why)
    if entry.head.type == "invariant":
        yield "invariants come first"
    if entry.head.pinned:
        yield "the entry is pinned, so other entries are left out first"
    yield _scope(view, entry)
    if view.ask.task:
        place, count = view.pack.choice.near.get(entry.id), len(view.pack.choice.near)
        yield (
            f"rank {place + 1} of {count} by how well the entry matches the task"
            if place is not None
            else "the entry has no words in common with the task"
        )
    if entry.head.updated:
        yield f"last updated {one_line(entry.head.updated, 20)}, {ago(entry.head.updated)} (newer entries come first)"
    whole = pack_text.item(entry, full=True, against=view.sources.against, doubts=view.sources.doubts)
    yield f"the full text has about {pack.tokens(whole):,} tokens"


def _scope(view: ContextView, entry: Entry) -> str:
    globs = ", ".join(one_line(glob, 60) for glob in entry.head.scope)
    if not globs:
        return "the entry applies to the whole project"
    if not view.ask.paths:
        return f"the entry applies to {globs} (when no files are named, every scope matches)"
    cut = view.cuts.get(entry.id)
    matches = "doesn't match" if cut and cut.kind == "scope" else "matches"
    return f"the entry applies to {globs}, which {matches} the named files"
