"""Makes what the documentation takes from the program itself: commands, modules, keys, sessions, the picture.

python -m tests.docs.generate           writes it anew
python -m tests.docs.generate --check   names what is stale
"""

import argparse
import ast
import difflib
import os
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from xml.sax.saxutils import escape

import click
import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.agents.model import Hooks, Mcp, Tool
from agentplane.cli import table
from agentplane.cli.app import cli, load
from agentplane.plane import settings, settings_table
from agentplane.tools.settings_file.desired import NAME
from tests.conftest import clean_environment
from tests.docs import sessions, tables
from tests.e2e.terminal import typed
from tests.example import make


ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PICTURE = DOCS / "pictures" / "inbox.svg"
MARK = re.compile(r"(<!-- made by tests/docs/generate\.py: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
_COLUMNS = 100
_CELL, _LINE, _MARGIN = 8.4, 19, 16
_SGR = re.compile(r"\x1b\[([0-9;]*)m")


def commands() -> str:
    """The help of each command, in the order of `agentplane --help`."""
    parts = [_section("agentplane", cli, "agentplane")]
    parts += [_section(f"agentplane {row.name}", load(row), row.name) for row in table.documented()]
    return "\n".join(parts)


def _section(title: str, command: click.Command, name: str) -> str:
    parent = None if command is cli else click.Context(cli, info_name="agentplane")
    context = click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=80,
        help_option_names=["-h", "--help"],
        color=False,
    )
    return f"## {title}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"


