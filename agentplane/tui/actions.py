"""The table of actions. Key bindings, footer, help, the command palette and docs/reference/keys.md are made from its rows."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane.plane import decision_keys as decisive
from agentplane.tui import registry


if TYPE_CHECKING:
    from textual.binding import Binding

EVERYWHERE = "everywhere"
LIST = "list"
_LISTS = ("inbox", "shelf")
"""The screens whose rows are entries."""
_WITH_ENTRIES = (*_LISTS, "curator")
"""The screens whose rows are entries, or findings about entries."""
_READ = (*_LISTS, "runs")
"""The screens whose rows are entries or runs of the plane."""
_WITH_LIST = tuple(row.name for row in registry.SCREENS if row.has_list)


class Action(msgspec.Struct, frozen=True):
    id: str
    keys: str
    """The default keys as Textual names them, separated by commas. plane/decision_keys.py has them. Empty if only the
    palette has the action.
    """
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
    also: str = ""
    """Other words that find it in the palette and in help."""


_GO_TO = tuple(row.name for row, _ in registry.tabs())
_OF_SESSIONS = ("restart", "restart_by_itself")
_MAINTENANCE = ("import", "sync", "status", "diff", "doctor", "check", "reconcile")
_NOT_ON = {
    "conflict": frozenset((*_GO_TO, *_OF_SESSIONS)),
    # The text comes first there. Leaving asks whether to keep it.
    "edit": frozenset(
        (
            *_GO_TO,
            *_OF_SESSIONS,
            *_MAINTENANCE,
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
    "two runs": frozenset((*_GO_TO, *_OF_SESSIONS, "undo", "redo")),
    # There, the key restarts the selected sessions.
    "tools": frozenset(("restart",)),
}
"""For some screens, the actions of `EVERYWHERE` that are not available on them."""
_DECIDE, _LOOK, _MOVE, _MARK, _GO = "Review", "View", "Move", "Select", "General"
_WRITE = "Edit"


def _action(
    id_: str, name: str, what: str, where: tuple[str, ...], section: str, does: str = "", **more: Any
) -> Action:
    return Action(id_, decisive.KEYS[id_], name, what, where, section, does, **more)


# fmt: off
ACTIONS: tuple[Action, ...] = (
    _action("approve", "approve", "Approve the candidate or the selected candidates, or accept the manual edit. If a candidate has a conflict, the comparison opens instead.", ("inbox",), _DECIDE, rank=1, also="accept adopt"),
    _action("accept", "accept", "Accept the manual edit to the entry, or to the selected entries.", ("shelf",), _DECIDE, rank=1, also="approve adopt manual edit"),
    _action("reject", "reject", "Reject the candidate or the selected candidates, or discard the manual edit. You can give a reason.", ("inbox",), _DECIDE, rank=2, also="discard revert"),
    _action("discard", "discard", "Discard the manual edit and restore the approved text.", ("shelf",), _DECIDE, rank=2, also="reject revert manual edit"),
    _action("send_back", "send back", "Send the candidate or the selected candidates back to the proposer with a comment.", ("inbox",), _DECIDE, also="return comment feedback"),
    _action("snooze", "snooze", "Snooze the candidate or the selected candidates until a date that you choose.", ("inbox",), _DECIDE, also="later postpone date"),
    _action("tag", "tag", "Add tags to the entry or the selected entries, or remove tags.", _LISTS, _DECIDE, also="label untag bulk"),
    _action("edit", "edit", "Edit the text of the candidate or entry.", _WITH_ENTRIES, _DECIDE, rank=3, also="change"),
    _action("edit_outside", "edit in $EDITOR", "Edit the text in your own editor ($EDITOR).", _WITH_ENTRIES, _DECIDE),
    _action("approve_clean", "approve all ready", "Approve all listed candidates that have no conflict and no flag. You see a summary before anything is approved.", ("inbox",), _DECIDE, rank=5, also="bulk"),
    _action("next_conflict", "next conflict", "Go to the next candidate with a conflict.", ("inbox",), _LOOK),
    _action("deprecate", "deprecate", "Deprecate the entry, so that tools no longer get it. You can give a reason.", ("shelf",), _DECIDE, rank=4, also="retire remove delete"),
    _action("supersede", "supersede", "Write a replacement for this entry. The replacement goes to the inbox for review.", ("shelf",), _DECIDE, rank=5, also="replace"),
    _action("pin", "pin", "Pin the entry, or the selected entries. Tools get pinned entries before other entries. Press again to unpin.", ("shelf", "pack"), _DECIDE, rank=5, also="unpin important"),
    _action("new", "new candidate", "Write a new candidate in a form, and add it to the inbox for review.", (EVERYWHERE,), _WRITE, also="create add propose write"),
    _action("undo", "undo", "Undo your last change. Press again to undo earlier changes.", (EVERYWHERE,), _DECIDE, also="revert back"),
    _action("redo", "redo", "Redo the change that you last undid.", (EVERYWHERE,), _DECIDE),
    _action("list.mark", "select", "Select the row and move to the next one. Actions apply to each selected row that is visible.", (LIST,), _MARK, "mark", rank=4, also="mark"),
    _action("list.mark_all", "select all", "Select all rows in the list. Press again to deselect them.", (LIST,), _MARK, "mark_shown", also="mark"),
    _action("list.mark_group", "select group", "Select all rows in this group. Press again to deselect them.", (LIST,), _MARK, "mark_group", also="mark"),
    _action("list.range", "select a range", "Start selecting a range of rows. Press again to end the range.", (LIST,), _MARK, "sweep", also="mark"),
    _action("list.extend_down", "extend down", "Extend the selection down by one row.", (LIST,), _MARK, "extend(1)"),
    _action("list.extend_up", "extend up", "Extend the selection up by one row.", (LIST,), _MARK, "extend(-1)"),
    _action("filter", "filter", "Filter the list.", _WITH_LIST, _LOOK, rank=6, also="search find"),
    _action("sort", "sort", "Switch to the next sort order. After the last sort order, the list is grouped again.", _LISTS, _LOOK, also="order"),
    _action("filter.save", "save filter", "Save the current filter as a tab. If the filter is already saved, remove its tab.", _READ, _LOOK, "filter_save"),
    _action("filter.next", "next filter", "Show the next saved filter.", _READ, _LOOK, "filter_step(1)"),
    _action("filter.previous", "previous filter", "Show the previous saved filter.", _READ, _LOOK, "filter_step(-1)"),
    _action("group", "group", "Change how rows are grouped. Candidates are grouped by run or by kind, and runs by day or by task.", ("inbox", "runs"), _LOOK),
    _action("folded", "show folded", "Show or hide folded candidates: those that were sent back, are snoozed, or exceed the daily limit.", ("inbox",), _LOOK, also="hidden snoozed sent back limit"),
    _action("list.open", "open", "Open the row. A candidate with a conflict opens next to the conflicting entry.", (LIST,), _LOOK, "open", also="compare conflict contradiction read"),
    _action("evidence", "open evidence", "Open one of the entry's evidence files in your editor.", _WITH_ENTRIES, _LOOK, also="file source"),
    _action("links", "go to link", "Go to a linked entry. From a run, go to an entry that the run proposed.", _READ, _LOOK),
    _action("run", "go to run", "Go to the run that proposed the entry.", _LISTS, _LOOK),
    _action("run.diff", "compare", "Select this run for a comparison. Press again on another run to compare the two.", ("runs",), _LOOK, "diff", rank=1, also="diff"),
    _action("run.chart", "chart", "Show or hide the chart of runs and approvals per day.", ("runs",), _LOOK, "chart", rank=2, also="statistics"),
    _action("preview", "preview", "Show or hide the preview pane.", _WITH_LIST, _LOOK),
    _action("preview_side", "switch layout", "Show the preview next to the list, or below it.", _WITH_LIST, _LOOK),
    _action("copy", "copy ID", "Copy the ID of the row to the clipboard.", (*_READ, "curator"), _LOOK, also="clipboard yank"),
    _action("copy_text", "copy text", "Copy the text of the entry, or of the selected entries, to the clipboard.", _LISTS, _LOOK, also="clipboard yank"),
    _action("export", "export as Markdown", "Export the selected rows to a Markdown file. If no rows are selected, export all listed rows.", _LISTS, _LOOK, also="save file markdown"),
    _action("list.down", "down", "Move down one row.", (LIST,), _MOVE, "step(1)"),
    _action("list.up", "up", "Move up one row.", (LIST,), _MOVE, "step(-1)"),
    _action("list.top", "top", "Go to the first row.", (LIST,), _MOVE, "edge(-1)"),
    _action("list.bottom", "bottom", "Go to the last row.", (LIST,), _MOVE, "edge(1)"),
    _action("list.page_down", "page down", "Move down one page.", (LIST,), _MOVE, "page(1.0)"),
    _action("list.page_up", "page up", "Move up one page.", (LIST,), _MOVE, "page(-1.0)"),
    _action("list.half_down", "half a page down", "Move down half a page.", (LIST,), _MOVE, "page(0.5)"),
    _action("list.half_up", "half a page up", "Move up half a page.", (LIST,), _MOVE, "page(-0.5)"),
    _action("tools.wire", "connect", "Connect the tool, or the selected tools, to agentplane. You can review each file change first.", ("tools",), _DECIDE, "wire", rank=1, also="hooks mcp install"),
    _action("tools.sync", "sync", "Update the memory in the tool's file. You can review each change first.", ("tools",), _DECIDE, "sync", rank=2, also="update"),
    _action("tools.unwire", "disconnect", "Remove everything that agentplane added to the tool's files. You can review each change first.", ("tools",), _DECIDE, "unwire", rank=3, also="remove uninstall"),
    _action("tools.restart", "restart", "Restart the session with the current memory, or show the command to restart it yourself. On a tool's row, restart the tool's outdated sessions.", ("tools",), _DECIDE, "restart_here", rank=3, also="session outdated"),
    _action("restart", "restart sessions", "Restart a session that is using outdated memory.", (EVERYWHERE,), _DECIDE, also="outdated"),
    _action("restart_by_itself", "automatic restart", "Turn automatic restart of outdated sessions on or off. The setting is committed, so you're asked to confirm.", (EVERYWHERE,), _DECIDE, also="settings auto sessions"),
    _action("settings.edit", "edit", "Change the setting. If its file is committed, you're asked to confirm.", ("settings",), _WRITE, "edit", rank=1, also="change toggle set"),
    _action("settings.reset", "reset", "Reset the setting to its default. If its file is committed, you're asked to confirm.", ("settings",), _WRITE, "reset", rank=2, also="default unset"),
    _action("settings.outside", "edit in $EDITOR", "Open the settings file in your own editor ($EDITOR).", ("settings",), _WRITE, "outside", rank=3),
    _action("pack.write", "sync", "Write the context to context/active.md and to the files of connected tools. You can review each change first.", ("pack",), _DECIDE, "write", rank=5, also="update"),
    _action("pack.budget", "budget", "Preview the context with a different token budget. No file is written.", ("pack",), _LOOK, "budget", rank=5, also="tokens limit"),
    _action("pack.more", "larger limit", "Preview the context with a larger size limit, the next one among your tools.", ("pack",), _LOOK, "more"),
    _action("pack.less", "smaller limit", "Preview the context with a smaller size limit, the next one among your tools.", ("pack",), _LOOK, "less"),
    _action("pack.task", "task", "Preview the context for a different task.", ("pack",), _LOOK, "task", rank=5),
    _action("pack.paths", "files", "Preview the context for different files or globs. Agentplane suggests the files that changed on this branch.", ("pack",), _LOOK, "paths", rank=5),
    _action("curator.apply", "apply", "Apply the first remedy of the finding, or of the selected findings. You see the changes before they are written.", ("curator",), _DECIDE, "apply", rank=1, also="fix resolve approve accept"),
    _action("curator.discard", "discard", "Discard the manual edit and restore the approved text.", ("curator",), _DECIDE, "discard", rank=2, also="reject revert manual edit"),
    _action("curator.renew", "renew", "Confirm that the entry is still true, and record the current state of its evidence.", ("curator",), _DECIDE, "renew", rank=2, also="still true confirm"),
    _action("curator.move", "update evidence", "Update the location of the evidence.", ("curator",), _DECIDE, "move", rank=2, also="moved renamed path"),
    _action("curator.merge", "merge", "Merge the entries that say the same thing into one. You can edit the merged text before you save it.", ("curator",), _DECIDE, "merge", rank=2, also="combine duplicate"),
    _action("curator.supersede", "supersede", "Mark one of the two entries as superseded by the other.", ("curator",), _DECIDE, "supersede", rank=2, also="replace contradiction"),
    _action("curator.deprecate", "deprecate", "Deprecate the entry, so that tools no longer get it. You can give a reason.", ("curator",), _DECIDE, "deprecate", rank=3, also="retire remove delete"),
    _action("curator.other", "remedies", "Choose from all remedies for the finding.", ("curator",), _DECIDE, "other", rank=4, also="fix expiry scope kind split"),
    _action("curator.dismiss", "dismiss", "Dismiss the finding or the selected findings, with an optional reason. A finding returns if its proof changes.", ("curator",), _DECIDE, "put_aside", rank=4, also="ignore false alarm hide"),
    _action("curator.snooze", "snooze", "Snooze the finding or the selected findings until a date that you choose.", ("curator",), _DECIDE, "snooze", rank=5, also="later postpone date"),
    _action("curator.check", "check now", "Check all entries and their evidence again.", ("curator",), _LOOK, "check_now", also="refresh health pass"),
    _action("curator.chart", "chart", "Show or hide the chart of the health figure over time.", ("curator",), _LOOK, "chart", also="history plot course"),
    _action("findings", "findings", "Go to the curator's findings about the entry.", ("shelf",), _LOOK, also="curator stale health"),
    _action("conflict.choose_1", "approve", "Approve the candidate instead of the other entry. A preview of the result appears below the choices.", ("conflict",), _DECIDE, "choose(0)", rank=1, also="conflict supersede replace"),
    _action("conflict.choose_2", "merge", "Merge both statements into one. You can edit the result before you save it.", ("conflict",), _DECIDE, "choose(1)", rank=2, also="conflict combine"),
    _action("conflict.choose_3", "keep both", "Approve the candidate and keep the other entry.", ("conflict",), _DECIDE, "choose(2)", rank=3, also="conflict"),
    _action("conflict.choose_4", "reject", "Reject the candidate and keep the other entry. You can give a reason.", ("conflict",), _DECIDE, "choose(3)", rank=4, also="conflict discard"),
    _action("conflict.take", "choose", "Apply the highlighted choice.", ("conflict",), _DECIDE, "take"),
    _action("conflict.next", "next conflict", "Go to the candidate's next conflict.", ("conflict",), _LOOK, "other(1)", rank=5),
    _action("conflict.previous", "previous conflict", "Go to the candidate's previous conflict.", ("conflict",), _LOOK, "other(-1)"),
    _action("conflict.turn", "switch layout", "Show both sides next to each other, or one above the other.", ("conflict",), _LOOK, "orient", rank=6),
    _action("conflict.texts", "switch side", "Move the focus between the two sides and the choices.", ("conflict",), _MOVE, "app.focus_next"),
    _action("conflict.down", "down", "Move down through the choices or the text.", ("conflict",), _MOVE, "step('down')"),
    _action("conflict.up", "up", "Move up through the choices or the text.", ("conflict",), _MOVE, "step('up')"),
    _action("rundiff.turn", "switch layout", "Show the outputs side by side, or one above the other.", ("two runs",), _LOOK, "turn", rank=1),
    _action("edit.save", "save", "Save the text. Validation errors appear below the text.", ("edit",), _WRITE, "save", rank=1, priority=True),
    _action("edit.outside", "in $EDITOR", "Continue editing in your own editor ($EDITOR).", ("edit",), _WRITE, "outside", rank=2, priority=True),
    _action("edit.leave", "close", "Close the editor. If there are unsaved changes, you can discard them or keep a draft.", ("edit",), _WRITE, "leave", rank=3, priority=True),
    *(_action(row.name, row.title.lower(), tab.what, (EVERYWHERE,), _GO, f"go('{row.name}')", also=tab.also) for row, tab in registry.tabs()),
    _action("find", "find everything", "Search the inbox, the memory and the runs. You can type words or a query.", (EVERYWHERE,), _GO, also="search"),
    _action("projects", "open project", "Open another project or worktree. The list shows the number of candidates in each project.", (EVERYWHERE,), _GO, also="switch repository worktree"),
    _action("help", "help", "Show the keyboard shortcuts for this screen.", (EVERYWHERE,), _GO, rank=7, also="keys shortcuts marks"),
    _action("palette", "commands", "Find a command by what it does.", (EVERYWHERE,), _GO, "command_palette"),
    _action("import", "import memories", "Import memories from coding tools, instruction files and decision records. You review them before they're added to the inbox.", (EVERYWHERE,), _GO, "import_memories", also="harvest"),
    _action("sync", "sync tools", "Update the memory in the files of all connected tools. You can review each change first.", (EVERYWHERE,), _GO, "sync_tools", also="update context"),
    _action("status", "status", "Show the memory revision, the entry counts, the tools that have this memory, and what to do next.", (EVERYWHERE,), _GO, also="overview waiting receivers next step"),
    _action("diff", "memory changes", "Show the approved entries that changed since the last Git commit.", (EVERYWHERE,), _GO, also="diff compare commit git"),
    _action("doctor", "doctor", "Check the project memory for problems. Nothing is changed.", (EVERYWHERE,), _GO, also="check health problems"),
    _action("check", "check branch", "Verify that the memory changes on this branch were approved, as in CI. Nothing is changed.", (EVERYWHERE,), _GO, also="guard pull request merge base"),
    _action("reconcile", "reconcile branches", "Reconcile the memory after Git has merged two branches. You're asked to confirm.", (EVERYWHERE,), _GO, also="settle merge conflict git"),
    _action("refresh", "refresh", "Reload all files.", (EVERYWHERE,), _GO, also="reload"),
    _action("theme", "theme", "Choose a color theme.", (EVERYWHERE,), _GO, "change_theme", also="colors dark light"),
    _action("back", "back", "Close the filter, clear the selection, or go back.", (EVERYWHERE,), _GO),
    _action("leave", "back or quit", "Go back to the inbox. If you're already there, quit.", (EVERYWHERE,), _GO, rank=8, also="exit close"),
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
    "comma": ",",
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
"""Textual's names of characters. The comma is missing because it separates keys. Its name is `comma`."""
NO_KEY = "unassigned"
"""A key that no terminal sends. Textual needs a key for each binding that the settings may change."""
_TYPED = frozenset((*_CHARACTERS.values(), "comma", "space", "enter", "tab", "backspace"))
_SHOWN = _NAMES | {name: shown for shown, name in _CHARACTERS.items()}
_KEY = re.compile(r"(?:(?:ctrl|shift|alt|super)\+)*(?:[!-~]|[a-z][a-z0-9_]*)")


