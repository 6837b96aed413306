"""Memory in the files that tools read: what each file should hold, how it stands, and writing it.

A file that several tools read is written once. All that is not ours in it stays as it is; a block that somebody edited
is not written over before what they wrote was proposed.
"""

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.agents.model import Target, Tool
from agentplane.context import active
from agentplane.context.pack import EXPIRED, IN_FORCE, LEFT_OUT, Pack, Receipt, marked_in, read_item
from agentplane.errors import AgentplaneError
from agentplane.text import files
from agentplane.tools import foreign_file
from agentplane.tools.foreign_file import Change
from agentplane.tools.memory_file import block
from agentplane.tools.memory_file import size_limit as room
from agentplane.tools.memory_file.size_limit import Packs
from agentplane.tools.settings_file import desired


State = Literal["current", "old", "absent", "edited", "blocked"]
"""`blocked`: the file is none that we may write, and `why` says so."""

_OURS = ("#", "<!-- agentplane:", LEFT_OUT, EXPIRED)
"""How lines begin that are no entry's: titles, which name a revision, markers, and what had no room."""


class Written(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line that somebody wrote into a block."""

    text: str
    id: str = ""
    """The entry that it stands with, as far as it looks so."""
    bare: str = ""
    """The text without that id, where it begins with it."""


Propose = Callable[[str, Written], str | None]
"""What becomes of such a line of a file: a candidate; None where a person decided about it before."""


class Standing(msgspec.Struct, frozen=True):
    """A file that tools read, and how the memory in it stands."""

    path: str
    tools: tuple[str, ...]
    state: State
    revision: str | None = None
    """That it holds now."""
    why: str = ""
    diff: tuple[str, ...] = ()
    """What was edited inside the block."""
    added: tuple[Written, ...] = ()
    """What somebody wrote into the block, or what is not in the memory any more."""
    cut: tuple[str, ...] = ()
    """Entries that there is no room for."""
    short: tuple[str, ...] = ()
    """Entries that there is room for their statement only."""
    said: dict[str, str] = {}
    """Entries that agentplane's block leaves out because the file already says them, and where."""


class Fit(msgspec.Struct, frozen=True):
    """A file with as much of a pack as it has room for, as it would be written."""

    path: str
    tools: tuple[str, ...]
    pack: Pack | None
    """None: nothing of it, and `why` says why."""
    size: int
    """Of the whole file then, in bytes."""
    limit: int
    """How far it is read; 0: as far as is known, wholly."""
    room: int
    """What of that is left for the memory."""
    imports: bool
    """It gets a line that points to context/active.md."""
    why: str = ""

    @property
    def said(self) -> dict[str, str]:
        """The entries that its own text says already, and where."""
        return {cut.id: cut.at for cut in self.pack.receipt.cut if cut.at} if self.pack else {}


def wired(project: Path, tools: Iterable[Tool]) -> list[Tool]:
    """Those whose files hold a block of ours."""
    return [tool for tool in tools if _has_block(project, tool.target)]


def importing(project: Path, plane: str, tools: Iterable[Tool]) -> list[str]:
    """The files with a block that points to context/active.md, which holds the memory then."""
    line = active.import_line(plane).encode()
    found = []
    for path in dict.fromkeys(tool.target.path for tool in tools if tool.target.form == "import"):
        with suppress(AgentplaneError):
            data = files.read_if(foreign_file.real(project, path)) or b""
            one = block.find(data)
            if one is not None and line in one.content(data).splitlines():
                found.append(path)
    return found


def blocked(project: Path, tools: Sequence[Tool]) -> dict[str, str]:
    """The files of these tools that we may not write, and why."""
    return {path: why for path in _by_file(project, tools) if (why := _trouble(project, path))}


def standings(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> list[Standing]:
    """How each file stands, one for each file."""
    return [_standing(project, plane, path, users, packs) for path, users in _by_file(project, tools).items()]


def fits(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> list[Fit]:
    """How a pack would fit into each file, one for each file. Writes nothing."""
    return [_fit(project, plane, path, users, packs) for path, users in _by_file(project, tools).items()]


def changes(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> list[Change]:
    """What is to be written where a file is not current; edited blocks too."""
    found = []
    for path, users in _by_file(project, tools).items():
        if _standing(project, plane, path, users, packs).state not in ("current", "blocked"):
            data = files.read_if(foreign_file.real(project, path))
            found.append(Change(path, data, _wanted(project, data, plane, users, packs)))
    return found


def write(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> tuple[list[str], dict[str, str]]:
    """Writes what is not current, edited blocks too: whoever calls has taken up what was edited. Says which files, and
    which could not be written, and why.
    """
    return foreign_file.write_all(project, changes(project, plane, tools, packs))


class Synced(msgspec.Struct, frozen=True):
    written: tuple[str, ...]
    proposed: tuple[str, ...]
    """Candidates that were made of lines which somebody had written into a block."""
    kept: dict[str, str]
    """Files that stay as they are, and why."""
    blocked: dict[str, str] = {}
    """Files that we may not write, and why."""


def bring(project: Path, plane: str, tools: Sequence[Tool], packs: Packs, propose: Propose) -> Synced:  # fmt: skip
    """Brings the memory into the files. What was written into a block by others is proposed first, file and line; where
    that is refused, the file stays as it is.
    """
    foreign_file.clear_left_over(project, desired.written_paths())
    stands = standings(project, plane, tools, packs)
    # What is not going to be written over is left where it stands.
    changing = [standing for standing in stands if standing.state != "blocked"]
    proposed, kept, free = _taken_up(changing, tools, propose)
    written, failed = write(project, plane, free, packs)
    _write_receipts(project, plane, tools, packs)
    blocked = {one.path: one.why for one in stands if one.state == "blocked"}
    return Synced(tuple(written), proposed, {**kept, **failed}, blocked)


def take_out(project: Path, plane: str, tools: Sequence[Tool], packs: Packs, propose: Propose) -> Synced:  # fmt: skip
    """Takes our part out of the files; what was written into a block by others is proposed first, as when it is brought."""
    foreign_file.clear_left_over(project, desired.written_paths())
    ours = wired(project, tools)
    proposed, kept, free = _taken_up(standings(project, plane, ours, packs), ours, propose)
    written, failed = foreign_file.write_all(project, removals(project, free))
    active.write_receipts(project / plane, dict.fromkeys((tool.target.path for tool in free), None))
    return Synced(tuple(written), proposed, {**kept, **failed})


def _taken_up(
    stands: Iterable[Standing], tools: Sequence[Tool], propose: Propose
) -> tuple[tuple[str, ...], dict[str, str], list[Tool]]:
    """The candidates that edited blocks became; the files that keep theirs, and why; the tools of all the others."""
    proposed: list[str] = []
    kept: dict[str, str] = {}
    held: set[str] = set()
    for standing in stands:
        try:
            proposed += filter(None, [propose(standing.path, line) for line in standing.added])
        except AgentplaneError as error:
            kept[standing.path] = error.what
            held.update(standing.tools)
    return tuple(proposed), kept, [tool for tool in tools if tool.name not in held]


class Holder(msgspec.Struct, frozen=True):
    """A file with memory in it, who reads it, and of which revision it is."""

    path: str
    tools: tuple[str, ...]
    revision: str


def holders(project: Path, plane: str, tools: Sequence[Tool]) -> list[Holder]:
    """The files that hold memory now. Reads no more than these files."""
    found = []
    for path, users in _by_file(project, tools).items():
        held = _held(project, plane, path, users)
        if held is not None:
            found.append(Holder(path, tuple(tool.name for tool in users), held))
    return found


def removals(project: Path, tools: Sequence[Tool]) -> list[Change]:
    """What is to be written so that nothing of ours is left in these files; those that were made for it go."""
    found = []
    for path, users in _by_file(project, tools).items():
        if _trouble(project, path):
            continue
        data = files.read_if(foreign_file.real(project, path))
        if data is not None and block.find(data) is not None:
            found.append(Change(path, data, _without_header(data, path, users)))
    return found


def _by_file(project: Path, tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    """The files by the tools that read them; links that lead to one file are one file."""
    found: dict[str, list[Tool]] = {}
    paths: dict[str, str] = {}
    for tool in tools:
        real = os.path.realpath(project / tool.target.path)
        path = paths.setdefault(real, tool.target.path)
        found.setdefault(path, []).append(tool)
    return found


def _standing(project: Path, plane: str, path: str, users: Sequence[Tool], packs: Packs) -> Standing:
    names = tuple(tool.name for tool in users)
    trouble = _trouble(project, path)
    if trouble:
        return Standing(path, names, "blocked", why=trouble)
    data = files.read_if(foreign_file.real(project, path))
    fitting = _pack(project, data, users, packs)
    pack = fitting or packs.whole
    cut, short, told = packs.about(pack, _cuts)
    held = block.settled(data or b"")
    found = block.find(held)
    diff, added = _edits(held, found, _text(plane, users, pack)) if found else ((), ())
    if fitting is None:
        return Standing(path, names, "blocked", why=room.full(users), diff=diff, added=added)
    if data is None or found is None:
        return Standing(path, names, "absent", cut=cut, short=short, said=told)
    if found.is_edited(held):
        why = "" if held == data else "git left it in conflict"
        return Standing(path, names, "edited", found.revision, why, diff, added, cut, short, told)
    current = data == _wanted(project, data, plane, users, packs)
    if _only_imports(users):
        current = current and active.holds(project / plane, pack)
    revision = _held(project, plane, path, users)
    return Standing(path, names, "current" if current else "old", revision, cut=cut, short=short, said=told)


def _fit(project: Path, plane: str, path: str, users: Sequence[Tool], packs: Packs) -> Fit:
    names, imports = tuple(tool.name for tool in users), _only_imports(users)
    why = _trouble(project, path)
    data = None if why else files.read_if(foreign_file.real(project, path))
    made = None if why else _pack(project, data, users, packs)
    limit, left = room.limit(users), 0 if why else _left(data, users) or 0
    if made is None:
        return Fit(path, names, None, len(data or b""), limit, left, imports, why or room.full(users))
    return Fit(path, names, made, len(_wanted(project, data, plane, users, packs)), limit, left, imports)


def _wanted(project: Path, data: bytes | None, plane: str, users: Sequence[Tool], packs: Packs) -> bytes:
    pack = _pack(project, data, users, packs) or packs.whole
    revision = "" if _only_imports(users) else pack.receipt.revision
    return block.put(data, _text(plane, users, pack), revision, header=_header(users[0].target))


def _pack(project: Path, data: bytes | None, users: Sequence[Tool], packs: Packs) -> Pack | None:
    """Return the pack that fits next to the person's own text, without entries that the text already says. None if
    nothing fits.
    """
    if _only_imports(users):
        return imported(project, packs, users)
    return packs.of(packs.said(project, users), _left(data, users))


def imported(project: Path, packs: Packs, more: Iterable[Tool] = ()) -> Pack:
    """Return the pack for context/active.md, without entries that all importing files already say, or import with
    agentplane's block in another file. `more` are tools whose files are about to import it.
    """
    tools = [tool for tool in TOOLS if tool.target.form == "import"]
    readers = list(dict.fromkeys([*wired(project, tools), *(tool for tool in more if tool in tools)]))
    each = [packs.given(project, tool) | packs.said(project, [tool]) for tool in readers]
    by_all = {id_: place for id_, place in each[0].items() if all(id_ in one for one in each)} if each else {}
    return packs.of(by_all) or packs.whole


def _left(data: bytes | None, users: Sequence[Tool]) -> int | None:
    """Return the bytes left next to other text, or None if there is no limit."""
    return room.left(users, len(_header(users[0].target) if data is None else block.without(data) or b""))


def _write_receipts(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> None:
    """Write the receipts of files that get less than the whole pack."""
    receipts: dict[str, Receipt | None] = {}
    for path, users in _by_file(project, tools).items():
        data = None if _trouble(project, path) else files.read_if(foreign_file.real(project, path))
        made = _pack(project, data, users, packs)
        receipts[path] = (
            made.receipt if data and made and made is not packs.whole and not _only_imports(users) else None
        )
    active.write_receipts(project / plane, receipts)


def _cuts(pack: Pack) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    """The entries that a pack has no room for, those of which it has the statement only, and those that are said already."""
    receipt = pack.receipt
    short = tuple(given.id for given in receipt.given if given.form != "full")
    told = {cut.id: cut.why for cut in receipt.cut if cut.kind == "said"}
    return tuple(cut.id for cut in receipt.cut if cut.kind in IN_FORCE), short, told


def _header(target: Target) -> bytes:
    """What a rule file of our own begins with; the memory in it is for all paths, and says itself where it is for fewer."""
    return target.header.encode()


def _text(plane: str, users: Sequence[Tool], pack: Pack) -> str:
    """What the block holds: the memory itself, unless every tool that reads this file follows imports."""
    if _only_imports(users):
        return f"{active.import_line(plane)}\n"
    return pack.text


def _only_imports(users: Sequence[Tool]) -> bool:
    """Then the block is the same for every revision, and the memory is where it points to."""
    return all(tool.target.form == "import" for tool in users)


def _held(project: Path, plane: str, path: str, users: Sequence[Tool]) -> str | None:
    """The revision that a file gives its readers; None where it holds nothing of ours."""
    try:
        data = files.read_if(foreign_file.real(project, path))
        found = None if data is None else block.find(data)
        if found is None:
            return None
        return (active.revision(project / plane) or "") if _only_imports(users) else found.revision
    except AgentplaneError:
        return None


def _without_header(data: bytes, path: str, tools: Iterable[Tool]) -> bytes | None:
    """The file without our part; None where nothing but the header is left that we wrote."""
    rest = block.without(data)
    own = next((_header(tool.target) for tool in tools if tool.target.path == path), b"")
    found = block.find(data)
    if rest is not None and found and found.file == "new" and rest.strip() == own.strip():
        return None
    return rest


def _edits(data: bytes, found: block.Block, wanted: str) -> tuple[tuple[str, ...], tuple[Written, ...]]:
    """What was edited, against what would be written; and the lines that only the file has. Nothing where none was."""
    if not found.is_edited(data):
        return (), ()
    now = found.content(data).decode(errors="replace").splitlines()
    made = wanted.splitlines()
    diff = tuple(difflib.unified_diff(made, now, "as written", "as it stands", lineterm="", n=1))
    return diff, tuple(_written(now, {line.strip() for line in made}))


def _written(now: Iterable[str], known: set[str]) -> Iterator[Written]:
    """The lines that are not known, each with the entry that it stands with."""
    id_ = ""
    for line in now:
        head = read_item(line)
        id_ = head.id if head else id_ if line.startswith("  ") else ""
        text, bare = line.strip().lstrip("-* ").strip(), head.statement if head else ""
        is_ours = text.startswith(_OURS) or marked_in(line.rstrip()) is not None
        if line.strip() not in known and text and not is_ours:
            yield Written(text, id_, bare)


def _has_block(project: Path, target: Target) -> bool:
    try:
        data = files.read_if(foreign_file.real(project, target.path))
    except AgentplaneError:
        return False
    return data is not None and block.find(data) is not None


def _trouble(project: Path, path: str) -> str:
    """Why a file is not ours to write; empty where it is."""
    found = foreign_file.trouble(project, path)
    if found:
        return found
    data = files.read_if(foreign_file.real(project, path))
    if data is not None and block.is_in_conflict(data):
        return "is in conflict around agentplane's block; run `agentplane settle`, then resolve what is left"
    torn = data is not None and block.is_torn(data)
    return "holds half a block of ours; take its marker line out" if torn else ""
