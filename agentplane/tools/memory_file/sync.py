"""Sync of the memory with the files that tools read.

A file that several tools read is written once. Text outside of agentplane's block doesn't change. An edited
block is only overwritten after its new lines were proposed.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from agentplane.agents.catalog import TOOLS
from agentplane.agents.model import Target, Tool
from agentplane.context import active
from agentplane.context.pack import IN_FORCE, Pack, Receipt
from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.text import files
from agentplane.tools import foreign_file
from agentplane.tools.foreign_file import Change
from agentplane.tools.memory_file import block, edited_lines, size_limit
from agentplane.tools.memory_file.edited_lines import LineProposer, Written
from agentplane.tools.memory_file.size_limit import Packs
from agentplane.tools.settings_file import desired


State = Literal["current", "old", "absent", "edited", "blocked"]
"""The state of a file. `blocked` means that agentplane may not write it, for the reason in `why`."""


class Standing(msgspec.Struct, frozen=True):
    """A file that tools read, and the state of the memory in it."""

    path: str
    tools: tuple[str, ...]
    state: State
    revision: str | None = None
    """The memory revision in the file."""
    why: str = ""
    diff: tuple[str, ...] = ()
    """The edits inside the block."""
    added: tuple[Written, ...] = ()
    """Lines that somebody wrote into the block, or that are no longer in the memory."""
    cut: tuple[str, ...] = ()
    """Entries that don't fit."""
    short: tuple[str, ...] = ()
    """Entries of which only the statement fits."""
    repeated: dict[str, str] = msgspec.field(name="said", default_factory=dict)
    """Entries that the block leaves out because the file already says them, with their places."""


class Fit(msgspec.Struct, frozen=True):
    """The planned content of a file, with as much of a context pack as fits."""

    path: str
    tools: tuple[str, ...]
    pack: Pack | None
    """The context pack, or None if nothing fits, for the reason in `why`."""
    size: int
    """Size of the whole file after the write, in bytes."""
    limit: int
    """Number of bytes that tools read, or 0 if no limit is known."""
    room: int
    """Number of these bytes that are left for the memory."""
    imports: bool
    """Whether it gets a line that imports context/active.md."""
    why: str = ""

    @property
    def repeated(self) -> dict[str, str]:
        """The entries that its own text already says, with their places."""
        return {cut.id: cut.at for cut in self.pack.receipt.cut if cut.at} if self.pack else {}


def wired(project: Path, tools: Iterable[Tool]) -> list[Tool]:
    """Return the tools whose files have a managed block."""
    return [tool for tool in tools if _has_block(project, tool.target)]


def importing(project: Path, plane: str, tools: Iterable[Tool]) -> list[str]:
    """Return the files whose block imports context/active.md, which then has the memory."""
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
    """Return the files of these tools that agentplane may not write, with the reasons."""
    return {path: why for path in _by_file(project, tools) if (why := _trouble(project, path))}