def by_id(id_: str) -> Action:
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
            item.keys or NO_KEY,
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
        keys = filter(None, self.of(item).split(","))
        return tuple(key for key in keys if where != "edit" or not _is_typed(key))

    def shown(self, item: Action, limit: int = 1, where: str = "") -> str:
        """Return the first keys of an action as a person reads them."""
        return " ".join(shown_key(key) for key in self.keys_on(item, where)[:limit])

    def key(self, id_: str) -> str:
        """Return the first key of an action, for a sentence that tells a person to press it."""
        return self.shown(by_id(id_))


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
        named = [_CHARACTERS.get(key := part.strip(), key) for part in value.split(",")]
        if id_ not in _BY_ID:
            problems.append(f"[tui.keys] no action has the ID `{name[:30]}`")
        elif not value.strip() or not all(map(_KEY.fullmatch, named)):
            problems.append(f"[tui.keys] {name[:30]}: `{value[:20]}` is not a valid key")
        elif _BY_ID[id_].priority and any(map(_is_typed, named)):
            problems.append(f"[tui.keys] {name[:30]}: `{value[:20]}` is needed for typing in the editor")
        elif (odd := clashing.get(id_)) is not None:
            problems.append(f"[tui.keys] {id_}: `{odd.key}` is already used for {_BY_ID[odd.other].name}")
        else:
            keys[id_] = ",".join(named)
    while clash := _clash(keys):
        id_, key, other = clash
        del keys[id_]
        problems.append(f"[tui.keys] {id_}: `{shown_key(key)}` is already used for {other}")
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


def shown_key(key: str) -> str:
    return _SHOWN.get(key, key)
