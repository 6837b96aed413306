"""The table of actions. Key bindings, footer, help, the command palette and docs/keys.md are made from its rows."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from agentplane.plane import decision_keys as decisive
from agentplane.tui import registry


if TYPE_CHECKING:
    from textual.binding import Binding

EVERYWHERE = "everywhere"
LIST = "list"
_LISTS = ("inbox", "shelf")
"""The screens whose rows are entries."""
_READ = (*_LISTS, "runs")
"""The screens whose rows are entries or runs of the plane."""
_WITH_LIST = tuple(row.name for row in registry.SCREENS if row.has_list)


class Action(msgspec.Struct, frozen=True):
    id: str
    keys: str
    """The default keys as Textual names them, separated by commas."""
    name: str
    """A word or two, for the footer and the palette."""
    what: str
    """A sentence for help."""
    where: tuple[str, ...]
    section: str
    does: str = ""
    """The action string that Textual runs, or empty if it is the same as `id`."""
    rank: int = 0
    """Its place in the footer, starting at 1. 0 if the footer doesn't show it."""
    priority: bool = False
    """True if its keys also work in a text field, which otherwise takes most keys."""


_GO_TO = tuple(row.name for row, _ in registry.tabs())
_OF_SESSIONS = ("restart", "restart_by_itself")
_NOT_ON = {
    # The number keys select a choice there.
    "conflict": frozenset((*_GO_TO, *_OF_SESSIONS, "find")),
    # The text comes first there. Leaving asks whether to keep it.
    "edit": frozenset(
        (
            *_GO_TO,
            *_OF_SESSIONS,
            "new",
            "find",
            "undo",
            "redo",
            "refresh",
            "theme",
            "projects",
            "back",
            "leave",
        )
    ),
    "two runs": frozenset((*_GO_TO, *_OF_SESSIONS, "find", "undo", "redo")),
}
"""For some screens, the actions of `EVERYWHERE` that are not available on them."""
_DECIDE, _LOOK, _MOVE, _MARK, _GO = "Deciding", "Looking", "Moving", "Marking", "Going about"
_WRITE = "Writing"

