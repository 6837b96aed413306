"""Nothing is decided by reading what is written for people: not the words of an error, and not those of a finding.

Types, codes and fields decide. Reading words is for the doors, which print them.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentplane


ROOT = Path(agentplane.__file__).parent
WORDS = frozenset(("what", "todo", "remedy", "headline"))
"""The fields of errors, findings, faults and flags that hold words for a person."""
READING = frozenset(
    [
        "startswith",
        "endswith",
        "removeprefix",
        "removesuffix",
        "partition",
        "rpartition",
        "split",
        "rsplit",
        "find",
        "index",
        "match",
        "search",
        "fullmatch",
    ]
)
"""Methods that look into a text."""
FOREIGN = {
    ("mcp/failures.py", "str(error).partition"),
    ("runs/reports.py", "str(error).partition"),
    ("text/toml/limited.py", "_PLACE.search"),
    ("tui/backend/sessions/session_watch.py", "str(error) != self._failed"),
    ("text/log/damage.py", "(last.what, last.away, last.line + last.lines) == (what, away, self.number)"),
}
"""Messages of msgspec and tomllib, which have no fields; and two texts that are compared to say the same thing only once."""


def reads(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every place that compares the words of an error or a finding, or looks into them, with its line."""
    caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    caught |= {"error", "failure"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and not _is_for_none(node):
            if any(_has_words(side, caught) for side in (node.left, *node.comparators)):
                yield node.lineno, ast.unparse(node)
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READING
        ):
            if any(_is_words(text, caught) for text in (node.func.value, *node.args)):
                yield node.lineno, ast.unparse(node.func)
        elif isinstance(node, ast.Match) and _is_words(node.subject, caught):
            yield node.lineno, ast.unparse(node.subject)


def _is_for_none(node: ast.Compare) -> bool:
    return all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops)


def _has_words(node: ast.AST, caught: set[str]) -> bool:
    parts = (
        node.elts if isinstance(node, ast.Tuple) else node.values if isinstance(node, ast.BoolOp) else [node]
    )
    return any(_is_words(part, caught) for part in parts)


def _is_words(node: ast.AST, caught: set[str]) -> bool:
    """Whether it is a field with words, or `str` of an error."""
    if isinstance(node, ast.BoolOp):
        return any(_is_words(value, caught) for value in node.values)
    if isinstance(node, ast.Attribute):
        return node.attr in WORDS
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        return isinstance(node.args[0], ast.Name) and node.args[0].id in caught
    return False


def test_no_words_decide() -> None:
    found = {
        (str(path.relative_to(ROOT)), said): line
        for path in sorted(ROOT.rglob("*.py"))
        for line, said in reads(ast.parse(path.read_text()))
    }
    assert found.keys() == FOREIGN, {place: line for place, line in found.items() if place not in FOREIGN}


@pytest.mark.parametrize(
    "code",
    [
        'if "`agentplane show " in (error.todo or ""): pass',
        'if fault.what.startswith("repeats line"): pass',
        "if one.fixable and one.remedy == cache_checks.REMEDY: pass",
        'try: pass\nexcept OSError as error:\n    first = str(error).partition(": ")',
        'try: pass\nexcept OSError as error:\n    found = re.search("line", str(error))',
        'match error.what:\n    case "is missing": pass',
    ],
)
def test_what_reads_words_is_found(code: str) -> None:
    assert len(list(reads(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "if error.todo is None: pass",
        'where = error.where or "plane"',
        'text = f"{error.what}. {error.todo}"',
        'if "cache" in finding.repairs: pass',
    ],
)
def test_what_prints_words_is_let_pass(code: str) -> None:
    assert list(reads(ast.parse(code))) == []
