"""The table of settings and of environment variables, with their defaults, descriptions and pages of the docs.

The rows come from the types in settings.py. The settings screen and docs/reference/settings.md are made from
them.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import msgspec

from agentplane.errors import BadInput
from agentplane.plane import settings, settings_read
from agentplane.text.toml import limited
from agentplane.text.visible import one_line


class Setting(msgspec.Struct, frozen=True):
    """One key of the settings."""

    name: str
    """The key with its table, such as `tools.restart`."""
    type: Any
    default: Any
    """The value without a file. `msgspec.NODEFAULT` if the key is required."""
    what: str
    """One sentence, as Markdown."""
    more: str
    """The rest of the description, as Markdown, or empty."""
    page: str
    """The page of docs/ that explains it, with an anchor."""

    @property
    def table(self) -> str:
        return self.name.partition(".")[0]

    @property
    def key(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def is_personal(self) -> bool:
        """True if each person can set it in a file of their own."""
        return self.name in _PERSONAL

    @property
    def choices(self) -> tuple[bool | str, ...]:
        """All its values, or nothing if it isn't limited to a few."""
        return settings_read.choices(self.type)

    @property
    def is_table(self) -> bool:
        """True if its value has keys of its own. Only an editor can change it."""
        return isinstance(self.default, dict)

    @property
    def is_text(self) -> bool:
        return isinstance(self.default, str)


class Variable(msgspec.Struct, frozen=True):
    """One environment variable that agentplane reads. Only the shell can change it."""

    name: str
    what: str
    page: str = "reference/settings.md#environment-variables"


def rows(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[Setting]:
    """Yield the settings in a struct, and in the structs inside of it."""
    for field in msgspec.structs.fields(struct):
        name = f"{prefix}{field.name}"
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from rows(field.type, f"{name}.")
            continue
        says = next(note for note in get_args(field.type) if isinstance(note, msgspec.Meta) and note.extra)
        factory = field.default_factory
        default = field.default if factory is msgspec.NODEFAULT else factory()
        extra = says.extra or {}
        yield Setting(name, field.type, default, says.description or "", extra["more"], extra["page"])


SETTINGS = tuple(rows(settings.Settings))
_PERSONAL = frozenset(settings_read.names(settings.Personal))
_BY_NAME = {setting.name: setting for setting in SETTINGS}

_EXTENSIONS = "reference/extending.md"
VARIABLES = (
    Variable(
        "AGENTPLANE_PLANE",
        "Path to the `.agentplane` directory, like `--plane`. If not set, agentplane searches the current directory"
        " and its parents, up to the top of the repository.",
        "guides/first-steps.md#use-a-different-directory",
    ),
    Variable(
        "AGENTPLANE_TASK", "The task for runs and for the context, like `--task`.", "concepts/context.md"
    ),
    Variable(
        "AGENTPLANE_BACKGROUND",
        "With `0`, `status` and `inbox` don't check candidates in the background. The `CI` variable has the same effect.",
        "concepts/conflicts.md#many-new-candidates",
    ),
    Variable(
        "AGENTPLANE_CHECKS",
        "Names of the installed checks that `doctor` runs. If not set, `doctor` runs all installed checks. If empty, `doctor` runs none.",
        f"{_EXTENSIONS}#a-check",
    ),
    Variable(
        "AGENTPLANE_CURATOR_CHECKS",
        "Names of the installed checks that `curate` runs. If not set, `curate` runs all of them. If empty, it runs"
        " none.",
        f"{_EXTENSIONS}#a-check-of-the-curator",
    ),
    Variable(
        "AGENTPLANE_RETRIEVER",
        "Name of the installed retriever for `search`. If empty or not set, `search` uses the built-in retriever.",
        f"{_EXTENSIONS}#a-retriever",
    ),
    Variable(
        "AGENTPLANE_TRANSCRIPT_READERS",
        "Names of the tools for which agentplane uses an installed transcript reader.",
        f"{_EXTENSIONS}#a-transcript-reader",
    ),
    Variable(
        "AGENTPLANE_EMBEDDER",
        "Name of the installed embedder. If empty or not set, agentplane uses the built-in embedder.",
        f"{_EXTENSIONS}#an-embedder",
    ),
    Variable(
        "AGENTPLANE_VECTOR_STORE",
        "Name of the installed vector store. If empty or not set, agentplane uses the built-in vector store.",
        f"{_EXTENSIONS}#a-vector-store",
    ),
    Variable(
        "VISUAL",
        "The editor for `agentplane edit` and for `E` in the interface. If no editor is set, `E` opens the text in"
        " the interface itself.",
    ),
    Variable("EDITOR", "The editor to use if `VISUAL` is not set [default: `vi`]."),
    Variable(
        "NO_COLOR",
        "If set, output has no colors. Output to a pipe, or with `TERM=dumb`, never has colors.",
        "reference/screens.md#colors",
    ),
    Variable(
        "TEXTUAL_THEME",
        'The theme of the interface, if `tui.theme` is `"auto"`.',
        "reference/screens.md#colors",
    ),
)


def by_name(name: str) -> Setting:
    """Return a setting. Raise an error if no setting has this name."""
    try:
        return _BY_NAME[name]
    except KeyError:
        what = f"Unknown setting: `{one_line(name, 80)}`"
        raise BadInput(what, todo="Run `agentplane settings` to list the settings.") from None


def shown(value: Any) -> str:
    """Return a value as a settings file has it, in one line."""
    if value is None:
        return "not set"
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(key, ensure_ascii=False)} = {shown(one)}" for key, one in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, msgspec.Struct):
        return shown({key: one for key, one in msgspec.structs.asdict(value).items() if one is not None})
    return json.dumps(value, ensure_ascii=False)


def typed(setting: Setting, text: str) -> settings.Value:
    """Return the value that a person typed. It may be invalid, which a check of the file shows."""
    if setting.is_text:
        return text
    try:
        value: settings.Value = limited.read(f"value = {text}")["value"]
    except limited.TomlError:
        return text
    return value
