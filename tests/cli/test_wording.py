"""Words that no help text and no message uses: private words, and idioms that plain English doesn't have."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import agentplane
from agentplane.cli import table
from agentplane.cli.app import cli, load


ROOT = Path(agentplane.__file__).parent
BANNED = re.compile(
    r"(?<![\w./-])(?:planes?|shelf|ops?|un-?wir(?:e|es|ed|ing)|wir(?:e|es|ed|ing)|harvest(?:s|ed|ing)?"
    r"|settl(?:e|es|ed|ing)|marked|hand edits?|by hand|adopt(?:s|ed|ing)?|revert(?:s|ed|ing)?|capsules?|rooms?"
    r"|anew|mend(?:s|ed|ing)?|beside|by itself|by themselves|nowhere|of now|for ever|ours|theirs|stands?|screens?)(?![\w/-]|\.\w)",
    re.IGNORECASE,
)
IDIOMS = re.compile(
    r"\b(?:something else than|somebody|everybody|nobody else|(?:written )?to its end|at this moment"
    r"|(?<!there )(?:is|are) no (?!longer\b|more\b)[a-z]+|holds? (?:what|text|marks?|no|a hidden)\b|word for word what|looked at"
    r"|brought|brings? (?:the|them)\b|is not there|has to be|says? (?:that|something)\b"
    r"|(?:another|other) \w+ than its own|one a line|what follows|what stands|takes? (?:\w+ )?out of)\b",
    re.IGNORECASE,
)
"""Phrases of another language that any text of the package could have, also one that is put together elsewhere."""
LEXICONS = ("claims/", "demo/", "scan/", "tools/harvest/", "review/gate/wording.py")
"""Modules whose texts are mostly patterns of other people's words, or their words."""
ALLOWED = re.compile(r"`[^`]*`|--plane")
COMMAND = re.compile(r"`agentplane ([a-z][^`]*)`")
SAID_BY = {
    "Refused": 1,
    "NeedsChoice": 1,
    "BadInput": 1,
    "PlaneError": 1,
    "Damaged": 1,
    "Locked": 1,
    "NotFound": 1,
    "NotExecutable": 1,
    "ExtensionError": 1,
    "Instruction": 1,
    "Shell": 3,
    "note": 1,
    "line": 9,
    "row": 9,
    "confirmed": 1,
    "answered": 1,
    "command": 0,
    "option": 0,
}
"""Functions and types whose words a person reads, with the number of their positional arguments that are words."""
WORDS = frozenset(("what", "todo", "where", "before", "after", "help", "remedy"))
FINDING = 3
"""The place of the words in a finding."""
FOLDERS = (
    "agents",
    "api",
    "cli",
    "context",
    "guard",
    "match",
    "mcp",
    "memory",
    "plane",
    "query",
    "retrieval",
    "review",
    "runs",
    "text",
    "tools",
)
FILES = ("health.py", "setup.py", "extensions.py")


def departures(text: str) -> list[str]:
    return BANNED.findall(ALLOWED.sub(" ", text))


def said(path: Path) -> Iterator[tuple[int, str]]:
    """The texts that a module passes to people, with their lines."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in WORDS:
            yield from texts(node.value)
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name == "Finding":
            spoken = node.args[FINDING : FINDING + 1]
        elif name in SAID_BY:
            spoken = node.args[: SAID_BY[name]]
        else:
            continue
        spoken = [*spoken, *(keyword.value for keyword in node.keywords if keyword.arg in WORDS)]
        for argument in spoken:
            yield from texts(argument)


def texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The literal words of an expression. A value in between counts as a word."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
        yield node.lineno, "".join(map(str, parts))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif (
        isinstance(node, ast.Tuple) and isinstance(node.elts[0], ast.Constant) and node.elts[0].value == "git"
    ):
        return
    elif isinstance(node, ast.BinOp | ast.IfExp | ast.BoolOp | ast.Tuple | ast.Starred):
        for inner in ast.iter_child_nodes(node):
            yield from texts(inner)


def phrases(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module with more than one word, without docstrings and patterns."""
    tree = ast.parse(path.read_text())
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docs:
            continue
        if " " in node.value.strip() and "\\b" not in node.value:
            yield node.lineno, node.value


def modules() -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [*found, *(ROOT / name for name in FILES)]


@pytest.mark.parametrize("row", table.ROWS, ids=lambda row: row.name)
def test_help_uses_plain_words(row: table.Row) -> None:
    command = load(row)
    context = click.Context(command, info_name=row.name, parent=click.Context(cli, info_name="agentplane"))
    assert departures(row.summary) == []
    assert departures(command.get_help(context)) == []


def test_messages_use_plain_words() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}": (text, words)
        for path in modules()
        for line, text in said(path)
        if (words := departures(text))
    }
    assert found == {}


def test_no_text_has_an_idiom_of_another_language() -> None:
    paths = [
        path for path in sorted(ROOT.rglob("*.py")) if not str(path.relative_to(ROOT)).startswith(LEXICONS)
    ]
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text!r}"
        for path in paths
        for line, text in phrases(path)
        if IDIOMS.search(ALLOWED.sub(" ", text))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "returned something else than matches",
        "the last line was not written to its end",
        "is no event",
        "holds what looks like a token",
        "`nofile.py` is not there",
        "was changed by somebody else at this moment",
    ],
)
def test_idioms_are_found(text: str) -> None:
    assert IDIOMS.search(text)
    assert not IDIOMS.search("It is no longer in the inbox, and no more is needed.")


def test_messages_name_commands_that_there_are() -> None:
    wrong = []
    for path in modules():
        for line, text in said(path):
            for words in COMMAND.findall(text):
                called = table.called(words.split())
                if called is None or called.old is not None:
                    wrong.append(f"{path.relative_to(ROOT)}:{line}: {words}")
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Nothing is on the shelf.", ["shelf"]),
        ("It stands beside this.", ["stands", "beside"]),
        ("Run `agentplane revert` in .agentplane/ops/.", []),
        ("Pass it with --plane.", []),
        ("The record of op X is missing.", ["op"]),
    ],
)
def test_departures_are_found(text: str, words: list[str]) -> None:
    assert departures(text) == words


def test_texts_of_every_form_are_read(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        'raise Refused(f"{a} of op {b}", todo="mend " + "it" if a else "adopt")\n'
        'Finding("code", "error", where, "is on the shelf", ())\noutput.note("harvest")\nother("plane")\n'
    )
    assert [word for _, text in said(module) for word in departures(text)] == [
        "op",
        "mend",
        "adopt",
        "shelf",
        "harvest",
    ]