# fmt: off
ACTIONS: tuple[Action, ...] = (
    Action("approve", "a", "approve", "Move the candidate to the shelf, or all that are marked; adopt a hand edit.", _LISTS, _DECIDE, rank=1),
    Action("reject", "r", "reject", "Drop the candidate, or all that are marked, and say why; revert a hand edit.", _LISTS, _DECIDE, rank=2),
    Action("edit", "e", "edit", "Change the text here.", _LISTS, _DECIDE, rank=3),
    Action("edit_outside", "E", "edit in $EDITOR", "Change the text in your own editor.", _LISTS, _DECIDE),
    Action("approve_clean", "A", "all clean", "Approve every clean candidate that is shown, after one summary.", ("inbox",), _DECIDE, rank=5),
    Action("skip", "n", "skip", "Leave it for later and go to the next.", ("inbox",), _DECIDE),
    Action("deprecate", "d", "deprecate", "Take the entry out of force; it stays on the shelf.", ("shelf",), _DECIDE, rank=4),
    Action("supersede", "s", "supersede", "Write the entry that takes its place; it waits in the inbox.", ("shelf",), _DECIDE, rank=5),
    Action("pin", "i", "pin", "Pin the entry, or all that are marked: it comes right after the invariants of what tools are given; again takes the pin away.", ("shelf", "pack"), _DECIDE, rank=5),
    Action("new", "ctrl+n", "new candidate", "Write a candidate in a form. It goes to the inbox for review.", (EVERYWHERE,), _WRITE),
    Action("undo", "u,ctrl+z", "undo", "Take back your last op; again goes further back.", (EVERYWHERE,), _DECIDE),
    Action("redo", "U,ctrl+y", "redo", "Do again what was undone.", (EVERYWHERE,), _DECIDE),
    Action("list.mark", "space", "mark", "Mark it and go on; verbs then act on what is marked and shown.", (LIST,), _MARK, "mark", rank=4),
    Action("list.mark_all", "asterisk", "mark all", "Mark all that is shown, or none.", (LIST,), _MARK, "mark_shown"),
    Action("list.range", "v", "mark a range", "Begin or end a range of marks.", (LIST,), _MARK, "sweep"),
    Action("list.extend_down", "shift+down,J", "mark down", "Mark downwards.", (LIST,), _MARK, "extend(1)"),
    Action("list.extend_up", "shift+up,K", "mark up", "Mark upwards.", (LIST,), _MARK, "extend(-1)"),
    Action("filter", "slash", "filter", "Show only what holds the words you type.", _WITH_LIST, _LOOK, rank=6),
    Action("group", "t", "group by", "Group the inbox by run or by kind, the runs by day or by task.", ("inbox", "runs"), _LOOK),
    Action("list.open", "enter", "open", "Compare it with what it conflicts with; else open it in full.", (LIST,), _LOOK, "open"),
    Action("evidence", "o", "open evidence", "Open a file that it cites in your editor.", _LISTS, _LOOK),
    Action("links", "l", "go to link", "Go to an entry that it is linked with, or that the run proposed.", _READ, _LOOK),
    Action("run", "R", "its run", "Go to the run that it came from.", _LISTS, _LOOK),
    Action("run.diff", "D", "compare", "Mark a run; on a second one, show both side by side.", ("runs",), _LOOK, "diff", rank=1),
    Action("run.chart", "C", "chart", "Show or hide runs a day, and how much was approved.", ("runs",), _LOOK, "chart", rank=2),
    Action("preview", "p", "preview", "Show or hide the pane with the text.", _WITH_LIST, _LOOK),
    Action("preview_side", "P", "turn preview", "Put the text beside the list, or below it.", _WITH_LIST, _LOOK),
    Action("copy", "y", "copy id", "Copy the id to the clipboard.", _READ, _LOOK),
    Action("list.down", "down,j", "down", "Down.", (LIST,), _MOVE, "step(1)"),
    Action("list.up", "up,k", "up", "Up.", (LIST,), _MOVE, "step(-1)"),
    Action("list.top", "home,g", "top", "To the first.", (LIST,), _MOVE, "edge(-1)"),
    Action("list.bottom", "end,G", "bottom", "To the last.", (LIST,), _MOVE, "edge(1)"),
    Action("list.page_down", "pagedown", "page down", "A page down.", (LIST,), _MOVE, "page(1.0)"),
    Action("list.page_up", "pageup", "page up", "A page up.", (LIST,), _MOVE, "page(-1.0)"),
    Action("list.half_down", "ctrl+d", "half a page down", "Half a page down.", (LIST,), _MOVE, "page(0.5)"),
    Action("list.half_up", "ctrl+u", "half a page up", "Half a page up.", (LIST,), _MOVE, "page(-0.5)"),
    Action("tools.wire", "w", "wire", "Write the memory, our hooks and our MCP server into the files of the tool, or of all that are marked.", ("tools",), _DECIDE, "wire", rank=1),
    Action("tools.sync", "s", "sync", "Bring the memory into the file that the tool reads, and nothing else.", ("tools",), _DECIDE, "sync", rank=2),
    Action("tools.unwire", "x", "take out", "Take out of its files exactly what is ours.", ("tools",), _DECIDE, "unwire", rank=3),
    Action("tools.restart", "R", "restart", "Give the session the memory of now: it is restarted, or it is shown what to type. On a tool: its sessions with old memory.", ("tools",), _DECIDE, "restart_here", rank=4),
    Action("restart", "M", "new memory", "Restart a session that has old memory; of several you choose.", (EVERYWHERE,), _DECIDE),
    Action("restart_by_itself", "T", "restart by itself", "Let sessions restart by themselves after a decision, or no longer.", (EVERYWHERE,), _DECIDE),
    Action("pack.write", "s", "write", "Write it to context/active.md and the files of wired tools, after a look at every line.", ("pack",), _DECIDE, "write", rank=5),
    Action("pack.budget", "b", "budget", "Try another budget; nothing is written.", ("pack",), _LOOK, "budget", rank=5),
    Action("pack.more", "plus", "next limit", "Try the next larger limit of a tool.", ("pack",), _LOOK, "more"),
    Action("pack.less", "minus", "limit before", "Try the next smaller limit of a tool.", ("pack",), _LOOK, "less"),
    Action("pack.task", "t", "task", "Try another task.", ("pack",), _LOOK, "task", rank=5),
    Action("pack.paths", "F", "files", "Try other files or globs; offers what this branch changed.", ("pack",), _LOOK, "paths", rank=5),
    Action("conflict.choose_1", "1", "first choice", "Take the first choice; what each writes stands below them.", ("conflict",), _DECIDE, "choose(0)", rank=1),
    Action("conflict.choose_2", "2", "second choice", "Take the second choice.", ("conflict",), _DECIDE, "choose(1)", rank=2),
    Action("conflict.choose_3", "3", "third choice", "Take the third choice.", ("conflict",), _DECIDE, "choose(2)", rank=3),
    Action("conflict.choose_4", "4", "fourth choice", "Take the fourth choice.", ("conflict",), _DECIDE, "choose(3)", rank=4),
    Action("conflict.take", "enter", "choose", "Take the choice under the cursor.", ("conflict",), _DECIDE, "take"),
    Action("conflict.next", "n,right_square_bracket", "next conflict", "To the next entry that it conflicts with.", ("conflict",), _LOOK, "other(1)", rank=5),
    Action("conflict.previous", "p,left_square_bracket", "previous conflict", "To the one before.", ("conflict",), _LOOK, "other(-1)"),
    Action("conflict.turn", "o", "turn", "Put the texts side by side, or one over the other.", ("conflict",), _LOOK, "orient", rank=6),
    Action("conflict.texts", "tab", "texts", "To the texts, to scroll them, and back to the choices.", ("conflict",), _MOVE, "app.focus_next"),
    Action("conflict.down", "down,j", "down", "Down in the choices, or in a text.", ("conflict",), _MOVE, "step('down')"),
    Action("conflict.up", "up,k", "up", "Up in the choices, or in a text.", ("conflict",), _MOVE, "step('up')"),
    Action("rundiff.turn", "o", "turn", "Put the outputs side by side, or one over the other.", ("two runs",), _LOOK, "turn", rank=1),
    Action("edit.save", "ctrl+s", "save", "Write the text; what the plane says against it is said here.", ("edit",), _WRITE, "save", rank=1, priority=True),
    Action("edit.outside", "ctrl+o", "in $EDITOR", "Go on in your own editor.", ("edit",), _WRITE, "outside", rank=2, priority=True),
    Action("edit.leave", "escape", "leave", "Back; asks what becomes of the text, where it was changed.", ("edit",), _WRITE, "leave", rank=3, priority=True),
    *(Action(row.name, tab.key, row.title.lower(), tab.what, (EVERYWHERE,), _GO, f"go('{row.name}')") for row, tab in registry.tabs()),
    Action("find", "ctrl+f", "find everything", "Search the inbox, memory and runs.", (EVERYWHERE,), _GO),
    Action("projects", "ctrl+g", "open project", "Open another project or worktree. The list shows where something waits.", (EVERYWHERE,), _GO),
    Action("help", "question_mark,f1", "help", "What the keys do here.", (EVERYWHERE,), _GO, rank=7),
    Action("palette", "ctrl+p,colon", "commands", "Find any action by its name.", (EVERYWHERE,), _GO, "command_palette"),
    Action("refresh", "ctrl+r,f5", "read again", "Read the plane anew.", (EVERYWHERE,), _GO),
    Action("theme", "f2", "theme", "Choose the colours.", (EVERYWHERE,), _GO, "change_theme"),
    Action("back", "escape", "back", "One step back: the filter, the marks, the screen.", (EVERYWHERE,), _GO),
    Action("leave", "q", "back or quit", "Back to the inbox; from there, quit.", (EVERYWHERE,), _GO, rank=8),
)
# fmt: on

