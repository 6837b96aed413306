"""The context pack as the screens show it, with the pack for each tool and the reason for each entry.

It doesn't use Textual. Threads call it, because it ranks entries and reads files of the project.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.agents.model import Tool
from agentplane.api import Plane
from agentplane.context import active, pack
from agentplane.context.choose import Ask, Choice
from agentplane.context.pack import LEAST, Cut, Pack
from agentplane.context.sources import Sources
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.git import git
from agentplane.tools import connections, presence
from agentplane.tools.connections import Wiring
from agentplane.tools.memory_file import repeats, size_limit, sync
from agentplane.tools.memory_file.sync import Fit
from agentplane.tui.backend import tools_model
from agentplane.tui.backend.tools_model import Planned


MOST = 1_000_000
"""The largest budget in tokens. No tool accepts more."""
_MOST_PATHS = 50
_NOTE = (
    "These files are committed, so agentplane leaves out the last run and all candidates. "
    "Your next decision or the next `agentplane sync` replaces this context with the one for the whole project."
)


class StartPack(msgspec.Struct, frozen=True):
    """The context pack that agentplane's hook gives to a session of a tool when it starts."""

    pack: Pack
    size: int
    limit: int
    measure: str
    is_hooked: bool
    """True if the tool's settings contain the hook. If not, the hook would give this pack."""


class ToolPacks(msgspec.Struct, frozen=True):
    """One tool, and the context packs that it would get."""

    tool: Tool
    is_wired: bool
    """True if its file contains memory now."""
    file: Fit
    start: StartPack | None
    """The pack for the start of a session, or None if no hook can give one."""

    @property
    def packs(self) -> list[Pack]:
        return [*([self.file.pack] if self.file.pack else []), *([self.start.pack] if self.start else [])]

    @property
    def is_whole(self) -> bool:
        """True if no entry in scope is left out or shortened."""
        return self.file.pack is not None and all(_is_whole(made) for made in self.packs)


class Budget(msgspec.Struct, frozen=True):
    """The budget of a tool."""

    tokens: int
    label: str


class ContextView(msgspec.Struct, frozen=True):
    ask: Ask
    pack: Pack
    sources: Sources
    tools: tuple[ToolPacks, ...]
    budgets: tuple[Budget, ...]
    entries: dict[str, Entry]
    """All entries to choose from, by id."""
    forms: dict[str, str]
    """The form of each included entry, by id."""
    cuts: dict[str, Cut]
    """The reason for each entry that is left out, by id."""


def view(plane: Plane, memory: Memory, ask: Ask, today: date) -> ContextView:
    """Return the view for an ask, with the packs for each tool that is connected or was found."""
    sources = active.sources(memory, ask, today)
    made = pack.make(sources, ask)
    lasting = msgspec.structs.replace(ask, passing=False)
    lasting_sources = active.sources(memory, lasting, today)

    def within(budget: int, repeated: Mapping[str, str]) -> Pack:
        return pack.make(
            lasting_sources, msgspec.structs.replace(lasting, budget=budget), made.choice, repeated
        )

    packs = size_limit.Packs(within(ask.budget, {}), within)
    project_names = (plane.layout.project, plane.layout.root.name)
    connected = sync.wired(plane.layout.project, TOOLS)
    tools = _tools(plane.layout.project, connected)
    files = {name: fit for fit in sync.fits(*project_names, tools, packs) for name in fit.tools}
    wirings = {one.tool.name: one for one in connections.wirings(*project_names, tools, packs)}
    start_packs = _StartPacks(plane.layout.project, sources, ask.task, made.choice if not ask.paths else None)
    tool_packs = tuple(
        ToolPacks(tool, tool in connected, files[tool.name], start_packs.of(tool, wirings[tool.name]))
        for tool in tools
    )
    made = pack.make(sources, ask, made.choice, _in_every_file(tool_packs))
    return ContextView(
        ask,
        made,
        sources,
        tool_packs,
        tuple(_budgets(tool_packs)),
        entries={entry.id: entry for entry in (*made.choice.ordered, *made.choice.outside, *sources.expired)},
        forms={one.id: one.form for one in made.receipt.given},
        cuts={cut.id: cut for cut in made.receipt.cut},
    )


def _in_every_file(tool_packs: Sequence[ToolPacks]) -> dict[str, str]:
    """Return the entries that the files of every tool already state, each with the place in the first tool's file."""
    each = [one.file.repeated for one in tool_packs]
    return {id_: at for id_, at in each[0].items() if all(id_ in one for one in each)} if each else {}


