"""config.toml: defaults, and errors that name the line."""

import pytest

from agentplane.errors import BadInput
from agentplane.plane import create
from agentplane.plane.settings import DEFAULTS
from agentplane.plane.settings_read import parse


def test_what_init_writes_is_all_defaults() -> None:
    assert parse(create.CONFIG_TEXT.encode(), "config.toml") == DEFAULTS


def test_every_commented_key_of_what_init_writes_is_a_key() -> None:
    lines = [line.removeprefix("# ") for line in create.CONFIG_TEXT.splitlines()]
    wanted = [line for line in lines if " = " in line or line.startswith("[")]
    settings = parse("\n".join(wanted).encode(), "config.toml")
    assert settings.policy.auto_approve_confidence == 0.9
    assert settings.kinds["preference"].prefix == "PREF"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("\n[trust]\nhand_edit = 'review'\n", 3, "Unknown setting: `trust.hand_edit`"),
        ("[trust]\nhand_edits = 'maybe'\n", 2, "`trust.hand_edits`"),
        ("[policy]\n# a comment\nauto_approve_confidence = 1.5\n", 3, "auto_approve_confidence"),
        ("[policy]\nauto_approve_confidence = 'high'\n", 2, "auto_approve_confidence"),
        ("# x\ntrusts = 1\n", 2, "Unknown setting: `trusts`"),
        ("[nonsense]\nx = 1\n", 1, "Unknown setting: `nonsense`"),
        ("[trust]\ntools_may_approve = 1\n", 2, "tools_may_approve"),
        ("trust.hand_edits = 3\n", 1, "hand_edits"),
        ("[kinds.preference]\nprefix = 'pref'\nfile = 'p.md'\n", 2, "prefix"),
        ("[kinds.preference]\nprefix = 'PREF'\nfile = '../p.md'\n", 3, "file"),
        ("[kinds.preference]\nprefix = 'PREF'\n", 1, "file"),
        ("[kinds.x]\nprefix = 'PREF'\nfile = 'p.md'\nlabel = 'Preference: Only in tests'\n", 4, "label"),
        ("[kinds.x]\nprefix = 'PREF'\nfile = 'p.md'\nlabel = ''\n", 4, "label"),
        ('[kinds.x]\nprefix = "PREF"\nfile = "p.md"\nlabel = "Preference\\n"\n', 4, "label"),
        ("[kinds.x]\nprefix = 'PREF'\nfile = 'p.md'\nlabel = 'Preference\uff1aOnly'\n", 4, "label"),
        ("a = \n", 1, "invalid value"),
        ("[trust]\nhand_edits = 'review'\nhand_edits = 'review'\n", 3, "overwrite"),
    ],
)
def test_errors_name_the_line(text: str, line: int, what: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(text.encode(), "config.toml")
    assert caught.value.where == f"config.toml:{line}"
    assert what in caught.value.what
    assert caught.value.todo


@pytest.mark.parametrize("label", ["Preference", "Wunsch für später", "What-if", "決定", "A_b 2"])
def test_labels_in_any_language(label: str) -> None:
    text = f"[kinds.x]\nprefix = 'PREF'\nfile = 'p.md'\nlabel = '{label}'\n"
    assert parse(text.encode(), "config.toml").kinds["x"].label == label


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(BadInput) as caught:
        parse(b"[trust]\nhand_edit = 'review'\n", "config.toml")
    assert caught.value.todo == "Did you mean `trust.hand_edits`?"


def test_what_is_not_utf8() -> None:
    with pytest.raises(BadInput) as caught:
        parse(b"# fine\n# \xff\n", "config.toml")
    assert caught.value.where == "config.toml:2"