_BY_ID = {action.id: action for action in ACTIONS}
_NAMES = {
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "down": "↓",
    "up": "↑",
    "shift+down": "shift+↓",
    "shift+up": "shift+↑",
}
_CHARACTERS = {
    "!": "exclamation_mark",
    '"': "quotation_mark",
    "#": "number_sign",
    "$": "dollar_sign",
    "%": "percent_sign",
    "&": "ampersand",
    "'": "apostrophe",
    "(": "left_parenthesis",
    ")": "right_parenthesis",
    "*": "asterisk",
    "+": "plus",
    "-": "minus",
    ".": "full_stop",
    "/": "slash",
    ":": "colon",
    ";": "semicolon",
    "<": "less_than_sign",
    "=": "equals_sign",
    ">": "greater_than_sign",
    "?": "question_mark",
    "@": "at",
    "[": "left_square_bracket",
    "\\": "backslash",
    "]": "right_square_bracket",
    "^": "circumflex_accent",
    "_": "underscore",
    "`": "grave_accent",
    "{": "left_curly_bracket",
    "|": "vertical_line",
    "}": "right_curly_bracket",
    "~": "tilde",
}
"""Textual's names of characters. The comma is missing because it separates keys."""
_TYPED = frozenset((*_CHARACTERS.values(), "space", "enter", "tab", "backspace"))
_SHOWN = _NAMES | {name: shown for shown, name in _CHARACTERS.items()}
_KEY = re.compile(r"(?:(?:ctrl|shift|alt|super)\+)*(?:[!-~]|[a-z][a-z0-9_]*)")


def action(id_: str) -> Action:
    return _BY_ID[id_]