class _StartPacks:
    """The context packs for session starts, without the entries that each tool reads in its own files."""

    def __init__(self, project: Path, sources: Sources, task: str | None, choice: Choice | None) -> None:
        self._project = project
        self._sources = sources
        self._task = task
        self._choice = choice
        self._made: dict[tuple[int, str, frozenset[str]], Pack] = {}

    def of(self, tool: Tool, wiring: Wiring) -> StartPack | None:
        if tool.dialect is None or not tool.dialect.start or tool.hooks is None:
            return None
        repeated = repeats.read(self._project, [tool]).of(self._sources.entries)
        key = (tool.budget, tool.measure, frozenset(repeated))
        if key not in self._made:
            # A hook knows the task, but no files.
            ask = Ask(self._task, budget=tool.budget, measure=tool.measure)
            self._made[key] = pack.make(self._sources, ask, self._choice, repeated)
            self._choice = self._made[key].choice
        made = self._made[key]
        size = pack.characters(made.text) if tool.measure == "characters" else made.receipt.tokens
        hooked = any(part.part == "hooks" and part.state in ("current", "old") for part in wiring.parts)
        return StartPack(made, size, tool.budget, tool.measure, hooked)


def _tools(project: Path, connected: Sequence[Tool]) -> list[Tool]:
    """Return the tools that are used here or installed, connected tools first.

    The result also has one tool for each connected file that none of these tools reads.
    """
    mine = [row.tool for row in presence.look(project) if row.in_project or row.installed]
    read = {tool.target.path for tool in mine}
    others = {tool.target.path: tool for tool in reversed(connected) if tool.target.path not in read}
    return sorted([*mine, *others.values()], key=lambda tool: tool not in connected)


def _budgets(tool_packs: Sequence[ToolPacks]) -> Iterator[Budget]:
    """Yield the budgets of the tools in tokens, smallest first. Only the first of several equal budgets is included."""
    budgets = [Budget(Ask().budget, "default")]
    for one in tool_packs:
        if one.start is not None:
            in_bytes = one.start.measure == "characters"
            size = pack.tokens_in(one.start.limit) if in_bytes else one.start.limit
            budgets.append(Budget(size, f"{one.tool.title} limit at the start of a session"))
        if one.file.limit and one.file.room > 0:
            budgets.append(Budget(pack.tokens_in(one.file.room), f"space left in {one.file.path}"))
    by_size: dict[int, Budget] = {}
    for budget in budgets:
        by_size.setdefault(budget.tokens, budget)
    yield from (by_size[size] for size in sorted(by_size) if LEAST <= size <= MOST)


def _is_whole(made: Pack) -> bool:
    receipt = made.receipt
    has_room = not any(cut.kind in pack.WITHOUT_ROOM for cut in receipt.cut)
    return has_room and all(one.form == "full" for one in receipt.given)


def planned(plane: Plane, ask: Ask) -> Planned:
    """Return the changes of writing the pack to context/active.md and to the files that already contain memory."""
    names = [tool.name for tool in sync.wired(plane.layout.project, TOOLS)]
    lasting = msgspec.structs.replace(ask, passing=False)
    return msgspec.structs.replace(tools_model.planned(plane, "sync", names, lasting), note=_NOTE)


def changed_here(project: Path) -> tuple[str, ...]:
    """Return the uncommitted files and the files that this branch changed. The result is empty if Git can't tell."""
    paths = dict.fromkeys([*git.uncommitted(project), *git.untracked(project), *_since_base(project)])
    return tuple(path for path in paths if not path.startswith(".agentplane/"))[:_MOST_PATHS]


def _since_base(project: Path) -> list[str]:
    """Return the files changed since this branch left its base, which is the first usual one that shares its history."""
    head = git.commit(project, "HEAD")
    if head is None:
        return []
    for _, base in git.usual_bases(project):
        if common := git.merge_bases(project, base, head):
            return git.changed_since(project, common[0])
    return []


# Typed values


def budget_of(text: str) -> int | str:
    """Return the typed number of tokens, or an error message."""
    plain = text.strip().lower().removesuffix("tokens").strip()
    for mark in (",", "_", " ", "’", "'"):
        plain = plain.replace(mark, "")
    times = 1000 if plain.endswith("k") else 1
    plain = plain.removesuffix("k")
    if not plain.isascii() or not plain.isdigit() or len(plain) > len(str(MOST)):
        return "Enter a number of tokens, for example 2400 or 4k."
    size = int(plain) * times
    return size if LEAST <= size <= MOST else f"Enter a number between {LEAST:,} and {MOST:,}."


def paths_of(text: str) -> tuple[str, ...] | str:
    """Return the typed paths and globs, or an error message. Commas separate them, or spaces if there is no comma."""
    parts = text.split(",") if "," in text else text.split()
    paths = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    return (
        paths
        if len(paths) <= _MOST_PATHS
        else f"Enter at most {_MOST_PATHS} paths. To cover more files, use a glob such as app/**."
    )
