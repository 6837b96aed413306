"""The pack as the screens see it: what a tool would be given for one ask, how it fits each tool, and why each entry is in it.

Knows no Textual, and belongs in a thread: it ranks, and reads files of the project.
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
from agentplane.context.pack import LEAST, Cut, Pack, Sources
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.git import git
from agentplane.tools import connections
from agentplane.tools import presence as found
from agentplane.tools.connections import Wiring
from agentplane.tools.memory_file import repeats, size_limit, sync
from agentplane.tools.memory_file.sync import Fit
from agentplane.tui.backend import tools_model
from agentplane.tui.backend.tools_model import Planned


MOST = 1_000_000
"""Tokens; nothing takes more."""
_MOST_PATHS = 50
_BASES = ("origin/HEAD", "main", "master")
_NOTE = (
    "As files that git carries it comes without the last run and what waits. "
    "The next decision, or `agentplane sync`, writes the memory of the whole project again."
)


class Start(msgspec.Struct, frozen=True):
    """What a session of a tool is told by our hook when it starts."""

    pack: Pack
    size: int
    limit: int
    measure: str
    is_hooked: bool
    """Our hook is in its settings; where it is not, this is what it would be told."""


class Given(msgspec.Struct, frozen=True):
    """One tool, and what it would be given."""

    tool: Tool
    is_wired: bool
    """Its file holds memory now."""
    file: Fit
    start: Start | None
    """None: no hook can tell its sessions anything."""

    @property
    def packs(self) -> list[Pack]:
        return [*([self.file.pack] if self.file.pack else []), *([self.start.pack] if self.start else [])]

    @property
    def is_whole(self) -> bool:
        """Whether nothing in scope is left out or short."""
        return self.file.pack is not None and all(_is_whole(made) for made in self.packs)


class Step(msgspec.Struct, frozen=True):
    """A budget that a tool has."""

    tokens: int
    whose: str


class View(msgspec.Struct, frozen=True):
    ask: Ask
    pack: Pack
    sources: Sources
    given: tuple[Given, ...]
    steps: tuple[Step, ...]
    entries: dict[str, Entry]
    """What there was to choose from."""
    forms: dict[str, str]
    """Of those that are in it, how."""
    cuts: dict[str, Cut]
    """Of the others, why not."""


def view(plane: Plane, memory: Memory, ask: Ask, today: date) -> View:
    """What would be given for this ask, to each tool that is wired or was found."""
    sources = active.sources(memory, ask, today)
    made = pack.make(sources, ask)
    lasting = msgspec.structs.replace(ask, passing=False)
    kept = active.sources(memory, lasting, today)

    def within(budget: int, told: Mapping[str, str]) -> Pack:
        return pack.make(kept, msgspec.structs.replace(lasting, budget=budget), made.choice, told)

    packs = size_limit.Packs(within(ask.budget, {}), within)
    here = (plane.layout.project, plane.layout.root.name)
    holding = sync.wired(plane.layout.project, TOOLS)
    tools = _tools(plane.layout.project, holding)
    files = {name: fit for fit in sync.fits(*here, tools, packs) for name in fit.tools}
    wirings = {one.tool.name: one for one in connections.wirings(*here, tools, packs)}
    starts = _Starts(plane.layout.project, sources, ask.task, made.choice if not ask.paths else None)
    given = tuple(
        Given(tool, tool in holding, files[tool.name], starts.of(tool, wirings[tool.name])) for tool in tools
    )
    made = pack.make(sources, ask, made.choice, _said_by_all(given))
    return View(
        ask,
        made,
        sources,
        given,
        tuple(_steps(given)),
        entries={entry.id: entry for entry in (*made.choice.ordered, *made.choice.outside, *sources.expired)},
        forms={one.id: one.form for one in made.receipt.given},
        cuts={cut.id: cut for cut in made.receipt.cut},
    )


def _said_by_all(given: Sequence[Given]) -> dict[str, str]:
    """The entries that the own files of every tool say already, and where the first of them does."""
    each = [one.file.said for one in given]
    return {id_: at for id_, at in each[0].items() if all(id_ in one for one in each)} if each else {}


class _Starts:
    """Packs for the starts of sessions, without what each tool reads on its own."""

    def __init__(self, project: Path, sources: Sources, task: str | None, choice: Choice | None) -> None:
        self._project = project
        self._sources = sources
        self._task = task
        self._choice = choice
        self._made: dict[tuple[int, str, frozenset[str]], Pack] = {}

    def of(self, tool: Tool, wiring: Wiring) -> Start | None:
        if tool.dialect is None or not tool.dialect.start or tool.hooks is None:
            return None
        told = repeats.read(self._project, [tool]).of(self._sources.entries)
        key = (tool.budget, tool.measure, frozenset(told))
        if key not in self._made:
            # A hook knows the task, and no files.
            ask = Ask(self._task, budget=tool.budget, measure=tool.measure)
            self._made[key] = pack.make(self._sources, ask, self._choice, told)
            self._choice = self._made[key].choice
        made = self._made[key]
        size = pack.characters(made.text) if tool.measure == "characters" else made.receipt.tokens
        hooked = any(part.part == "hooks" and part.state in ("current", "old") for part in wiring.parts)
        return Start(made, size, tool.budget, tool.measure, hooked)


def _tools(project: Path, holding: Sequence[Tool]) -> list[Tool]:
    """Those that are used here or installed, the wired ones first; and one for each file that nobody here reads."""
    mine = [row.tool for row in found.look(project) if row.in_project or row.installed]
    read = {tool.target.path for tool in mine}
    others = {tool.target.path: tool for tool in reversed(holding) if tool.target.path not in read}
    return sorted([*mine, *others.values()], key=lambda tool: tool not in holding)


def _steps(given: Sequence[Given]) -> Iterator[Step]:
    """The budgets that there are, in tokens, the smallest first; of several with the same the first is named."""
    steps = [Step(Ask().budget, "the default")]
    for one in given:
        if one.start is not None:
            in_bytes = one.start.measure == "characters"
            size = one.start.limit * 2 // 7 if in_bytes else one.start.limit
            steps.append(Step(size, f"what {one.tool.title} takes at a start"))
        if one.file.limit and one.file.room > 0:
            steps.append(Step(one.file.room * 2 // 7, f"what {one.file.path} has room for"))
    kept: dict[int, Step] = {}
    for step in steps:
        kept.setdefault(step.tokens, step)
    yield from (kept[size] for size in sorted(kept) if LEAST <= size <= MOST)


def _is_whole(made: Pack) -> bool:
    receipt = made.receipt
    has_room = not any(cut.kind in pack.WITHOUT_ROOM for cut in receipt.cut)
    return has_room and all(one.form == "full" for one in receipt.given)


def planned(plane: Plane, ask: Ask) -> Planned:
    """What writing it would change: context/active.md, and the files that hold memory already."""
    names = [tool.name for tool in sync.wired(plane.layout.project, TOOLS)]
    lasting = msgspec.structs.replace(ask, passing=False)
    return msgspec.structs.replace(tools_model.planned(plane, "sync", names, lasting), note=_NOTE)


def changed_here(project: Path) -> tuple[str, ...]:
    """The files that this branch changed, and those that are not committed; none where git cannot tell."""
    paths = dict.fromkeys([*git.uncommitted(project), *git.untracked(project), *_since_base(project)])
    return tuple(path for path in paths if not path.startswith(".agentplane/"))[:_MOST_PATHS]


def _since_base(project: Path) -> list[str]:
    """What this branch changed since it left the first of the usual bases."""
    head = git.commit(project, "HEAD")
    for name in _BASES:
        base = git.commit(project, name)
        found = git.merge_bases(project, base, head) if base and head else []
        if found:
            return git.changed_since(project, found[0])
    return []


# What is typed


def budget_of(text: str) -> int | str:
    """A number of tokens, or what is wrong with it."""
    plain = text.strip().lower().removesuffix("tokens").strip()
    for mark in (",", "_", " ", "’", "'"):
        plain = plain.replace(mark, "")
    times = 1000 if plain.endswith("k") else 1
    plain = plain.removesuffix("k")
    if not plain.isascii() or not plain.isdigit() or len(plain) > len(str(MOST)):
        return "a number of tokens is wanted, as 2400 or 4k"
    size = int(plain) * times
    return size if LEAST <= size <= MOST else f"between {LEAST:,} and {MOST:,} tokens"


def paths_of(text: str) -> tuple[str, ...] | str:
    """Paths and globs with commas between them, or with spaces where there is no comma; or what is wrong with them."""
    parts = text.split(",") if "," in text else text.split()
    paths = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    return paths if len(paths) <= _MOST_PATHS else f"{_MOST_PATHS} paths at most; a glob as app/** says more"
