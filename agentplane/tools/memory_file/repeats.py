"""The entries that a tool's instruction files already say, so that the tool doesn't get them twice.

A file says an entry if every line of the entry is a list item, a paragraph or a sentence of the file, outside
of agentplane's block. An import of such a file also gives the block in it, which counts for
`context/active.md`.

Lines are compared by their words. Case, emphasis, bullets, labels, line breaks and closing punctuation don't
count. Lines that their heading reverses, reports of progress, code, tables and quotes are ignored.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from agentplane.agents.model import Tool
from agentplane.context import pack_text
from agentplane.errors import AgentplaneError
from agentplane.memory.entry import Entry
from agentplane.text import files, front_matter
from agentplane.tools.harvest import project_files, statements
from agentplane.tools.memory_file import block


_LARGEST = 512 * 1024
_MOST_FILES = 100
_MOST_HOPS = 5
_SILENT = (
    "code", "table", "quote", "HTML", "negated by its heading", "outdated, according to its heading", "progress report",
)  # fmt: skip
_IMPORT = re.compile(r"(?<![\w`@./-])@((?:\.{0,2}/)?[\w./-]{1,300})")
_CODE = re.compile(r"`[^`\n]*`")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_STRUCK = re.compile(r"~~.*?~~")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+")
_LABEL = re.compile(
    r"(?i)^(?:decision|invariant|assumption|fact|rule|rationale|why|reason|important|note|critical|warning|tip|remember)\s*:\s+(?=\S)"
)
"""Words before a statement that add nothing to it. Other words do, for example in `Tests: use vitest`."""
_APOSTROPHES = str.maketrans("’ʼ", "''")
_ENDS = ".,;:!?\"'()[]“”‘’„…–—"
_OPENS = "\"'([“‘„¿¡–—"


class OwnLines(msgspec.Struct, frozen=True):
    """The lines that some files say."""

    places: Mapping[str, str]
    """The place of each line, such as `AGENTS.md:6`, by its words."""
    read: tuple[str, ...]
    """The files that were read, including missing ones."""
    scoped: Mapping[tuple[tuple[str, ...], str], str] = MappingProxyType({})
    """The place of each line of a rule for some paths, by the paths and the words.

    The rule only says entries that are for exactly these paths.
    """
    blocks: Mapping[str, str] = MappingProxyType({})
    """The text of the managed block in each imported file, by path."""

    def of(self, entries: Iterable[Entry]) -> dict[str, str]:
        """Return the entries that the files say, with their places."""
        if not (self.places or self.scoped):
            return {}
        return {entry.id: place for entry in entries if (place := self._place(entry))}

    def given(self, entries: Iterable[Entry]) -> dict[str, str]:
        """Return the entries in the blocks of imported files, with the file of each."""
        found = {}
        for entry in entries if self.blocks else ():
            place = next((path for path, text in self.blocks.items() if pack_text.says(text, entry)), None)
            if place is not None:
                found[entry.id] = place
        return found

    def _place(self, entry: Entry) -> str | None:
        scope = entry.head.scope

        def at(key: str) -> str | None:
            return self.places.get(key) or (self.scoped.get((scope, key)) if scope else None)

        found = [next(filter(None, map(at, keys)), None) for keys in _lines(entry)]
        return found[0] if found and all(found) else None


NOTHING = OwnLines({}, ())


def read(project: Path, tools: Sequence[Tool]) -> OwnLines:
    """Return the lines that every one of these tools reads from its own files."""
    reals = [{os.path.realpath(project / path) for path in tool.reads_alone} for tool in tools]
    paths = [
        path
        for path in tools[0].reads_alone
        if all(os.path.realpath(project / path) in real for real in reals)
    ]
    reader = _Reader(project, follows=all(tool.target.form == "import" for tool in tools))
    for path in paths:
        reader.read(path)
    return OwnLines(reader.places, tuple(reader.read_paths), reader.scoped, reader.blocks)


class _Reader:
    def __init__(self, project: Path, *, follows: bool) -> None:
        self.places: dict[str, str] = {}
        self.read_paths: dict[str, None] = {}
        self.scoped: dict[tuple[tuple[str, ...], str], str] = {}
        self.blocks: dict[str, str] = {}
        self._visited: set[str] = set()
        self._project = project
        self._real = os.path.realpath(project)
        self._follows = follows

    def read(self, path: str, hops: int = 0) -> None:
        """Read a file, or all rule files of a folder that are for every path."""
        if path in self.read_paths or len(self.read_paths) >= _MOST_FILES:
            return
        self.read_paths[path] = None
        full = os.path.join(self._project, path)
        if (real := os.path.realpath(full)) in self._visited:
            return
        self._visited.add(real)
        if os.path.isdir(full):
            names = sorted(name for name in os.listdir(full) if name.endswith((".md", ".mdc")))
            for name in names:
                self.read(f"{path}/{name}", hops)
            return
        text = self._text(full)
        if hops and (own := _block(text)):
            self.blocks[path] = own
        _, body, first = front_matter.split(project_files.bare(text)) if text else ({}, "", 1)
        if not body:
            return
        if project_files.is_for_some_paths(path, text):
            scope = project_files.scope_of(text)
            if scope and not hops:
                for key, place in _lines_in(path, body, first):
                    self.scoped.setdefault((scope, key), place)
            return
        for key, place in _lines_in(path, body, first):
            self.places.setdefault(key, place)
        if self._follows and hops < _MOST_HOPS:
            # Import lines are removed from the file's statements, so they are looked up in its full text.
            for name in _imports(project_files.bare(text, imports=True)):
                self._follow(os.path.dirname(path), name, hops + 1)

    def _follow(self, folder: str, name: str, hops: int) -> None:
        if name.startswith("/"):
            return
        for wanted in dict.fromkeys((name, name.rstrip("."))):
            path = os.path.normpath(os.path.join(folder, wanted))
            inside = not path.startswith("..") and not path.startswith(".agentplane/")
            if inside and os.path.isfile(os.path.join(self._project, path)):
                self.read(path, hops)
                return

    def _text(self, path: str) -> str:
        try:
            real = os.path.realpath(path)
            if not Path(real).is_relative_to(self._real) or os.path.getsize(real) > _LARGEST:
                return ""
            return files.read(real).decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
        except (OSError, AgentplaneError):
            return ""


def _lines_in(path: str, body: str, first: int) -> Iterator[tuple[str, str]]:
    """Yield the words of each line that a file says, with its place."""
    found = statements.read(body, first)
    pieces = [(line.text, line.line) for line in found.lines]
    pieces += [(line.why, line.line) for line in found.lines if line.why]
    pieces += [(piece.text, piece.line) for piece in found.skipped if piece.why not in _SILENT]
    for text, line in pieces:
        for sentence in (text, *statements.sentences(text)):
            for key in _keys(sentence):
                yield key, f"{path}:{line}"


def _block(text: str) -> str:
    """Return the text of the managed block in a file, or an empty string for an edited block.

    Edits in a block aren't approved.
    """
    data = text.encode()
    found = block.find(data)
    return "" if found is None or found.is_edited(data) else found.content(data).decode()


def _imports(text: str) -> Iterator[str]:
    fenceless = re.sub(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", "", text)
    yield from _IMPORT.findall(_CODE.sub("", fenceless))


def _lines(entry: Entry) -> Iterator[list[str]]:
    """Yield the significant lines of an entry, each as its words with and without a label."""
    statement = entry.statement
    yield list(dict.fromkeys((*_keys(statement), *_keys(f"{entry.label}: {statement}"))))
    body = entry.body.strip("\n")
    for line in body.partition("\n")[2].splitlines():
        keys = [key for key in _keys(line) if key]
        if keys:
            yield keys


def _keys(text: str) -> list[str]:
    """Return the words of a text, with and without the label before it."""
    bare = _plain(text)
    return [key for key in dict.fromkeys((_words(bare), _words(_LABEL.sub("", bare, count=1)))) if key]


def _plain(text: str) -> str:
    text = statements.plain(_BULLET.sub("", _STRUCK.sub("", " ".join(text.split()))))
    code: list[str] = []

    def keep(found: re.Match[str]) -> str:
        code.append(found[0].strip("`"))
        return f"\0{len(code) - 1}\0"

    text = _CODE.sub(keep, text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    return re.sub(r"\0(\d+)\0", lambda found: code[int(found[1])], text)


def _words(text: str) -> str:
    """Remove all characters that only separate words. Parts of words stay, as in `C++` and `--no-verify`."""
    words = (word.lstrip(_OPENS).rstrip(_ENDS) for word in text.casefold().translate(_APOSTROPHES).split())
    return " ".join(word for word in words if word.strip("-*_"))
