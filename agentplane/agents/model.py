"""The types of the catalog.

Hooks load this module, so it imports nothing. msgspec, typing and dataclasses take too long to load.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Literal, dataclass_transform

    Form = Literal["block", "import", "rule"]
    Event = Literal[
        "session-start", "prompt", "tool", "failed", "permission", "denied", "compact", "stop", "session-end"
    ]
    Measure = Literal["tokens", "characters"]
    HookEntry = Callable[[str, str, dict[str, int]], dict[str, Any]]
    Server = Callable[[list[str]], dict[str, Any]]
    Say = Callable[[str], str]
else:

    def dataclass_transform(**_: object) -> "Callable[[type], type]":
        """Tell type checkers that the subclasses of a class have the constructor of a dataclass."""
        return lambda cls: cls


@dataclass_transform(frozen_default=True)
class Value:
    """An immutable value with named fields. A subclass declares its fields as a dataclass does."""

    _names: "ClassVar[tuple[str, ...]]" = ()

    def __init_subclass__(cls) -> None:
        cls._names = tuple(cls.__annotations__)

    def __init__(self, *values: "Any", **named: "Any") -> None:
        cls = type(self)
        given = dict(zip(cls._names, values, strict=False), **named)
        for name in cls._names:
            self.__dict__[name] = given.pop(name) if name in given else getattr(cls, name)
        if given or len(values) > len(cls._names):
            raise TypeError(f"{cls.__name__} has no field {', '.join(given) or len(values)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"


class Target(Value):
    """The file in which a tool finds the memory."""

    path: str
    form: "Form"
    """The form of the memory in the file.

    `block` is a managed block in a file that people write, `import` is a block with an import line, and
    `rule` is a file that belongs to agentplane.
    """
    header: str = ""
    """The first lines of a `rule` file."""


class Hooks(Value):
    """The settings file in which a tool finds its hooks, and their form."""

    path: str
    entry: "HookEntry"
    """Makes the entry of one event from a command, the tool's name of the event, and the timeout."""
    events: "tuple[tuple[Event, str], ...]"
    """agentplane's events with the tool's names for them. Events that the tool lacks are left out."""
    under: tuple[str, ...] = ("hooks",)
    """The keys above the entries. Without keys the entries are the whole file."""
    by_event: bool = True
    """Whether each event has its own list. Otherwise all entries are in one list."""
    timeout: int = 0
    """The timeout in the tool's own unit. 0 is the tool's default."""
    last_timeout: int = 0
    """The timeout of `session-end`, if the tool allows less for it."""
    version: int | str | None = None
    """The version that a new file has to state."""
    rival: str = ""
    """A file whose hooks the tool ignores as soon as this one exists."""


class Dialect(Value):
    """The answers to a tool's hooks. A form that couldn't be confirmed is missing, so the answer is empty."""

    start: "Say | None" = None
    """Makes the answer that gives a session its memory. None if the tool takes no context at the start."""
    question: "Say | None" = None
    """Makes the answer that asks something when the tool stops. None if the tool can't be asked."""
    empty: str = "{}"
    """The empty answer."""
    folder: str = ""
    """The variable that gives the tool's hooks the project's folder."""
    entry: str = ""
    """The variable that identifies the starter of the tool. Its value begins with `sdk` for a program."""


class Mcp(Value):
    """The settings file in which a tool finds its MCP servers, and their form."""

    paths: tuple[str, ...]
    """The possible files. The first existing file is used. If no file exists, the first one is created."""
    server: "Server"
    """Makes the entry of a server from its command line."""
    under: tuple[str, ...] = ("mcpServers",)
    toml: bool = False
    more: tuple[tuple[str, bool], ...] = ()
    """Further keys of the entry."""


class Limits(Value):
    """The limits of a tool's reading. 0 means that no limit is known."""

    context_characters: int = 0
    """Maximum size of a hook's answer."""
    context_tokens: int = 0
    file_bytes: int = 0
    """Maximum size of the whole file with the memory."""


class Rules(Value):
    """A folder of instruction files."""

    folder: str
    pattern: str = "*.md"


class Tool(Value):
    """The facts that agentplane knows about a coding tool."""

    name: str
    title: str
    target: Target

    programs: tuple[str, ...] = ()
    """The commands that start it."""
    variables: tuple[str, ...] = ()
    """The environment variables that it sets in the shells it starts."""
    clients: tuple[str, ...] = ()
    """The beginnings of its names as an MCP client, in lower case."""
    marks: tuple[str, ...] = ()
    """Paths in a project that show that the tool is used there."""
    homes: tuple[str, ...] = ()
    """Folders in the home folder that show that the tool is installed.

    The first folder contains its sessions and memories.
    """
    home_variable: str = ""
    """The environment variable that moves the first of these folders."""
    hint: str = ""
    """A setup step that a person has to do once, if files in the project aren't enough."""

    hooks: Hooks | None = None
    dialect: Dialect | None = None
    """None if the tool has no hooks that agentplane can answer."""
    mcp: tuple[Mcp, ...] = ()
    limits: Limits = Limits()

    reads: tuple[str, ...] = ()
    """Other instruction files and folders of the project that the tool reads on its own."""
    reloads: bool = False
    """Whether it reads its files again for each request, so that every session has the current memory."""
    instructions: tuple[str, ...] = ()
    """The instruction files that people write for this tool alone."""
    nested: str = ""
    """The instruction file that it also reads in subfolders."""
    rules: tuple[Rules, ...] = ()
    """The folders of instruction files for this tool."""

    resume: tuple[str, ...] = ()
    """The command that resumes a session. `{id}` is the session's id."""
    keeps: tuple[str, ...] = ()
    """The options that a resumed session keeps.

    `--yolo` has no value, `--model=` has one value, and `--add-dir=*` takes all values that follow.
    """
    scripted: tuple[str, ...] = ()
    """Words of a command line that mean that it works for a script or serves another program."""
    sessions: str = ""
    """The session files, as a glob below the home folder."""
    memories: str = ""
    """The title of the memories that the tool collects on its own. Empty if agentplane doesn't read any."""

    module: str = ""
    """The module in this package with the code that only this tool needs, a `PLUGIN`. See `plugin.py`."""

    @property
    def reads_alone(self) -> tuple[str, ...]:
        """The instruction files that it reads on its own."""
        return (self.target.path, *self.reads)

    @property
    def measure(self) -> "Measure":
        """The unit of its limit for the answer of a hook."""
        return "characters" if self.limits.context_characters else "tokens"

    @property
    def budget(self) -> int:
        """The size of the memory for a session.

        Without a known limit, it is slightly below the smallest known limit.
        """
        return self.limits.context_characters or self.limits.context_tokens or 2400