@cache
def on(where: str) -> tuple[Action, ...]:
    """Return the actions of a screen, of its list if it has one, and of every screen."""
    wanted = {where, EVERYWHERE, *((LIST,) if where in _WITH_LIST else ())}
    without = _NOT_ON.get(where, frozenset())
    return tuple(one for one in ACTIONS if wanted.intersection(one.where) and one.id not in without)


def bindings(where: str) -> "list[Binding]":
    """Return the key bindings of a screen or widget."""
    from textual.binding import Binding

    return [
        Binding(
            item.keys,
            item.does or item.id,
            item.name,
            show=False,
            id=item.id,
            tooltip=item.what,
            priority=item.priority,
        )
        for item in ACTIONS
        if where in item.where
    ]


class Keymap(msgspec.Struct, frozen=True):
    """The keys from the settings that replace default keys, by the id of the action."""

    keys: dict[str, str] = {}
    problems: tuple[str, ...] = ()
    """One line for each setting that was ignored, with the reason."""

    def of(self, item: Action) -> str:
        return self.keys.get(item.id, item.keys)

    def keys_on(self, item: Action, where: str = "") -> tuple[str, ...]:
        """Return the keys of an action on a screen. In the editor, keys that type a character are left out."""
        keys = self.of(item).split(",")
        return tuple(key for key in keys if where != "edit" or not _is_typed(key))

    def shown(self, item: Action, limit: int = 1, where: str = "") -> str:
        """Return the first keys of an action as a person reads them."""
        return " ".join(shown_key(key) for key in self.keys_on(item, where)[:limit])


def keymap(wanted: Mapping[str, str]) -> Keymap:
    """Return the keymap for the wanted keys, without those that are not allowed.

    A binding is ignored if the action is unknown or if another action on the same screen has the key. It is
    also ignored if it puts a decision on the default key of another action, or any action on a default key of
    approving.
    """
    problems: list[str] = []
    keys: dict[str, str] = {}
    clashing = {one.id: one for one in decisive.turned(wanted)}
    for name, value in wanted.items():
        id_ = name if name in _BY_ID else f"{LIST}.{name}"
        named = [_textual_name(part.strip()) for part in value.split(",")]
        if id_ not in _BY_ID:
            problems.append(f"[tui.keys] no action `{name[:30]}`")
        elif not value.strip() or not all(map(_KEY.fullmatch, named)):
            problems.append(f"[tui.keys] {name[:30]}: no key `{value[:20]}`")
        elif _BY_ID[id_].priority and any(map(_is_typed, named)):
            problems.append(f"[tui.keys] {name[:30]}: `{value[:20]}` is typed there")
        elif (odd := clashing.get(id_)) is not None:
            problems.append(f"[tui.keys] {id_}: `{odd.key}` is {_BY_ID[odd.other].name} already")
        else:
            keys[id_] = ",".join(named)
    while clash := _clash(keys):
        id_, key, other = clash
        del keys[id_]
        problems.append(f"[tui.keys] {id_}: `{shown_key(key)}` is {other} already")
    return Keymap(keys, tuple(problems))


def _clash(keys: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return the first clash between a wanted key and another action on the same screen, or None.

    The result is the id of the action, the key, and the name of the other action.
    """
    known = Keymap(dict(keys))
    for screen in (row.name for row in registry.SCREENS):
        for id_ in keys:
            mine = _BY_ID[id_]
            if mine not in on(screen):
                continue
            for other in on(screen):
                shared = set(known.keys_on(mine, screen)) & set(known.keys_on(other, screen))
                if other is not mine and shared:
                    return id_, min(shared), other.name
    return None


def _is_typed(key: str) -> bool:
    """True if the key types or deletes text in a field."""
    return len(key) == 1 or key in _TYPED


def _textual_name(key: str) -> str:
    return _CHARACTERS.get(key, key)


def shown_key(key: str) -> str:
    return _SHOWN.get(key, key)


def as_markdown() -> str:
    """Return the tables of docs/keys.md."""
    parts = []
    for title, where in (
        *((row.title, row.name) for row in registry.SCREENS),
        ("Lists", LIST),
        ("Everywhere", EVERYWHERE),
    ):
        rows = [
            f"| {_code(item)} | {item.name} | {item.what} | `{item.id}` |"
            for item in ACTIONS
            if where in item.where
        ]
        parts.append(
            "\n".join(
                [
                    f"## {title}",
                    "",
                    "| key | action | what it does | id |",
                    "| --- | --- | --- | --- |",
                    *rows,
                ]
            )
        )
    return "\n\n".join(parts) + "\n"


def _code(item: Action) -> str:
    return " ".join(f"`{shown_key(key)}`" for key in item.keys.split(","))
