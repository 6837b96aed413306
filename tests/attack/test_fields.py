"""Hostile text in every field of every file of a plane, held against what each command and screen shows.

The history is forged consistently: digests, hashes and links fit, so the text gets as far as it can.
"""

import ast
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentplane.api import open_plane
from agentplane.plane.store import records
from agentplane.text.log import chain
from agentplane.text.visible import hidden
from tests.cli.conftest import Cli, cli, command, person
from tests.conftest import ROOT
from tests.tui.conftest import Sitting, sit


__all__ = ["cli", "command", "person"]

HOSTILE = "\x1b]0;owned\x07\x1b[8m\x9b31m\x7f\r\u202e\u2066\u200b\U000e0041"
"""Sets a title, conceals text, colors it by a one-byte sequence, deletes, turns the direction around, hides."""

Path_ = tuple[str | int, ...]
Field = tuple[str, Path_]
"""A kind of record and the path of a text in it."""


def leaves(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The paths of all texts in a JSON value, keys of open mappings left out."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield from leaves(value[0], (*path, 0))


def poisoned(value: Any, path: Path_) -> Any:
    """The value with the hostile text at the end of one of its texts, before the ending of a file."""
    if not path:
        stem, ending = (value[:-3], ".md") if value.endswith(".md") else (value, "")
        return f"{stem}{HOSTILE}{ending}"
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = poisoned(copy[path[0]], path[1:])  # type: ignore[index]
    return copy


def has(value: Any, path: Path_) -> bool:
    for step in path:
        try:
            value = value[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return False
    return isinstance(value, str)


def events_of(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "memory/log.jsonl").read_bytes().splitlines()]


def records_of(root: Path) -> dict[str, tuple[Path, dict[str, Any], dict[str, Any]]]:
    found = {}
    for path in sorted((root / "ops").glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            told = json.loads(line)
            found[told["record"]["op"]] = path, told["record"], told["texts"]
    return found


def forge(root: Path, field: Field) -> None:
    """Puts hostile text into one field of every event or record that has it, with hashes that fit."""
    kind, path = field
    stored = records_of(root)
    heads = {}
    lines: dict[Path, list[bytes]] = {}
    for op, (file, told, texts) in stored.items():
        record = poisoned(told, path) if kind == "record" and has(told, path) else told
        line, sha256 = records.line_of(msgspec.convert(record, records.Record), texts)
        heads[op] = record["op"], sha256
        lines.setdefault(file, []).append(line)
    for file, made in lines.items():
        file.write_bytes(b"".join(line if line.endswith(b"\n") else line + b"\n" for line in made))
    prev, log = chain.GENESIS, b""
    for event in events_of(root):
        told = {key: value for key, value in event.items() if key not in ("hash_prev", "hash_self")}
        if told["kind"] == "op":
            told["op"], told["op_sha256"] = heads[told["op"]]
        if kind == f"{told['kind']} event" and has(told, path) and path != ("kind",):
            told = poisoned(told, path)
        log += (line := chain.link(told, prev))
        prev = chain.hash_of(line)
    (root / "memory/log.jsonl").write_bytes(log)
    for name in ("state.json", "artifacts.json"):
        (root / "memory" / name).unlink()


def fields_of(root: Path) -> list[Field]:
    found: dict[Field, None] = {}
    for event in events_of(root):
        for path in leaves(event):
            if path[0] not in ("kind", "hash_prev", "hash_self", "op_sha256"):
                found[f"{event['kind']} event", path] = None
    for _, record, _ in records_of(root).values():
        for path in leaves(record):
            found["record", path] = None
    return list(found)


EXAMPLE = ROOT / ".agentplane-example"
# What showed raw text once, and a sample of the others; the rest is `full`.
_ALWAYS = {"verb", "ts", "channel", "actor", "run_id", "summary", "tool", "task", "file", "id"}


def _fields() -> list[Any]:
    return list(_marked())


def _marked() -> Iterator[Any]:
    for number, field in enumerate(fields_of(EXAMPLE)):
        kind, path = field
        known = path[-1] in _ALWAYS and len(path) <= 3
        marks = () if known or number % 12 == 0 else pytest.mark.full
        yield pytest.param(field, id=f"{kind} {'.'.join(map(str, path))}", marks=marks)


class Demo(msgspec.Struct, frozen=True):
    """A copy of the example, and ids of it as they were before it was poisoned."""

    root: Path
    ids: list[str]
    waiting: list[str]


@pytest.fixture
def demo(project: Path) -> Demo:
    shutil.copytree(ROOT / "tests/example/project", project, dirs_exist_ok=True)
    shutil.copytree(EXAMPLE, project / ".agentplane")
    memory = open_plane(project / ".agentplane").memory.read()
    waiting = [entry.id for entry in memory.inbox][:2]
    return Demo(project / ".agentplane", [entry.id for entry in memory.shelf][:3], waiting)


def commands(ids: list[str], waiting: list[str]) -> Iterator[tuple[str, ...]]:
    """Every command that shows something of a plane, and a few that change it last."""
    yield from (("status",), ("status", "--json"), ("inbox",), ("inbox", "--json"), ("inbox", "--sources"))
    yield from (("list", "--status", "all"), ("list", "--status", "all", "--json"), ("badge",))
    yield from (("show", *ids, *waiting), ("show", *ids, *waiting, "--json"))
    for id_ in (*ids, *waiting[:1]):
        yield from (("history", id_, "--texts"), ("history", id_, "--json"))
    yield from (("ops",), ("ops", "--json"), ("recall", "postings"), ("recall", "postings", "--json"))
    yield from (("timeline",), ("timeline", "--json"), ("diff",), ("diff", "--json"))
    yield from (("artifacts",), ("artifacts", "--json"), ("pack", "--print"), ("pack", "--json"))
    yield from (("doctor",), ("doctor", "--json"), ("tools",), ("harvest", "--dry-run"))
    yield from (("sync",), ("undo",), ("redo",), ("undo",), ("approve", *waiting), ("reject", *waiting))
    yield from (("doctor", "--fix"), ("nonsense",))


def assert_harmless(demo: Demo, run: Cli) -> None:
    for words in commands(demo.ids, demo.waiting):
        ran = run(*words)
        for shown in (ran.out, ran.err):
            assert not hidden(shown), (words, [one.name for one in hidden(shown)][:3])
            assert "Traceback" not in shown, words
        if words[-1] == "--json" and ran.out:
            json.loads(ran.out)


@pytest.mark.parametrize("field", _fields())
def test_no_field_of_the_history_reaches_a_terminal_raw(demo: Demo, person: Cli, field: Field) -> None:
    forge(demo.root, field)
    assert_harmless(demo, person)


def test_a_forged_history_is_read(demo: Demo) -> None:
    """The fields arrive: what the tests above look at is shown at all."""
    forge(demo.root, ("record", ("actor",)))
    assert any(HOSTILE in op.actor for op in open_plane(demo.root).history.ops(5))


def _header(name: str) -> Callable[[Path], None]:
    def poison(root: Path) -> None:
        for path in (root / "memory").glob("*.md"):
            lines = path.read_text().splitlines(keepends=True)
            at = [place for place, line in enumerate(lines) if line.startswith(f"{name}: ")]
            for place in at[-1:]:
                value = lines[place].partition(": ")[2].strip()
                text = json.dumps(value.strip("[]") + HOSTILE)
                lines[place] = f"{name}: {f'[{text}]' if value.startswith('[') else text}\n"
            path.write_text("".join(lines))

    return poison


def _body(root: Path) -> None:
    for path in (root / "memory").glob("*.md"):
        path.write_text(path.read_text() + f"More{HOSTILE} text.\n")


def _prose(root: Path) -> None:
    for path in (root / "memory").glob("*.md"):
        path.write_text(f"Prose{HOSTILE}\n\n{path.read_text()}")


def _file_name(root: Path) -> None:
    os.rename(root / "memory/facts.md", root / f"memory/facts{HOSTILE}.md")


def _settings(line: str) -> Callable[[Path], None]:
    escaped = "".join(f"\\U{ord(char):08x}" for char in HOSTILE)
    return lambda root: (root / "config.toml").write_text(line.format(escaped)) and None


def _capsule(name: str) -> Callable[[Path], None]:
    def poison(root: Path) -> None:
        for path in (root / "runs").glob(f"*/{name}"):
            data = path.read_bytes()
            try:
                value = json.loads(data)
            except ValueError:
                path.write_bytes(data + HOSTILE.encode())
                continue
            for leaf in list(leaves(value)):
                value = poisoned(value, leaf)
            path.write_text(json.dumps(value))

    return poison


def _view(name: str) -> Callable[[Path], None]:
    def poison(root: Path) -> None:
        path = root / "memory" / name
        value = json.loads(path.read_bytes())
        for leaf in list(leaves(value)):
            value = poisoned(value, leaf)
        path.write_text(json.dumps(value))

    return poison


def _garbage(name: str) -> Callable[[Path], None]:
    def poison(root: Path) -> None:
        for path in root.glob(name):
            path.write_bytes(path.read_bytes() + HOSTILE.encode() + b"\n")

    return poison


FILES: dict[str, Callable[[Path], None]] = {
    **{f"header {name}": _header(name) for name in ("id", "type", "status", "tags", "source", "evidence", "proposed_by", "approved_by", "updated", "confidence", "scope", "supersedes")},
    "body": _body,
    "prose": _prose,
    "name of a memory file": _file_name,
    "theme": _settings('[tui]\ntheme = "{}"\n'),
    "key of the settings": _settings('[trust]\n"a{}" = 1\n'),
    "value of the settings": _settings('[gate]\nsecret = "off{}"\n'),
    "key for an action": _settings('[tui.keys]\n"a{0}" = "{0}"\n'),
    "settings that are no TOML": _garbage("config.toml"),
    **{f"capsule {name}": _capsule(name) for name in ("meta.json", "context.json", "summary.md", "outputs/stdout", "outputs/changes.patch")},
    **{f"view {name}": _view(name) for name in ("state.json", "artifacts.json")},
    "line of the log": _garbage("memory/log.jsonl"),
    "line of the records": _garbage("ops/*.jsonl"),
}  # fmt: skip
_FULL = ("header type", "header tags", "header source", "header approved_by", "header updated", "header confidence",
         "header supersedes", "prose", "key of the settings", "capsule context.json", "view artifacts.json")  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.full if name in _FULL else ()) for name in FILES]
)
def test_no_file_reaches_a_terminal_raw(demo: Demo, person: Cli, name: str) -> None:
    FILES[name](demo.root)
    assert_harmless(demo, person)


