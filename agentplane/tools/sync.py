"""Memory in the files that tools read: what each file should hold, how it stands, and writing it.

A file that several tools read is written once. All that is not ours in it stays as it is; a block that somebody edited
is not written over before what they wrote was proposed.
"""

import difflib
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from agentplane.context import active
from agentplane.context.pack import Pack
from agentplane.errors import AgentplaneError
from agentplane.text import files
from agentplane.tools import block
from agentplane.tools.table import ACTIVE, Target, Tool


State = Literal["current", "old", "absent", "edited", "blocked"]
"""`blocked`: the file is none that we may write, and `why` says so."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


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
    added: tuple[str, ...] = ()
    """Lines that somebody wrote into the block."""


def wired(project: Path, tools: Iterable[Tool]) -> list[Tool]:
    """Those whose files hold a block of ours."""
    return [tool for tool in tools if _has_block(project, tool.target)]


def standings(project: Path, plane: str, tools: Sequence[Tool], pack: Pack) -> list[Standing]:
    """How each file stands, one for each file."""
    return [_standing(project, plane, path, users, pack) for path, users in _by_file(project, tools).items()]


def write(project: Path, plane: str, tools: Sequence[Tool], pack: Pack) -> list[str]:
    """Writes what is not current, edited blocks too: whoever calls has taken up what was edited. Says which files."""
    done = []
    for path, users in _by_file(project, tools).items():
        standing = _standing(project, plane, path, users, pack)
        if standing.state in ("current", "blocked"):
            continue
        target = _real(project, path)
        _make_folders(target.parent, project)
        files.write_atomic(target, _wanted(project, plane, path, users, pack))
        done.append(path)
    return done


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


def remove(project: Path, tools: Iterable[Tool]) -> list[str]:
    """Takes our part out of the files; those that were made for it go. Says which files."""
    done = []
    for path in dict.fromkeys(tool.target.path for tool in tools):
        if _trouble(project, path):
            continue
        target = _real(project, path)
        data = files.read_if(target)
        if data is None or block.find(data) is None:
            continue
        rest = _without_header(data, path, tools)
        if rest is None:
            files.remove(target)
        else:
            files.write_atomic(target, rest)
        done.append(path)
    return done


def _by_file(project: Path, tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    """The files by the tools that read them; links that lead to one file are one file."""
    found: dict[str, list[Tool]] = {}
    paths: dict[str, str] = {}
    for tool in tools:
        real = os.path.realpath(project / tool.target.path)
        path = paths.setdefault(real, tool.target.path)
        found.setdefault(path, []).append(tool)
    return found


def _standing(project: Path, plane: str, path: str, users: Sequence[Tool], pack: Pack) -> Standing:
    names = tuple(tool.name for tool in users)
    trouble = _trouble(project, path)
    if trouble:
        return Standing(path, names, "blocked", why=trouble)
    data = files.read_if(_real(project, path))
    found = None if data is None else block.find(data)
    if data is None or found is None:
        return Standing(path, names, "absent")
    if found.is_edited(data):
        diff, added = _edits(data, found, _text(plane, users, pack))
        return Standing(path, names, "edited", found.revision, diff=diff, added=added)
    current = data == _wanted(project, plane, path, users, pack)
    if _only_imports(users):
        current = current and files.read_if(project / plane / active.ACTIVE) == pack.text.encode()
    revision = _held(project, plane, path, users)
    return Standing(path, names, "current" if current else "old", revision)


def _wanted(project: Path, plane: str, path: str, users: Sequence[Tool], pack: Pack) -> bytes:
    data = files.read_if(_real(project, path))
    header = _header(users[0].target)
    revision = "" if _only_imports(users) else pack.receipt.revision
    return block.put(data, _text(plane, users, pack), revision, header=header)


def _header(target: Target) -> bytes:
    """What a rule file of our own begins with; the memory in it is for all paths, and says itself where it is for fewer."""
    return target.header.encode()


def _text(plane: str, users: Sequence[Tool], pack: Pack) -> str:
    """What the block holds: the memory itself, unless every tool that reads this file follows imports."""
    if _only_imports(users):
        return f"@{ACTIVE.replace('.agentplane', plane, 1)}\n"
    return pack.text


def _only_imports(users: Sequence[Tool]) -> bool:
    """Then the block is the same for every revision, and the memory is where it points to."""
    return all(tool.target.form == "import" for tool in users)


def _held(project: Path, plane: str, path: str, users: Sequence[Tool]) -> str | None:
    """The revision that a file gives its readers; None where it holds nothing of ours."""
    try:
        data = files.read_if(_real(project, path))
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


def _edits(data: bytes, found: block.Block, wanted: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What was edited, against what would be written; and the lines that only the file has."""
    now = found.content(data).decode(errors="replace").splitlines()
    made = wanted.splitlines()
    diff = tuple(difflib.unified_diff(made, now, "as written", "as it stands", lineterm="", n=1))
    known = {line.strip() for line in made}
    added = tuple(
        line.strip().lstrip("-* ").strip() for line in now if line.strip() and line.strip() not in known
    )
    return diff, tuple(line for line in added if line and not line.startswith("#"))


def _has_block(project: Path, target: Target) -> bool:
    try:
        data = files.read_if(_real(project, target.path))
    except AgentplaneError:
        return False
    return data is not None and block.find(data) is not None


def _trouble(project: Path, path: str) -> str:
    """Why a file is not ours to write; empty where it is."""
    real = _real(project, path)
    if not real.is_relative_to(os.path.realpath(project)):
        return "is a link to outside of the project"
    try:
        found = os.lstat(real)
    except OSError:
        return ""
    if not stat.S_ISREG(found.st_mode):
        return "is no plain file"
    if not found.st_mode & stat.S_IWUSR:
        return "is read-only"
    data = files.read(real)
    if data.startswith(_UTF16):
        return "is not UTF-8"
    return "holds half a block of ours; take its marker line out" if block.is_torn(data) else ""


def _real(project: Path, path: str) -> Path:
    return Path(os.path.realpath(project / path))


def _make_folders(folder: Path, project: Path) -> None:
    top = Path(os.path.realpath(project))
    for part in reversed([folder, *folder.parents]):
        if part.is_relative_to(top) and part != top:
            files.make_folder(part)
