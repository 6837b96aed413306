"""config.toml: every key has a default; unknown keys and wrong types are errors with their line."""

import difflib
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from agentplane.errors import BadInput
from agentplane.text import files


class Trust(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hand_edits: Literal["review", "accept"] = "review"
    """`review`: an edit by hand waits to be adopted. `accept`: it counts at once, for those who work alone."""
    tools_may_approve: bool = False
    """Let approvals come from a coding tool's shell or without a terminal."""


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    auto_approve_confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    """promote_fact approves facts of at least this confidence that cite evidence and a run; unset: never."""


class Write(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lock_timeout: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 20.0
    """Seconds to wait for another process that is writing."""


Action = Literal["refuse", "flag", "off"]


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of a proposal in which something is noticed: refused, flagged for the reviewer, or let pass."""

    secret: Action = "refuse"  # noqa: S105 -- a word of ours, not one
    """A key, token or password of a known form."""
    random: Action = "flag"
    """A string that only looks random."""
    escape: Action = "refuse"
    """Control characters, which steer a terminal."""
    bidi: Action = "refuse"
    """Characters that turn the direction of the text around."""
    smuggled: Action = "refuse"
    """Characters that show nothing and spell something."""
    hidden: Action = "flag"
    """Other invisible characters, text that is invisible when rendered, and text in an encoding."""
    instruction: Action = "flag"
    """Orders to the reader."""
    markup: Action = "flag"
    """Marks of roles and tool calls."""
    command: Action = "flag"
    """Commands that run what nobody has read."""
    size: Action = "flag"
    """Longer than anybody reads."""
    unsupported: Action = "flag"
    """A fact or an assumption without evidence."""
    gone: Action = "flag"
    """Evidence that is not there."""
    outside: Action = "flag"
    """Evidence outside of the project."""
    restated: Action = "flag"
    """An instruction file says it word for word."""
    known: Action = "refuse"
    """An entry on the shelf says it word for word."""
    status: Action = "flag"
    """It will be over by tomorrow."""
    repeat: Action = "refuse"
    """It was rejected before."""


class KindRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prefix: Annotated[str, msgspec.Meta(pattern=r"^[A-Z][A-Z0-9]{1,7}$")]
    """What its ids begin with, as `DEC` in `DEC-014`."""
    file: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,40}\.md$")]
    """Its file under memory/."""
    label: str | None = None
    """What the first line of its body begins with, as `Decision` in `Decision: Use Textual.`"""


class Runs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    share: tuple[str, ...] = ("summary.md", "meta.json")
    """What of a capsule git carries; the rest stays on this machine."""
    keep_output: Annotated[int, msgspec.Meta(ge=0, le=1 << 30)] = 4_000_000
    """Bytes kept of each output: the first half and the last one. Its size and hash are noted in full."""
    keep_free: Annotated[int, msgspec.Meta(ge=0)] = 200_000_000
    """Bytes that stay free on the disk: with less, outputs are not kept any more."""
    environment: tuple[str, ...] = (
        "AGENTPLANE_*",
        "CI",
        "LANG",
        "LC_*",
        "SHELL",
        "TERM",
        "TZ",
        "VIRTUAL_ENV",
    )
    """The variables that a capsule notes, by name; `*` stands for any letters."""


class Tools(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    deliver: bool = True
    """After a decision, bring the new memory at once to the files of coding tools that hold the old one."""
    restart: Literal["ask", "auto"] = "ask"
    """`auto`: after a decision, restart sessions with old memory that `agentplane run` runs, once they are idle.
    `ask`: only when somebody asks for it.
    """


class Hooks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the hooks of coding tools do."""

    ask: bool = True
    """Ask a session once, when it stops after some work, to propose what later sessions should know."""
    name_runs: bool = True
    """Name the run of a session in the log, which git shares, by the first line of what was asked first."""


class Tui(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    theme: str = "auto"
    """A theme by its name, as the theme list in the program has it; `auto`: light or dark, as the terminal is."""
    ascii: bool = False
    """Draw marks with plain characters, for terminals whose font has no others."""
    preview: Literal["auto", "right", "bottom"] = "auto"
    """Where the text stands: beside the list, below it, or beside it where there is room."""
    keys: dict[str, str] = {}
    """Other keys for actions, as `undo = "z"`; docs/keys.md has the actions."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    trust: Trust = Trust()
    policy: Policy = Policy()
    write: Write = Write()
    gate: Gate = Gate()
    runs: Runs = Runs()
    tools: Tools = Tools()
    hooks: Hooks = Hooks()
    tui: Tui = Tui()
    kinds: dict[Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_-]{0,30}$")], KindRow] = {}


DEFAULTS = Settings()


def load(path: Path, shown: str) -> Settings:
    """The settings of a plane; `shown` is how errors name the file."""
    data = files.read_if(path)
    return DEFAULTS if data is None else parse(data, shown)


def parse(data: bytes, shown: str) -> Settings:
    try:
        text = data.decode()
        table = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput("is not UTF-8", where=f"{shown}:{line}", todo="save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), shown) from None
    except RecursionError:
        raise BadInput("is nested too deeply", where=shown, todo="docs/settings.md has every key.") from None
    try:
        return msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise _value_error(str(error), table, text, shown) from None


def _syntax_error(message: str, shown: str) -> BadInput:
    place = re.search(r" \(at line (\d+), column \d+\)$", message)
    what = message[: place.start()] if place else message
    where = f"{shown}:{place[1]}" if place else shown
    return BadInput(
        what[:1].lower() + what[1:], where=where, todo="mend this line; docs/settings.md has every key."
    )


def _value_error(message: str, table: dict[str, Any], text: str, shown: str) -> BadInput:
    """The library names the place as `$.trust.hand_edits`; a person wants the line."""
    what, _, place = message.partition(" - at `")
    place = place.rstrip("`")
    if place.startswith("key`"):
        what, place = f"no name for a kind: {what[:1].lower()}{what[1:]}", f"$.kinds.{_bad_kind(table)}"
    elif place.startswith("$.tui.keys["):
        place = f"$.tui.keys.{_bad_key(table)}"
    elif "[...]" in place:
        place = place.replace("[...]", f".{_bad_kind(table)}")
    keys = [key for key in place.removeprefix("$").split(".") if key]
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
    todo = f"the keys are {', '.join(_names(Settings))}."
    if unknown:
        what = f"unknown key `{'.'.join([*keys, unknown[1]])}`"
        keys.append(unknown[1])
        near = difflib.get_close_matches(".".join(keys), _names(Settings), 1)
        todo = f"did you mean `{near[0]}`?" if near else todo
    elif keys:
        what = f"`{'.'.join(keys)}`: {what[:1].lower()}{what[1:]}"
        allowed = _allowed(keys)
        todo = f"it is one of {allowed}." if allowed else "give it a value of that kind, or leave it out."
    return BadInput(what, where=f"{shown}:{line_of(keys, text)}", todo=todo)


def _bad_kind(table: dict[str, Any]) -> str:
    """The name of the first kind that does not fit: the library does not say it."""
    for name, row in table["kinds"].items():
        try:
            msgspec.convert({"kinds": {name: row}}, Settings)
        except msgspec.ValidationError:
            return str(name)
    return ""


def _bad_key(table: dict[str, Any]) -> str:
    """The first action whose key is no text."""
    return next(str(name) for name, key in table["tui"]["keys"].items() if not isinstance(key, str))


def _names(struct: type[msgspec.Struct], prefix: str = "") -> list[str]:
    """Every key with its table, as `trust.hand_edits`."""
    names: list[str] = []
    for field in msgspec.structs.fields(struct):
        inner = _table(field.type)
        names += _names(inner, f"{prefix}{field.name}.") if inner else [prefix + field.name]
    return names


def _table(kind: Any) -> type[msgspec.Struct] | None:
    return kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else None


def _allowed(keys: list[str]) -> str:
    """The values of a key that knows only a few."""
    kind: Any = Settings
    for key in keys:
        fields = {field.name: field.type for field in msgspec.structs.fields(kind)} if _table(kind) else {}
        kind = fields.get(key)
    return " or ".join(f'"{value}"' for value in get_args(kind)) if get_origin(kind) is Literal else ""


def line_of(keys: Sequence[str], text: str) -> int:
    """The line of the deepest of `keys` that can be found; dotted and inline tables give the outer one's."""
    table: list[str] = []
    best, depth = 1, 0
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]", line):
            table = [part.strip().strip("\"'") for part in head[1].split(".")]
            path = table
        elif pair := re.match(r"\s*([^=#\s][^=]*?)\s*=", line):
            path = table + [part.strip().strip("\"'") for part in pair[1].split(".")]
        else:
            continue
        if len(path) > depth and path == list(keys[: len(path)]):
            best, depth = number, len(path)
    return best
