"""Printing: data on stdout, everything else on stderr; text of others is made harmless first."""

import os
import shutil
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from agentplane.errors import AgentplaneError
from agentplane.text.visible import one_line, visible


def emit(name: str, **fields: Any) -> None:
    """JSON on stdout, under its schema."""
    data = msgspec.json.format(msgspec.json.encode({"schema": f"agentplane/{name}@1", **fields}), indent=2)
    click.echo(data.decode())


def line(text: str = "", **style: Any) -> None:
    """A line of data; `text` is ours or was made harmless."""
    click.echo(click.style(text, **style) if style and _coloured(sys.stdout) else text)


def note(text: str) -> None:
    """A line about what was done, on stderr."""
    click.echo(text, err=True)


def error(failure: AgentplaneError) -> None:
    first, _, rest = str(failure).partition("\n")
    mark = click.style("error:", fg="red", bold=True) if _coloured(sys.stderr) else "error:"
    click.echo(f"{mark} {visible(first)}", err=True)
    if rest:
        click.echo(f"  {visible(rest)}", err=True)


def width() -> int | None:
    """The columns to fit a row into; None where the output is no terminal and nothing should be cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def row(cells: Iterable[tuple[str, int]], last: str) -> str:
    """Cells padded to their widths, then text that takes what is left of the line."""
    start = "".join(one_line(text, size).ljust(size) + "  " for text, size in cells)
    columns = width()
    return start + one_line(last, max(columns - len(start), 8) if columns else None)


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 hand edit`, `2 hand edits`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def age(ts: str) -> str:
    """How long ago, in the largest unit that fits."""
    try:
        moment = datetime.fromisoformat(ts)
    except ValueError:
        return one_line(ts, 20)
    seconds = (datetime.now(UTC) - moment.astimezone(UTC)).total_seconds()
    for size, unit in ((86400 * 365, "y"), (86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


def _coloured(stream: Any) -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