def standings(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> list[Standing]:
    """Return the state of each file."""
    return [_standing(project, plane, path, users, packs) for path, users in _by_file(project, tools).items()]


def fits(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> list[Fit]:
    """Return how much of a context pack fits into each file. Nothing is written."""
    return [_fit(project, plane, path, users, packs) for path, users in _by_file(project, tools).items()]


def changes(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> list[Change]:
    """Return the changes for files that aren't current, including files with edited blocks."""
    found = []
    for path, users in _by_file(project, tools).items():
        if _standing(project, plane, path, users, packs).state not in ("current", "blocked"):
            data = files.read_if(foreign_file.real(project, path))
            found.append(Change(path, data, _wanted(project, data, plane, users, packs)))
    return found


def write(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> tuple[list[str], dict[str, str]]:
    """Write the files that aren't current. Return the written files, and the reason for each failure.

    Edited blocks are overwritten, so the caller must have proposed their lines.
    """
    return foreign_file.write_all(project, changes(project, plane, tools, packs))


class Synced(msgspec.Struct, frozen=True):
    written: tuple[str, ...]
    proposed: tuple[str, ...]
    """Candidates made from lines that somebody wrote into a block."""
    kept: dict[str, str]
    """Files that weren't changed, with the reasons."""
    blocked: dict[str, str] = {}
    """Files that agentplane may not write, with the reasons."""


def bring(project: Path, plane: str, tools: Sequence[Tool], packs: Packs, propose: LineProposer) -> Synced:  # fmt: skip
    """Write the memory into the files. Propose the lines that people wrote into a block first.

    Each proposal cites its file and line. If a proposal is refused, the file doesn't change.
    """
    foreign_file.clear_left_over(project, desired.written_paths())
    stands = standings(project, plane, tools, packs)
    # Lines in files that won't be overwritten aren't proposed.
    changing = [standing for standing in stands if standing.state != "blocked"]
    proposed, kept, free = _propose_edits(changing, tools, propose)
    written, failed = write(project, plane, free, packs)
    _write_receipts(project, plane, tools, packs)
    blocked = {one.path: one.why for one in stands if one.state == "blocked"}
    return Synced(tuple(written), proposed, {**kept, **failed}, blocked)


def take_out(project: Path, plane: str, tools: Sequence[Tool], packs: Packs, propose: LineProposer) -> Synced:  # fmt: skip
    """Remove agentplane's block from the files. As in `bring`, propose the lines that people wrote first."""
    foreign_file.clear_left_over(project, desired.written_paths())
    ours = wired(project, tools)
    proposed, kept, free = _propose_edits(standings(project, plane, ours, packs), ours, propose)
    written, failed = foreign_file.write_all(project, removals(project, free))
    active.write_receipts(project / plane, dict.fromkeys((tool.target.path for tool in free), None))
    return Synced(tuple(written), proposed, {**kept, **failed})


def _propose_edits(
    stands: Iterable[Standing], tools: Sequence[Tool], propose: LineProposer
) -> tuple[tuple[str, ...], dict[str, str], list[Tool]]:
    """Propose the lines of edited blocks.

    Return the candidates, the files that keep their blocks with the reasons, and the tools of all other
    files.
    """
    proposed: list[str] = []
    kept: dict[str, str] = {}
    held: set[str] = set()
    for standing in stands:
        try:
            proposed += filter(None, [propose(standing.path, line) for line in standing.added])
        except AgentplaneError as error:
            kept[standing.path] = f"has edits that can't be proposed: {error.what}"
            held.update(standing.tools)
    return tuple(proposed), kept, [tool for tool in tools if tool.name not in held]


class Holder(msgspec.Struct, frozen=True):
    """A file with memory, the tools that read it, and its revision."""

    path: str
    tools: tuple[str, ...]
    revision: str


def holders(layout: Layout) -> list[Holder]:
    """Return the files that have memory. Only these files are read."""
    found = []
    for path, users in _by_file(layout.project, TOOLS).items():
        held = _held(layout.project, layout.root.name, path, users)
        if held is not None:
            found.append(Holder(path, tuple(tool.name for tool in users), held))
    return found


def removals(project: Path, tools: Sequence[Tool]) -> list[Change]:
    """Return the changes that remove agentplane's text. Files made for it are removed."""
    found = []
    for path, users in _by_file(project, tools).items():
        if _trouble(project, path):
            continue
        data = files.read_if(foreign_file.real(project, path))
        if data is not None and block.find(data) is not None:
            found.append(Change(path, data, _without_header(data, path, users)))
    return found


def _by_file(project: Path, tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    """Return the tools that read each file. Links to the same file count as one file."""
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
    cut, short, repeated = packs.about(pack, _cuts)
    held = block.settled(data or b"")
    found = block.find(held)
    diff, added = edited_lines.of(held, found, _text(plane, users, pack)) if found else ((), ())
    if fitting is None:
        return Standing(path, names, "blocked", why=size_limit.full(users), diff=diff, added=added)
    if data is None or found is None:
        return Standing(path, names, "absent", cut=cut, short=short, repeated=repeated)
    if found.is_edited(held):
        why = "" if held == data else "has unresolved conflicts after a Git merge"
        return Standing(path, names, "edited", found.revision, why, diff, added, cut, short, repeated)
    current = data == _wanted(project, data, plane, users, packs)
    if _only_imports(users):
        current = current and active.holds(project / plane, pack)
    revision = _held(project, plane, path, users)
    return Standing(
        path, names, "current" if current else "old", revision, cut=cut, short=short, repeated=repeated
    )


def _fit(project: Path, plane: str, path: str, users: Sequence[Tool], packs: Packs) -> Fit:
    names, imports = tuple(tool.name for tool in users), _only_imports(users)
    why = _trouble(project, path)
    data = None if why else files.read_if(foreign_file.real(project, path))
    made = None if why else _pack(project, data, users, packs)
    limit, left = size_limit.limit(users), 0 if why else _left(data, users) or 0
    if made is None:
        return Fit(path, names, None, len(data or b""), limit, left, imports, why or size_limit.full(users))
    return Fit(path, names, made, len(_wanted(project, data, plane, users, packs)), limit, left, imports)


def _wanted(project: Path, data: bytes | None, plane: str, users: Sequence[Tool], packs: Packs) -> bytes:
    pack = _pack(project, data, users, packs) or packs.whole
    revision = "" if _only_imports(users) else pack.receipt.revision
    return block.put(data, _text(plane, users, pack), revision, header=_header(users[0].target))


def _pack(project: Path, data: bytes | None, users: Sequence[Tool], packs: Packs) -> Pack | None:
    """Return the context pack that fits next to the person's own text, or None if nothing fits.

    It leaves out entries that the text already says.
    """
    if _only_imports(users):
        return imported(project, packs, users)
    return packs.of(packs.repeated(project, users), _left(data, users))


def imported(project: Path, packs: Packs, more: Iterable[Tool] = ()) -> Pack:
    """Return the context pack for context/active.md. `more` are tools whose files are about to import it.

    It leaves out entries that every importing file already says, or imports with agentplane's block in
    another file.
    """
    tools = [tool for tool in TOOLS if tool.target.form == "import"]
    readers = list(dict.fromkeys([*wired(project, tools), *(tool for tool in more if tool in tools)]))
    each = [packs.given(project, tool) | packs.repeated(project, [tool]) for tool in readers]
    by_all = {id_: place for id_, place in each[0].items() if all(id_ in one for one in each)} if each else {}
    return packs.of(by_all) or packs.whole


def _left(data: bytes | None, users: Sequence[Tool]) -> int | None:
    """Return the bytes left next to other text, or None if there is no limit."""
    return size_limit.left(
        users, len(_header(users[0].target) if data is None else block.without(data) or b"")
    )


def _write_receipts(project: Path, plane: str, tools: Sequence[Tool], packs: Packs) -> None:
    """Write the receipts of files that get less than the whole context pack."""
    receipts: dict[str, Receipt | None] = {}
    for path, users in _by_file(project, tools).items():
        data = None if _trouble(project, path) else files.read_if(foreign_file.real(project, path))
        made = _pack(project, data, users, packs)
        receipts[path] = (
            made.receipt if data and made and made is not packs.whole and not _only_imports(users) else None
        )
    active.write_receipts(project / plane, receipts)


def _cuts(pack: Pack) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    """Return entries that don't fit, entries of which only the statement fits, and entries said elsewhere.

    The last ones come with the reasons.
    """
    receipt = pack.receipt
    short = tuple(given.id for given in receipt.given if given.form != "full")
    repeated = {cut.id: cut.why for cut in receipt.cut if cut.kind == "said"}
    return tuple(cut.id for cut in receipt.cut if cut.kind in IN_FORCE), short, repeated


def _header(target: Target) -> bytes:
    """Return the first lines of a rule file that belongs to agentplane.

    The file applies to all paths. Entries for fewer paths state their scope.
    """
    return target.header.encode()


def _text(plane: str, users: Sequence[Tool], pack: Pack) -> str:
    """Return the content of the block. It is an import line if every reader of the file follows imports."""
    if _only_imports(users):
        return f"{active.import_line(plane)}\n"
    return pack.text


def _only_imports(users: Sequence[Tool]) -> bool:
    """True if all readers follow imports.

    Then the block is the same for every revision, and the imported file has the memory.
    """
    return all(tool.target.form == "import" for tool in users)


def _held(project: Path, plane: str, path: str, users: Sequence[Tool]) -> str | None:
    """Return the revision that a file gives its readers, or None if it has no block."""
    try:
        data = files.read_if(foreign_file.real(project, path))
        found = None if data is None else block.find(data)
        if found is None:
            return None
        return (active.revision(project / plane) or "") if _only_imports(users) else found.revision
    except AgentplaneError:
        return None


def _without_header(data: bytes, path: str, tools: Iterable[Tool]) -> bytes | None:
    """Return the file without its block, or None if only the header that agentplane wrote is left."""
    rest = block.without(data)
    own = next((_header(tool.target) for tool in tools if tool.target.path == path), b"")
    found = block.find(data)
    if rest is not None and found and found.file == "new" and rest.strip() == own.strip():
        return None
    return rest


def _has_block(project: Path, target: Target) -> bool:
    try:
        data = files.read_if(foreign_file.real(project, target.path))
    except AgentplaneError:
        return False
    return data is not None and block.find(data) is not None


def _trouble(project: Path, path: str) -> str:
    """Return the reason agentplane may not write a file, or an empty string if it may."""
    found = foreign_file.trouble(project, path)
    if found:
        return found
    data = files.read_if(foreign_file.real(project, path))
    if data is not None and block.is_in_conflict(data):
        return (
            "has merge conflicts around agentplane's block. Run `agentplane reconcile`,"
            " then resolve the remaining conflicts"
        )
    torn = data is not None and block.is_torn(data)
    return (
        "contains an incomplete agentplane block. Remove the `<!-- agentplane:… -->` line of that block"
        if torn
        else ""
    )
