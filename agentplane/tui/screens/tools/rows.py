"""Tools as rows, and the description of a tool."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from agentplane.agents.model import Limits
from agentplane.text.visible import listed, one_line, visible
from agentplane.tui.actions import Keymap
from agentplane.tui.backend.list_state import PLAIN, Row
from agentplane.tui.backend.tools_model import ToolView
from agentplane.tui.screens.text_pane import diff
from agentplane.tui.widgets.markdown import Look


_BADGES = {
    "wired": ("●", "clean"),
    "incomplete": ("~", "edited"),
    "memory only": ("-", "quiet"),
    "edited inside": ("!", "conflict"),
    "cannot be written": ("×", "flag"),
    "": ("·", "quiet"),
}
_MARKS = {"current": "●", "old": "~", "absent": "·", "edited": "!", "blocked": "×"}
_STYLES = {"current": "good", "old": "warn", "absent": "muted", "edited": "bad", "blocked": "bad"}
_PARTS = {"file": "memory", "hooks": "hooks", "mcp": "MCP"}
_STATES = {"current": "current", "old": "outdated", "absent": "missing", "edited": "manual edit", "blocked": "not writable"}  # fmt: skip


STATUS: Mapping[str, str] = {
    "wired": "connected",
    "edited inside": "manual edit",
    "cannot be written": "not writable",
}
"""The words for a status that has another name here."""


def rows(views: Sequence[ToolView], *, plain: bool = False) -> list[Row]:
    return [_row(view, plain=plain) for view in views]


def _row(view: ToolView, *, plain: bool) -> Row:
    badge, state = _BADGES[view.status]
    wired = [_PARTS[part.part] for part in view.parts if part.state in ("current", "old", "edited")]
    return Row(
        id=view.tool.name,
        badge=badge.translate(PLAIN) if plain else badge,
        letter=" ",
        text=" · ".join(filter(None, (view.tool.title, ", ".join(dict.fromkeys(wired))))),
        right=STATUS.get(view.status, view.status),
        state=state,
        group=view.where,
    )


def matching(words: str, views: Iterable[ToolView]) -> list[str]:
    """Return the names of tools whose text contains each of the words."""
    wanted = words.casefold().split()
    return [view.tool.name for view in views if all(word in _text(view) for word in wanted)]


def _text(view: ToolView) -> str:
    paths = " ".join(part.path for part in view.parts)
    return f"{view.tool.name} {view.tool.title} {view.where} {STATUS.get(view.status, view.status)} {paths}".casefold()


def sections(
    view: ToolView, revision: str, look: Look, keys: Keymap, *, plain: bool = False
) -> Iterator[list[RenderableType]]:
    """Yield the description of a tool, section by section."""
    yield [Text(view.tool.title, look("strong")), *_where(view, look)]
    yield [_part(view, place, look, plain=plain) for place in range(len(view.parts))]
    yield _memory(view, revision, look, keys)
    yield _edited(view, look, keys)
    yield _by_hand(view, look)
    yield _limits(view.tool.limits, look)
    if view.tool.hint:
        yield [Text("One-time setup", look("heading")), Text(view.tool.hint)]
    if view.tool.resume:
        command = " ".join(view.tool.resume).replace("{id}", "ID")
        yield [Text("Resume command", look("heading")), Text(command, look("code"))]


def _where(view: ToolView, look: Look) -> Iterator[Text]:
    text = view.where[0].upper() + view.where[1:]
    if view.where == "in use here" and view.signs:
        text += f": {', '.join(view.signs)}"
    yield Text(text, look("muted"))


def _part(view: ToolView, place: int, look: Look, *, plain: bool) -> Text:
    part = view.parts[place]
    mark = _MARKS[part.state]
    line = Text(f"{mark.translate(PLAIN) if plain else mark} ", look(_STYLES[part.state]))
    line.append(f"{_PARTS[part.part]:<7}", look("strong"))
    line.append(visible(part.path))
    line.append(f"  {_STATES[part.state]}", look(_STYLES[part.state]))
    if part.why:
        line.append(f", because it {one_line(part.why, 160)}", look("muted"))
    return line


def _memory(view: ToolView, revision: str, look: Look, keys: Keymap) -> list[RenderableType]:
    revision_in_file, file = view.parts[0].revision, view.file
    if revision_in_file is None and view.parts[0].state in ("absent", "blocked"):
        status = f"The tool's file doesn't contain the memory yet. Memory revision {revision} has about {view.tokens:,} tokens."
    elif revision_in_file == revision:
        status = f"The tool's file has the current memory revision, {revision_in_file} (about {view.tokens:,} tokens)."
    else:
        status = f"The tool's file has {f'memory revision {revision_in_file}' if revision_in_file else 'an unknown memory revision'}. Press {keys.key('tools.sync')} to update it to {revision}."
    lines: list[RenderableType] = [Text("Memory", look("heading")), Text(status)]
    if file.cut:
        lines.append(Text(f"Left out because the file is full: {listed(file.cut, 12)}", look("warn")))
    if file.repeated:
        repeated = ", ".join(
            f"{one_line(id_, 40)} ({one_line(why, 80)})" for id_, why in list(file.repeated.items())[:8]
        )
        more = f" and {len(file.repeated) - 8} more" if len(file.repeated) > 8 else ""
        lines.append(
            Text(f"Left out because the file already says the same thing: {repeated}{more}", look("muted"))
        )
    if file.short:
        lines.append(
            Text(
                f"Shortened to the statement because space is limited: {listed(file.short, 12)}",
                look("muted"),
            )
        )
    return lines


def _edited(view: ToolView, look: Look, keys: Keymap) -> list[RenderableType]:
    if not view.file.diff:
        return []
    note = (
        f"Press {keys.key('tools.sync')} to add these edits to the inbox as candidates and restore the block."
    )
    return [
        Text("Manual edits in agentplane's block", look("heading")),
        *diff(view.file.diff, look),
        Text(note),
    ]


def _by_hand(view: ToolView, look: Look) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for path, text in view.by_hand.items():
        lines += [Text(f"Add this to {visible(path)} yourself", look("heading")), Text(visible(text.rstrip()), look("code"))]  # fmt: skip
    return lines


def _limits(limits: Limits, look: Look) -> list[RenderableType]:
    named_limits = [
        (limits.file_bytes, "The memory file can be up to {:,} bytes."),
        (limits.context_characters, "A hook can output up to {:,} characters."),
        (limits.context_tokens, "A hook can output up to {:,} tokens."),
    ]
    lines: list[RenderableType] = [Text(what.format(size)) for size, what in named_limits if size]
    return [Text("Limits", look("heading")), *lines] if lines else []
