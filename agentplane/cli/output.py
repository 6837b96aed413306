"""Printing for every command, with data on stdout and everything else on stderr.

Only this module of the command line prints, apart from the progress line. It makes hidden characters of every text visible, so that no text
from a file can control the terminal.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import click
import msgspec

from agentplane.cli import progress_line
from agentplane.errors import AgentplaneError
from agentplane.text import ages
from agentplane.text import visible as hidden_text
from agentplane.text.visible import cells as cells_of
from agentplane.text.visible import one_line, padded, visible


_PLAIN_START = re.compile(r"[a-z]+ ")
_LINE_ENDS = re.compile(r"[\r\n]+")


class Piece(NamedTuple):
    """Part of a line with its style, in the form that `click.style` takes."""

    text: str
    style: Mapping[str, Any]


def _echo(printed: str, *, err: bool = False, nl: bool = True) -> None:
    progress_line.erase()
    click.echo(printed, err=err, nl=nl)


def emit(name: str, **fields: Any) -> None:
    """Print JSON with its schema."""
    _echo(json_text(msgspec.json.format(_encoded(name, fields), indent=2)))


def emit_line(name: str, **fields: Any) -> None:
    """Print JSON with its schema on one line."""
    _echo(json_text(_encoded(name, fields)))


def _encoded(name: str, fields: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode({"schema": f"agentplane/{name}@1", **fields})


def json_text(data: bytes) -> str:
    """Return JSON with escaped hidden characters. It decodes to the same value."""
    return hidden_text.replaced(data.decode(), _json_escape)


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def line(*parts: str | Piece, **style: Any) -> None:
    """Print one line of data. Parts without their own style get `style`."""
    pieces = (part if isinstance(part, Piece) else Piece(part, style) for part in parts)
    _echo("".join(map(_drawn, pieces)))


def _drawn(piece: Piece) -> str:
    text = visible(_LINE_ENDS.sub(" ", piece.text))
    return click.style(text, **piece.style) if piece.style and is_colored(sys.stdout) else text


def text(whole: str) -> None:
    """Print a text of several lines as data."""
    _echo(visible(whole), nl=False)


def note(text: str) -> None:
    """Print a message on stderr."""
    _echo(visible(text), err=True)


def confirmed(question: str, *, default: bool | None = False, abort: bool = False) -> bool:
    """Ask a yes-or-no question on stderr and return the answer."""
    progress_line.erase()
    choices = "y/n" if default is None else "Y/n" if default else "y/N"
    answer: bool = click.prompt(
        visible(question),
        default=default,
        show_default=False,
        prompt_suffix=f" [{choices}]: ",
        value_proc=_yes_or_no,
        err=True,
    )
    if abort and not answer:
        raise click.Abort
    return answer


def _yes_or_no(answer: str | bool) -> bool:
    if isinstance(answer, bool):
        return answer
    word = answer.strip().lower()
    if word not in ("y", "yes", "n", "no"):
        raise click.UsageError("Type y or n.")
    return word.startswith("y")


def forget_typed() -> None:
    """Drop the keys that were typed before a question was shown, so that they can't be the answer."""
    with suppress(ImportError, OSError, ValueError):
        import termios  # few commands ask, and not every system has it

        with suppress(termios.error):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def answered(question: str) -> str:
    """Ask a question on stderr and return the answer."""
    progress_line.erase()
    answer: str = click.prompt(visible(question), err=True)
    return answer


def error(failure: AgentplaneError) -> None:
    mark = click.style("error:", fg="red", bold=True) if is_colored(sys.stderr) else "error:"
    _echo(f"{mark} {visible(sentence(failure.headline))}", err=True)
    if failure.todo:
        _echo(f"  {visible(sentence(failure.todo))}", err=True)


def sentence(text: str) -> str:
    """Return a message with a capital letter at the start and a period at the end."""
    start = text[:1].upper() + text[1:] if _PLAIN_START.match(text) else text
    ends = not start or start[-1] in ".?!:" or start[-1].isspace() or "/" in start.rpartition(" ")[2]
    return start if ends else f"{start}."


def width() -> int | None:
    """Return the number of columns for a row.

    Return None if the output is no terminal, so that nothing is cut.
    """
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def row(cells: Iterable[tuple[str, int]], last: str) -> str:
    """Return cells padded to their widths, and text in the rest of the line."""
    start = "".join(padded(text, size) + "  " for text, size in cells)
    columns = width()
    return start + one_line(last, max(columns - cells_of(start), 8) if columns else None)


def age(ts: str) -> str:
    """Return the time since a timestamp, in the largest unit that fits, with "ago"."""
    age = _age(ts)
    return one_line(ts, 20) if age is None else f"{age} ago" if age else "just now"


def short_age(ts: str) -> str:
    """Return the time since a timestamp for a narrow column."""
    age = _age(ts)
    return one_line(ts, 20) if age is None else age or "now"


def _age(ts: str) -> str | None:
    """Return the age of a timestamp, or None if the text is not a timestamp."""
    try:
        return ages.age(datetime.fromisoformat(ts).astimezone(UTC), datetime.now(UTC))
    except (ValueError, OverflowError):
        return None


def seconds_since(ts: str) -> float | None:
    """Return the seconds since a timestamp. Return None if the text is not a timestamp."""
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(ts).astimezone(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None


def is_colored(stream: Any) -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
