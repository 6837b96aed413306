"""The settings in config.toml. Every key has a default.

Unknown keys and wrong types are errors that name their line.
"""

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from agentplane.errors import BadInput
from agentplane.text import files
from agentplane.text.toml import limited
from agentplane.text.visible import one_line


class Trust(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hand_edits: Literal["review", "accept"] = "review"
    """`review`: a manual edit waits until a person accepts it. `accept`: it takes effect immediately."""
    tools_may_approve: bool = False
    """Allow decisions from a coding tool's shell or without a terminal."""
    require_signatures: bool = False
    """Refuse decisions without a signature by an allowed signer, in `check`, in `doctor` and when deciding."""
    allowed_signers: tuple[str, ...] = ()
    """Allowed signers, as lines of OpenSSH's allowed_signers file: `ada@example.org ssh-ed25519 AAAA…`."""
    signed_after: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")] | None = None
    """Hash of the log line up to which `doctor` accepts unsigned changes."""


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    auto_approve_confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    """Minimum confidence at which `promote_fact` approves a fact that cites evidence and a run. Unset: never."""
    require_receipts: bool | Literal["appended"] = False
    """Require a logged run and evidence that exists for every entry. With `appended`, `check` also requires
    the run among the log lines of the branch.
    """


class Write(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lock_timeout: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 20.0
    """Seconds to wait for another process that is writing."""


Action = Literal["refuse", "flag", "off"]


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Action for each kind of finding in a proposal: refuse it, flag it for the reviewer, or ignore the finding.

    This is the only list of the gate's codes and their defaults. `review/gate/gate.py` uses it.
    """

    secret: Action = "refuse"  # noqa: S105 -- a word of ours, not one
    """A key, token or password of a known form."""
    random: Action = "flag"
    """A string that looks random."""
    escape: Action = "refuse"
    """Control characters, which can control a terminal."""
    bidi: Action = "refuse"
    """Characters that reverse the direction of text."""
    smuggled: Action = "refuse"
    """Invisible characters that spell a text."""
    hidden: Action = "flag"
    """Other invisible characters, text that is invisible when rendered, encoded text, and an unusual header."""
    instruction: Action = "flag"
    """Orders to the reader."""
    markup: Action = "flag"
    """Markers of roles and tool calls."""
    command: Action = "flag"
    """Commands that run unread code, or that expose or weaken the machine or the project."""
    size: Action = "flag"
    """A statement that is too long. Above the size limit of an entry, it is always refused."""
    unsupported: Action = "flag"
    """A fact or an assumption without evidence."""
    gone: Action = "flag"
    """Missing evidence."""
    outside: Action = "flag"
    """Evidence outside the project."""
    restated: Action = "flag"
    """A statement that an instruction file already has, word for word."""
    known: Action = "refuse"
    """A statement that an approved entry already has, word for word."""
    status: Action = "flag"
    """A temporary status, such as "tests are failing today"."""
    repeat: Action = "refuse"
    """A statement that was rejected before."""

    @property
    def finds_secrets(self) -> bool:
        """True unless the project turned off the search for secrets."""
        return self.secret != "off"  # noqa: S105 -- an action


class KindRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prefix: Annotated[str, msgspec.Meta(pattern=r"^[A-Z][A-Z0-9]{1,7}$")]
    """Prefix of its IDs, for example `DEC` in `DEC-014`."""
    file: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,40}\.md$")]
    """Its file under memory/."""
    label: Annotated[str, msgspec.Meta(pattern=r"^[^\W\d_][\w -]{0,30}\Z")] | None = None
    """First word of an entry's text, for example `Decision` in `Decision: Use Textual.`

    It has no colon, because a label with one could hide the first words of the statement.
    """


class Runs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    share: tuple[str, ...] = ("summary.md", "meta.json")
    """Files of a run record that Git carries. All others stay on this machine."""
    keep_output: Annotated[int, msgspec.Meta(ge=0, le=1 << 30)] = 4_000_000
    """Bytes kept of each output, split between its start and its end. The full size and hash are recorded."""
    keep_files: Annotated[int, msgspec.Meta(ge=0, le=1 << 30)] = 4_000_000
    """Size limit in bytes for copies of input files and untracked produced files."""
    keep_free: Annotated[int, msgspec.Meta(ge=0)] = 200_000_000
    """Bytes that must stay free on the disk. With less, outputs are not kept."""
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
    """Names of the environment variables that a run record includes. `*` matches any letters."""


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parts of the context besides the approved entries."""

    last_run: bool = True
    """Add the notes of the last run to the context, labeled as not reviewed. Flagged notes are always withheld."""


class Inbox(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The candidates that ask for attention."""

    daily_limit: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    """Maximum number of candidates that ask for attention on one day. The others are folded. 0 means no limit."""


class Expiry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Entries with a date."""

    warn_days: Annotated[int, msgspec.Meta(ge=0, le=3650)] = 7
    """Days before an expiry date from which `inbox`, `status` and the TUI warn. 0 turns the warning off."""


class Tools(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    deliver: bool = True
    """Update the tool files that have the memory after each decision."""
    restart: Literal["ask", "auto"] = "ask"
    """`auto`: after a decision, restart idle sessions with outdated memory. `ask`: only when a person asks."""


class Hooks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings for the hooks of coding tools."""

    ask: bool = True
    """Ask a session once, when it stops after some work, to propose what later sessions should know."""
    name_runs: bool = True
    """Give the run of a session a title in the log: the first sentence of its first prompt."""


class Tui(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    theme: str = "auto"
    """Name of a theme. `auto`: light or dark, depending on the terminal."""
    ascii: bool = False
    """Draw marks with plain characters, for fonts without symbols."""
    preview: Literal["auto", "right", "bottom"] = "auto"
    """Position of the text: right of the list, below it, or right if there is room."""
    keys: dict[str, str] = {}
    """Other keys for actions, for example `undo = "z"`. docs/reference/keys.md lists the actions."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    trust: Trust = Trust()
    policy: Policy = Policy()
    write: Write = Write()
    gate: Gate = Gate()
    runs: Runs = Runs()
    context: Context = Context()
    inbox: Inbox = Inbox()
    expiry: Expiry = Expiry()
    tools: Tools = Tools()
    hooks: Hooks = Hooks()
    tui: Tui = Tui()
    kinds: dict[Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_-]{0,30}$")], KindRow] = {}


DEFAULTS = Settings()

LARGEST = 64 << 10
"""Bytes of a config.toml. Every shell prompt may have to read it."""
_LONGEST_SIGNER = 16384
# Principals, options, key type, key and comment. ssh-keygen parses the line itself. This pattern only checks
# the form, so that one line can't become two.
_SIGNER = re.compile(
    r'(?:"[^"\x00-\x1f\x7f]+"|[^\s"#-][^\s"]*) (?:[^\x00-\x1f\x7f]+ )?(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]+'
    r" [A-Za-z0-9+/]{16,}={0,2}(?: [^\x00-\x1f\x7f]*)?"
)


def load(path: Path, shown: str) -> Settings:
    """Return the settings of a plane. `shown` is the file's name in errors."""
    data = files.read_if(path, most=LARGEST + 1)
    return DEFAULTS if data is None else parse(data, shown)


def parse(data: bytes, shown: str) -> Settings:
    if len(data) > LARGEST:
        what = f"is larger than {LARGEST >> 10} KiB"
        raise BadInput(what, where=shown, todo="Shorten it. docs/reference/settings.md lists every key.")
    try:
        text = data.decode()
        table = limited.read(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(
            "The file isn't valid UTF-8.", where=f"{shown}:{line}", todo="Save it as UTF-8."
        ) from None
    except limited.TomlError as error:
        where = shown if error.line is None else f"{shown}:{error.line}"
        todo = "Fix this line. docs/reference/settings.md lists every key."
        raise BadInput(error.what, where=where, todo=todo) from None
    try:
        found = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise _value_error(str(error), table, text, shown) from None
    _check_signatures(found, text, shown)
    _check_receipts(found, text, shown)
    return found


def _check_signatures(found: Settings, text: str, shown: str) -> None:
    """Refuse invalid signers, and settings that contradict `require_signatures`.

    For example, approvals by a policy are never signed.
    """
    trust, keys, what, todo = found.trust, ("trust", "require_signatures"), "", ""
    for number, line in enumerate(trust.allowed_signers, 1):
        if len(line) > _LONGEST_SIGNER or not _SIGNER.fullmatch(line):
            where = f"{shown}:{line_of(('trust', 'allowed_signers'), text)}"
            what = f"`trust.allowed_signers`: line {number} isn't a valid signer"
            raise BadInput(what, where=where, todo='Write it as "ada@example.org ssh-ed25519 AAAA…".')
    if not trust.require_signatures:
        return
    if not trust.allowed_signers:
        what, todo = "no signers are allowed", "Add signers to `trust.allowed_signers`."
    elif trust.hand_edits == "accept":
        keys = ("trust", "hand_edits")
        what, todo = "accepted manual edits are never signed", 'Set `trust.hand_edits = "review"`.'
    elif found.policy.auto_approve_confidence is not None:
        keys = ("policy", "auto_approve_confidence")
        what, todo = "automatic approvals are never signed", "Remove this setting."
    if what:
        where = f"{shown}:{line_of(keys, text)}"
        raise BadInput(f"`trust.require_signatures` is on, and {what}", where=where, todo=todo)


def _check_receipts(found: Settings, text: str, shown: str) -> None:
    """Refuse settings that contradict `require_receipts`. Accepted manual edits are never asked for receipts."""
    if found.policy.require_receipts is not False and found.trust.hand_edits == "accept":
        where = f"{shown}:{line_of(('trust', 'hand_edits'), text)}"
        what = "`policy.require_receipts` is on, and accepted manual edits need none"
        raise BadInput(what, where=where, todo='Set `trust.hand_edits = "review"`.')


def _value_error(message: str, table: dict[str, Any], text: str, shown: str) -> BadInput:
    """Return an error with a line number. The library only names the place, such as `$.trust.hand_edits`."""
    what, _, place = message.partition(" - at `")
    place = place.rstrip("`")
    if place.startswith("key`"):
        what, place = f"Invalid kind name: {what[:1].lower()}{what[1:]}", f"$.kinds.{_bad_kind(table)}"
    elif place.startswith("$.tui.keys["):
        place = f"$.tui.keys.{_bad_key(table)}"
    elif "[...]" in place:
        place = place.replace("[...]", f".{_bad_kind(table)}")
    keys = [key for key in place.removeprefix("$").split(".") if key]
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
    todo = f"The settings are {', '.join(_names(Settings))}."
    if unknown:
        what = f"Unknown setting: `{one_line('.'.join([*keys, unknown[1]]), 80)}`"
        keys.append(unknown[1])
        near = difflib.get_close_matches(".".join(keys), _names(Settings), 1)
        todo = f"Did you mean `{near[0]}`?" if near else todo
    elif keys:
        what = f"`{'.'.join(keys)}`: {what[:1].lower()}{what[1:]}"
        allowed = _allowed(keys)
        todo = f"Use one of {allowed}." if allowed else "Use a value of that type, or remove the setting."
    return BadInput(what, where=f"{shown}:{line_of(keys, text)}", todo=todo)


def _bad_kind(table: dict[str, Any]) -> str:
    """Return the name of the first invalid kind, because the library doesn't name it."""
    for name, row in table["kinds"].items():
        try:
            msgspec.convert({"kinds": {name: row}}, Settings)
        except msgspec.ValidationError:
            return str(name)
    return ""


def _bad_key(table: dict[str, Any]) -> str:
    """Return the first action whose key is not a text."""
    return next(str(name) for name, key in table["tui"]["keys"].items() if not isinstance(key, str))


def _names(struct: type[msgspec.Struct], prefix: str = "") -> list[str]:
    """Return every key with its table, such as `trust.hand_edits`."""
    names: list[str] = []
    for field in msgspec.structs.fields(struct):
        inner = _table(field.type)
        names += _names(inner, f"{prefix}{field.name}.") if inner else [prefix + field.name]
    return names


def _table(kind: Any) -> type[msgspec.Struct] | None:
    return kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else None


def _allowed(keys: list[str]) -> str:
    """Return the allowed values of a key, or an empty text if the key isn't limited to a few."""
    kind: Any = Settings
    for key in keys:
        fields = {field.name: field.type for field in msgspec.structs.fields(kind)} if _table(kind) else {}
        kind = fields.get(key)
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    words = [f'"{value}"' for part in parts if get_origin(part) is Literal for value in get_args(part)]
    return " or ".join([*(["true", "false"] if bool in parts else []), *words]) if words else ""


def _parts(key: str) -> list[str]:
    return [part.strip().strip("\"'") for part in key.split(".")]


def line_of(keys: Sequence[str], text: str) -> int:
    """Return the line of the deepest of `keys` that is found.

    For dotted and inline tables, that is the outer key.
    """
    table: list[str] = []
    best, depth = 1, 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        name, is_pair, _ = stripped.partition("=")
        if stripped.startswith("[") and "]" in stripped:
            path = table = _parts(stripped.lstrip("[").partition("]")[0])
        elif is_pair and not stripped.startswith(("#", "=")):
            path = table + _parts(name)
        else:
            continue
        if len(path) > depth and path == list(keys[: len(path)]):
            best, depth = number, len(path)
    return best
