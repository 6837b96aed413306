"""What the instruction files of a tool say already, so that the tool isn't told the same again.

An entry is said where every line of it is a list item, a paragraph or a sentence of such a file, outside of our block.
Lines are compared by their words: case, emphasis, bullets, labels, line breaks and closing punctuation don't count.
A line that its heading takes back, reports of progress, code, tables and quotes say nothing.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.memory.entry import Entry
from agentplane.text import files
from agentplane.tools import harvest_files, harvest_front, harvest_lines
from agentplane.tools.table import Tool


_LARGEST = 512 * 1024
_MOST_FILES = 100
_MOST_HOPS = 5
_SILENT = (
    "code", "table", "quote", "says the opposite without its heading", "no longer holds, says its heading", "reports progress",
)  # fmt: skip
_IMPORT = re.compile(r"(?<![\w`@./-])@((?:\.{0,2}/)?[\w./-]{1,300})")
_CODE = re.compile(r"`[^`\n]*`")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_STRUCK = re.compile(r"~~.*?~~")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+")
_LABEL = re.compile(
    r"(?i)^(?:decision|invariant|assumption|fact|rule|rationale|why|reason|important|note|critical|warning|tip|remember)\s*:\s+(?=\S)"
)
"""Words before a statement that add nothing to it. Others do, as in `Tests: use vitest`."""
_APOSTROPHES = str.maketrans("’ʼ", "''")
_ENDS = ".,;:!?\"'()[]“”‘’„…–—"
_OPENS = "\"'([“‘„¿¡–—"
_ORIGIN = re.compile(
    r"(?:It stands in an instruction file|It is a decision record of the project|(?:Claude Code|Codex|Gemini CLI) remembered it"
    r"(?:, for all projects)?): \S+\.$"
)
"""What earlier versions wrote as the rationale of what they imported. It is no statement of anybody."""


class Said(msgspec.Struct, frozen=True):
    """What some files say."""

    places: Mapping[str, str]
    """Where each line stands, as `AGENTS.md:6`, by its words."""
    read: tuple[str, ...]
    """The files that were looked at, also those that aren't there."""

    def of(self, entries: Iterable[Entry]) -> dict[str, str]:
        """The entries that are said, and where."""
        if not self.places:
            return {}
        return {entry.id: place for entry in entries if (place := self._place(entry))}

    def _place(self, entry: Entry) -> str | None:
        found = [
            next((self.places[key] for key in keys if key in self.places), None) for keys in _lines(entry)
        ]
        return found[0] if found and all(found) else None


NOTHING = Said({}, ())


def read(project: Path, tools: Sequence[Tool]) -> Said:
    """What every one of these tools reads on its own, without us."""
    paths = [path for path in tools[0].reads_alone if all(path in tool.reads_alone for tool in tools)]
    reader = _Reader(project, follows=all(tool.target.form == "import" for tool in tools))
    for path in paths:
        reader.read(path)
    return Said(reader.places, tuple(reader.read_paths))


class _Reader:
    def __init__(self, project: Path, *, follows: bool) -> None:
        self.places: dict[str, str] = {}
        self.read_paths: dict[str, None] = {}
        self._project = project
        self._real = os.path.realpath(project)
        self._follows = follows

    def read(self, path: str, hops: int = 0) -> None:
        """A file, or all rule files of a folder that are for every path."""
        if path in self.read_paths or len(self.read_paths) >= _MOST_FILES:
            return
        self.read_paths[path] = None
        full = os.path.join(self._project, path)
        if os.path.isdir(full):
            names = sorted(name for name in os.listdir(full) if name.endswith((".md", ".mdc")))
            for name in names:
                self.read(f"{path}/{name}", hops)
            return
        text = self._text(full)
        _, body, first = harvest_front.split(harvest_files.bare(text)) if text else ({}, "", 1)
        if not body or harvest_files.is_for_some_paths(path, text):
            return
        self._take(path, body, first)
        if self._follows and hops < _MOST_HOPS:
            # Import lines are taken out of what the file says, so they are looked for in what it holds.
            for name in _imports(harvest_files.bare(text, imports=True)):
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

    def _take(self, path: str, body: str, first: int) -> None:
        found = harvest_lines.read(body, first)
        pieces = [(line.text, line.line) for line in found.lines]
        pieces += [(line.why, line.line) for line in found.lines if line.why]
        pieces += [(piece.text, piece.line) for piece in found.left if piece.why not in _SILENT]
        for text, line in pieces:
            for said in (text, *harvest_lines.sentences(text)):
                for key in _keys(said):
                    self.places.setdefault(key, f"{path}:{line}")


def _imports(text: str) -> Iterator[str]:
    fenceless = re.sub(r"(?ms)^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", "", text)
    yield from _IMPORT.findall(_CODE.sub("", fenceless))


def _lines(entry: Entry) -> Iterator[list[str]]:
    """The lines of an entry that say something, each as its words with and without a label."""
    statement = entry.statement
    yield list(dict.fromkeys((*_keys(statement), *_keys(f"{entry.label}: {statement}"))))
    body = entry.body.strip("\n")
    for line in body.partition("\n")[2].splitlines():
        keys = [key for key in _keys(line) if key]
        if keys and not _ORIGIN.search(line.strip()):
            yield keys


def _keys(text: str) -> list[str]:
    """The words of a text, and those without the label before it."""
    bare = _plain(text)
    return [key for key in dict.fromkeys((_words(bare), _words(_LABEL.sub("", bare, count=1)))) if key]


def _plain(text: str) -> str:
    text = harvest_lines.plain(_BULLET.sub("", _STRUCK.sub("", " ".join(text.split()))))
    code: list[str] = []

    def keep(found: re.Match[str]) -> str:
        code.append(found[0].strip("`"))
        return f"\0{len(code) - 1}\0"

    text = _CODE.sub(keep, text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    return re.sub(r"\0(\d+)\0", lambda found: code[int(found[1])], text)


def _words(text: str) -> str:
    """Without what only sets words apart; what is part of a word stays, as in `C++` and `--no-verify`."""
    words = (word.lstrip(_OPENS).rstrip(_ENDS) for word in text.casefold().translate(_APOSTROPHES).split())
    return " ".join(word for word in words if word.strip("-*_"))