def _removed_by_hand(root: Path) -> None:
    """An entry that is gone from its file, whose record names a hostile file."""
    path = root / "memory/decisions.md"
    parts = path.read_text().split("\n---\nid: ")
    path.write_text("\n---\nid: ".join(parts[:-1]))


SCREENS: dict[str, Callable[[Path], None]] = {
    "file of a removed entry": lambda root: (forge(root, ("record", ("changes", 0, "file"))), _removed_by_hand(root))[-1],
    "actor": lambda root: forge(root, ("record", ("actor",))),
    "verb": lambda root: forge(root, ("record", ("verb",))),
    "summary": lambda root: forge(root, ("run event", ("summary",))),
    "tool": lambda root: forge(root, ("run event", ("tool",))),
    "run id": lambda root: forge(root, ("run event", ("run_id",))),
    "body": _body,
    "tags": _header("tags"),
    "name of a memory file": _file_name,
}  # fmt: skip
_FULL_SCREENS = ("actor", "verb", "tool", "run id", "tags", "body", "summary")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.full if name in _FULL_SCREENS else ()) for name in SCREENS]
)
def test_no_screen_draws_a_character_that_steers(demo: Demo, name: str) -> None:
    SCREENS[name](demo.root)
    seen: list[str] = []

    async def steps(sitting: Sitting) -> None:
        for key, rows in (("1", 28), ("2", 4), ("3", 4), ("4", 2), ("5", 2)):
            await sitting.press(key)
            for _ in range(rows):
                await sitting.pilot.pause(0.02)
                seen.append(sitting.screen)
                await sitting.press("j")

    sit(open_plane(demo.root), steps)
    assert any(map(str.strip, seen))
    for screen in seen:
        assert not hidden(screen), [one.name for one in hidden(screen)][:5]


_PRINTS = ("print", "echo", "secho", "confirm", "prompt")


def _prints(node: ast.AST) -> bool:
    """Whether a call writes to the terminal in a way that lets any text through."""
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name == "print" or (name.startswith("click.") and name.rpartition(".")[2] in _PRINTS)


def test_one_module_of_the_command_line_prints() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {ast.unparse(node)}"
        for path in sorted((ROOT / "agentplane").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if _prints(node) and path != ROOT / "agentplane" / "cli" / "output.py"
    }
    # The first names a file, in a process without the command line. The second prints what `--help` prints, which
    # is the program's own text. The third hides what is typed.
    assert found == {
        "agentplane/tui/main.py: print(f'Your unsaved text was kept in {visible(path)}', file=sys.stderr)",
        "agentplane/cli/help.py: click.echo(here.get_help())",
        "agentplane/cli/memory/prune.py: click.prompt('Text to prune', hide_input=True, err=True)",
    }
