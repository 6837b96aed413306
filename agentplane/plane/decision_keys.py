"""The default keys of the screens, and a check for settings that swap keys of decisions.

Settings come with the repository. An attacker could assign approving to the key that rejects, and so approve
with other people's hands. This is why the guard and `doctor` check the keys too. `tui/actions.py` has the rest of
each action.
"""

from collections.abc import Iterator, Mapping

import msgspec


KEYS: dict[str, str] = {
    "approve": "a",
    "accept": "a",
    "reject": "r",
    "discard": "r",
    "send_back": "h",
    "snooze": "Z",
    "tag": "number_sign",
    "edit": "e",
    "edit_outside": "E",
    "approve_clean": "A",
    "next_conflict": "n",
    "deprecate": "d",
    "supersede": "S",
    "pin": "i",
    "new": "ctrl+n",
    "undo": "u,ctrl+z",
    "redo": "U,ctrl+y",
    "list.mark": "space",
    "list.mark_all": "asterisk",
    "list.mark_group": "V",
    "list.range": "v",
    "list.extend_down": "shift+down,J",
    "list.extend_up": "shift+up,K",
    "filter": "slash",
    "sort": "o",
    "filter.save": "ctrl+s",
    "filter.next": "greater_than_sign",
    "filter.previous": "less_than_sign",
    "group": "z",
    "folded": "H",
    "list.open": "enter",
    "evidence": "f",
    "links": "l",
    "run": "R",
    "run.diff": "D",
    "run.chart": "C",
    "preview": "p",
    "preview_side": "P",
    "copy": "y",
    "copy_text": "Y",
    "export": "",
    "list.down": "down,j",
    "list.up": "up,k",
    "list.top": "home,g",
    "list.bottom": "end,G",
    "list.page_down": "pagedown",
    "list.page_up": "pageup",
    "list.half_down": "ctrl+d",
    "list.half_up": "ctrl+u",
    "tools.wire": "w",
    "tools.sync": "s",
    "tools.unwire": "x",
    "tools.restart": "M",
    "restart": "M",
    "restart_by_itself": "f4",
    "settings.edit": "e",
    "settings.reset": "backspace",
    "settings.outside": "E",
    "pack.write": "s",
    "pack.budget": "B",
    "pack.more": "plus",
    "pack.less": "minus",
    "pack.task": "t",
    "pack.paths": "F",
    "curator.apply": "a",
    "curator.discard": "r",
    "curator.renew": "T",
    "curator.move": "L",
    "curator.deprecate": "d",
    "curator.supersede": "S",
    "curator.merge": "m",
    "curator.other": "W",
    "curator.dismiss": "X",
    "curator.snooze": "Z",
    "curator.check": "O",
    "curator.chart": "C",
    "findings": "Q",
    "conflict.choose_1": "c",
    "conflict.choose_2": "m",
    "conflict.choose_3": "b",
    "conflict.choose_4": "r",
    "conflict.take": "enter",
    "conflict.next": "n,right_square_bracket",
    "conflict.previous": "N,left_square_bracket",
    "conflict.turn": "P",
    "conflict.texts": "tab",
    "conflict.down": "down,j",
    "conflict.up": "up,k",
    "rundiff.turn": "P",
    "edit.save": "ctrl+s",
    "edit.outside": "ctrl+o",
    "edit.leave": "escape",
    "inbox": "1",
    "shelf": "2",
    "runs": "3",
    "tools": "4",
    "pack": "5",
    "curator": "6",
    "settings": "comma",
    "find": "ctrl+f",
    "projects": "ctrl+g",
    "help": "question_mark,f1",
    "palette": "ctrl+p,colon",
    "import": "",
    "sync": "",
    "status": "",
    "diff": "",
    "doctor": "",
    "check": "",
    "reconcile": "",
    "refresh": "ctrl+r,f5",
    "theme": "f2",
    "back": "escape",
    "leave": "q",
}
"""The default keys of every action, separated by commas, in Textual's notation. Empty for an action without a key."""

DECISIONS = frozenset(
    {
        "approve", "accept", "approve_clean", "reject", "send_back", "snooze", "tag", "discard", "deprecate", "supersede", "pin", "undo", "redo", "conflict.take",
        "curator.apply", "curator.discard", "curator.renew", "curator.move", "curator.deprecate", "curator.supersede", "curator.merge", "curator.other", "curator.dismiss", "curator.snooze",
        "conflict.choose_1", "conflict.choose_2", "conflict.choose_3", "conflict.choose_4",
    }
)  # fmt: skip
"""The actions that decide about memory."""
_APPROVE = ("approve", "accept", "approve_clean", "curator.apply")
_SAME = {
    "ctrl+m": "enter", "ctrl+i": "tab", "ctrl+h": "backspace", "ctrl+[": "escape", "ctrl+left_square_bracket": "escape",
    "slash": "/", "less_than_sign": "<", "greater_than_sign": ">", "asterisk": "*", "plus": "+", "minus": "-", "question_mark": "?", "colon": ":",
    "left_square_bracket": "[", "right_square_bracket": "]", "esc": "escape", "return": "enter",
}  # fmt: skip
"""Other names of a key, and keys that a terminal can't distinguish."""


class Turned(msgspec.Struct, frozen=True):
    """An action that is assigned to a key with which a person makes another decision."""

    name: str
    """The action's name in the settings."""
    id: str
    key: str
    other: str
    """The action that has this key by default."""


def turned(wanted: Mapping[str, str]) -> Iterator[Turned]:
    """Yield the actions whose new keys mean something else.

    These are decisions on the key of any other action, and any action on a key that approves. The other
    action's default key counts even if that action has a new key, because people know the old one.
    """
    for name, value in wanted.items():
        id_ = name if name in KEYS else f"list.{name}"
        own = _keys(KEYS.get(id_, ""))
        for key in _keys(value):
            other = next((one for one, keys in KEYS.items() if one != id_ and key in _keys(keys)), None)
            if key not in own and other and (id_ in DECISIONS or other in _APPROVE) and id_ in KEYS:
                yield Turned(name, id_, key, other)


def _keys(text: str) -> list[str]:
    return [_plain(part.strip()) for part in text.split(",") if part.strip()]


def _plain(key: str) -> str:
    key = _SAME.get(key, key)
    last = key.removeprefix("shift+")
    return last.upper() if key != last and len(last) == 1 else key