def rooms() -> list[str]:
    """The rooms from the top down, as the import rules have them."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    names = (name.strip() for layer in rules["layers"] for name in re.split(r"[|:]", layer))
    return [name for name in names if (ROOT / "agentplane" / name).is_dir()]


def modules() -> str:
    """The modules of each package, with the first sentence of their docstrings."""
    house = ROOT / "agentplane"
    return "\n".join(
        _package(folder.parent, house)
        for room in rooms()
        for folder in sorted((house / room).rglob("__init__.py"))
    )


def _package(folder: Path, house: Path) -> str:
    name = folder.relative_to(house).as_posix()
    level = "###" if folder.parent == house else "####"
    rows = [
        f"| `{path.name}` | {_first_line(path)} |"
        for path in sorted(folder.glob("*.py"))
        if path.name != "__init__.py"
    ]
    table = ["", "| module | what it does |", "| --- | --- |", *rows] if rows else []
    return "\n".join([f"{level} `{name}/`", "", _first_line(folder / "__init__.py"), *table, ""])


def _first_line(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def tools() -> str:
    """The table of coding tools: what each reads."""
    forms = {"block": "managed block", "import": "import line", "rule": "separate file"}
    rows = [
        f"| {tool.title} | `{tool.name}` | `{tool.target.path}` | {forms[tool.target.form]} | {_limit(tool)} |"
        for tool in TOOLS
    ]
    return _table("| tool | name | file | content | size limit |", rows)


def _limit(tool: Tool) -> str:
    return f"{tool.limits.file_bytes:,} bytes" if tool.limits.file_bytes else ""


def wiring() -> str:
    """The table of coding tools: which settings files take what."""
    rows = []
    for tool in TOOLS:
        hooks = f"`{tool.hooks.path}`: {_events(tool.hooks)}" if tool.hooks else ""
        mcp = "; ".join(map(_server, tool.mcp))
        resume = f"`{' '.join(tool.resume).replace('{id}', 'ID')}`" if tool.resume else ""
        rows.append(f"| {tool.title} | {hooks} | {mcp} | {resume} | {tool.hint} |")
    return _table("| tool | hooks | MCP server | resume command | one-time setup |", rows)


def answers() -> str:
    """The table of the answers that hooks give."""
    rows = []
    for tool in TOOLS:
        if tool.dialect is not None:
            size = f"{tool.budget:,} {tool.measure}" if tool.dialect.start else ""
            asked = "yes" if tool.dialect.question else "no"
            rows.append(f"| `{tool.name}` | {'yes' if size else 'no'} | {size} | {asked} |")
    return _table("| tool | memory at the start | size limit | question at the end |", rows)


def _events(hooks: Hooks) -> str:
    return ", ".join(f"{ours} ({theirs})" if ours != theirs else ours for ours, theirs in hooks.events)


def _server(mcp: Mcp) -> str:
    return f"{' or '.join(f'`{path}`' for path in mcp.paths)}, `{'.'.join((*mcp.under, NAME))}`"


def _table(head: str, rows: list[str]) -> str:
    lines = [head, "|" + " --- |" * (head.count("|") - 1), *rows]
    return "\n".join(lines) + "\n"


_SETTINGS_PAGE = "reference/settings.md"
_SETTINGS = {
    "settings_trust": ("trust",),
    "settings_policy": ("policy",),
    "settings_gate": ("gate",),
    "settings_runs": ("runs",),
    "settings_delivery": ("context", "tools", "hooks"),
    "settings_curate": ("curate",),
    "settings_inbox": ("inbox", "expiry", "write"),
    "settings_tui": ("tui",),
}
"""The tables of docs/reference/settings.md, each with the tables of a settings file in it."""


def settings_of(tables: Sequence[str]) -> str:
    """The table of some settings."""
    return _settings_table(one for table in tables for one in settings_table.SETTINGS if one.table == table)


def custom_kinds() -> str:
    """The table of the settings of a custom kind."""
    own = settings_table.rows(settings.KindRow, "kinds.NAME.")
    return _settings_table([*own, settings_table.by_name("kinds")])


def _settings_table(rows: Iterable[settings_table.Setting]) -> str:
    lines = [
        f"| `{one.name}` | {_default(one.default)} | {' '.join(filter(None, (one.what, one.more, _see(one.page))))} |"
        for one in rows
    ]
    return _table("| key | default | effect |", lines)


def _default(value: object) -> str:
    if value is msgspec.NODEFAULT:
        return "required"
    return "not set" if value is None else f"`{settings_table.shown(value)}`"


def variables() -> str:
    """The table of environment variables."""
    rows = [
        f"| `{one.name}` | {' '.join(filter(None, (one.what, _see(one.page))))} |"
        for one in settings_table.VARIABLES
    ]
    return _table("| variable | effect |", rows)


def _see(page: str) -> str:
    """A link from the page of settings to another page, with the heading there."""
    path, _, anchor = page.partition("#")
    if path == _SETTINGS_PAGE and anchor in ("gate", "custom-kinds", "environment-variables"):
        return ""  # the section with the table
    headings = {anchor_of(heading): heading for heading in headings_of((DOCS / path).read_text())}
    title = headings[anchor] if anchor else next(iter(headings.values()))
    target = f"#{anchor}" if path == _SETTINGS_PAGE else os.path.relpath(page, Path(_SETTINGS_PAGE).parent)
    return f"See [{title}]({target})."


def headings_of(page: str) -> list[str]:
    """The headings of a page. The lines of its code blocks are left out."""
    return re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )


def anchor_of(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def filled(text: str) -> str:
    """A page with its generated parts as they should be."""
    makers = {
        "commands": commands,
        "modules": modules,
        "keys": tables.of_keys,
        "query": tables.of_query,
        "findings": tables.of_findings,
        "tools": tools,
        "wiring": wiring,
        "answers": answers,
        "settings_kinds": custom_kinds,
        "settings_variables": variables,
        **{name: partial(settings_of, tables) for name, tables in _SETTINGS.items()},
    }
    return MARK.sub(lambda found: f"{found[1]}\n{makers[found[2]]()}\n{found[3]}", text)


def picture() -> str:
    """A review in a terminal, as the program prints it on a copy of the example."""
    return _svg([*_recorded()])


def _recorded() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        project = folder / "payments-api"
        shutil.copytree(make.PROJECT, project, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(make.TARGET, project / ".agentplane")
        listed = typed(["inbox", "--json"], project).screen
        waiting = [row["id"] for row in msgspec.json.decode(listed)["candidates"]]
        for words in (["inbox"], ["show", waiting[0]], ["approve", waiting[0], waiting[1]], ["badge"]):
            yield f"\x1b[2m$\x1b[0m agentplane {' '.join(words)}"
            yield from typed(words, project, columns=_COLUMNS).screen.rstrip("\n").split("\n")
            yield ""


def _svg(lines: list[str]) -> str:
    width, height = round(_COLUMNS * _CELL + 2 * _MARGIN), len(lines) * _LINE + 2 * _MARGIN
    rows = [
        f'<text xml:space="preserve" x="{_MARGIN}" y="{_MARGIN + _LINE * number - 5}">{"".join(_spans(line))}</text>'
        for number, line in enumerate(lines, 1)
        if line
    ]
    style = "text{white-space:pre;fill:#d8dee9}.b{font-weight:700}.d{fill:#8a94a6}.r{fill:#ff7b72}"
    size = f'viewBox="0 0 {width} {height}" width="{width}"'
    font = 'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
            f"<style>{style}</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>',
            *rows,
            "</svg>\n",
        ]
    )


def _spans(line: str) -> Iterator[str]:
    """The pieces of a line, each with the style that is on there."""
    style = ""
    for place, piece in enumerate(_SGR.split(line)):
        if place % 2:
            style = {"1": "b", "2": "d", "31": "r"}.get(piece, "" if piece in ("", "0") else style)
        elif piece:
            yield f'<tspan class="{style}">{escape(piece)}</tspan>' if style else escape(piece)


def steady(text: str) -> str:
    """Without what differs from run to run: dates and commits are in what a revision is made of, and ages grow."""
    text = re.sub(r"\d+ days? old[^<\n]*", "0 days old", text)
    text = re.sub(r"git checkout [0-9a-f]{12}\b", "git checkout 000000000000", text)
    return re.sub(r"(?i)(memory revision) [0-9a-f]{8}", r"\1 00000000", text)


def generated() -> dict[Path, str]:
    """Every file that is generated in whole or in part, as it should be."""
    found = {
        path: filled(path.read_text()) for path in sorted(DOCS.rglob("*.md")) if MARK.search(path.read_text())
    }
    return {**found, PICTURE: picture()}


def with_sessions(made: Mapping[Path, str]) -> dict[Path, str]:
    """Every page that shows a session, with what the program prints now; `made`: pages that were made in part."""
    found = {}
    for path in (ROOT / "README.md", *sorted(DOCS.rglob("*.md"))):
        text = made.get(path) or path.read_text()
        if any(sessions.steps(text)):
            with tempfile.TemporaryDirectory() as temporary:
                home = Path(temporary) / "home"
                home.mkdir()
                found[path] = sessions.rewritten(text, home.resolve())
    return found


def stale(made: Mapping[Path, str]) -> list[Path]:
    return [
        path for path, text in made.items() if not path.exists() or steady(path.read_text()) != steady(text)
    ]


def changed_lines(path: Path, text: str) -> list[str]:
    """The lines that differ between a page and what it should be, for a failing test."""
    old = path.read_text().splitlines() if path.exists() else []
    return list(difflib.unified_diff(old, text.splitlines(), lineterm="", n=0))[:40]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    wanted = clean_environment()
    os.environ.clear()
    os.environ.update(wanted)
    made = generated()
    made |= with_sessions(made)
    old = stale(made)
    for path in old:
        print(f"{'stale:' if check else 'wrote'} {path.relative_to(ROOT)}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made[path])
    return int(check and bool(old))


if __name__ == "__main__":
    sys.exit(main())
