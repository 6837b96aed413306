"""The words of the screens are those of the trade."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentplane.tui import actions, registry
from tests.conftest import ROOT


BANNED = re.compile(
    r"\b(planes?|shelf|packs?|ops|in one op|wir(?:e|es|ed|ing)|unwir(?:e|ed)|hand[ -]edit(?:s|ed)?|edited by hand"
    r"|by hand|adopt(?:s|ed|ing)?|revert(?:s|ed|ing)?|harvest(?:s|ed)?|settle(?:s|d)?|marked|capsules?|receipts?"
    r"|old memory|stands?|anew|mends?|beside|brought|bring(?:s|ing)?|told|ours|of ours|leave it|by itself"
    r"|somebody|everybody|something else than|is not there|at this moment|looked at|has to be"
    r"|by themselves|of now|nowhere|takes? (?:it )?(?:up|out|back|away)|it is (?:not )?wired|clean)\b",
    re.IGNORECASE,
)
"""Words of the program's past, and words that no other program has for this."""
SOURCES = sorted((ROOT / "agentplane" / "tui").rglob("*.py"))


def shown(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The texts of a module with more than one word, without docstrings, annotations and style sheets."""
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        for name in ("annotation", "returns"):
            for part in ast.walk(getattr(node, name, None) or ast.Pass()):
                skipped.add(id(part))
        if isinstance(node, ast.keyword) and node.arg == "also":
            skipped.add(id(node.value))  # words that find a command, and that are not shown
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            text = node.value
            if " " in text.strip("\n") and "{" not in text:
                yield node.lineno, text


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_text_has_a_banned_word(path: Path) -> None:
    found = [f"{line}: {text!r}" for line, text in shown(ast.parse(path.read_text())) if BANNED.search(text)]
    assert [text for text in found if text not in ALLOWED] == []


ALLOWED: frozenset[str] = frozenset()


def test_no_name_of_an_action_or_a_screen_has_one() -> None:
    for one in actions.ACTIONS:
        assert not BANNED.search(f"{one.name} {one.what} {one.section}"), one.id
    for row in registry.SCREENS:
        assert not BANNED.search(f"{row.title} {row.heading} {row.signs}"), row.name
    assert [row.title for row, _ in registry.tabs()] == [
        "Inbox",
        "Memory",
        "Runs",
        "Tools",
        "Context",
        "Curator",
        "Settings",
    ]


def test_the_test_finds_banned_words() -> None:
    tree = ast.parse(
        'def f():\n    """The plane."""\n    x = "the plane is gone"\n    y: "Plane | None" = None\n'
    )
    assert [text for _, text in shown(tree)] == ["the plane is gone"]
    assert BANNED.search("the plane is gone")
