"""The files of a plane in a commit or in the checkout.

The content can be arbitrary bytes.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO

import msgspec

from agentplane.errors import AgentplaneError, BadInput
from agentplane.findings import Instruction
from agentplane.lazy import cached_property
from agentplane.memory.view import Memory
from agentplane.plane import settings_read
from agentplane.plane.git import git
from agentplane.plane.git.git import ObjectId
from agentplane.plane.layout import ARTIFACTS, CONFIG, INBOX, LOG, SHELF_FOLDER, STATE, Layout
from agentplane.plane.ledger import summing
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.settings import DEFAULTS, Settings
from agentplane.plane.store import records
from agentplane.plane.store.pages import Page, known_headers
from agentplane.plane.store.records import Stored
from agentplane.plane.store.snapshot import Snapshot
from agentplane.plane.views.facts import Texts
from agentplane.text import files
from agentplane.text.json import canonical
from agentplane.text.log import chain, event_line
from agentplane.text.markdown import document
from agentplane.text.visible import one_line


VIEWS = (STATE, ARTIFACTS)
UNDO_OR_ASK_OWNER = Instruction(
    "Undo this change, or ask a project owner to merge the branch despite this finding."
)
"""The remedy for a changed setting that only a project owner can accept."""

_MIB = 1 << 20
_LARGEST = {".md": 32 * _MIB, ".toml": _MIB, ".json": 512 * _MIB, ".jsonl": 1024 * _MIB}
"""Size limits by file type. Larger files are not read, because no plane has them and they could exhaust
memory.
"""

_LINK = "this is a symbolic link, but agentplane requires real files and folders"
_NO_FOLDER = "this isn't a real folder, but agentplane requires real files and folders"
_FOLDERS = (SHELF_FOLDER, "ops")


class RecordLine(msgspec.Struct, frozen=True):
    """A line of an operation file, with its location."""

    file: str
    number: int
    line: bytes


class Side(msgspec.Struct, frozen=True, dict=True):
    """One of the two states that are compared. Reads lazily and changes nothing."""

    layout: Layout
    prefix: str
    """The plane's folder relative to the top of the repository, with a trailing slash."""
    files: Mapping[str, bytes]
    """The content of each file by its path inside the plane."""
    odd: Mapping[str, str] = {}
    """The files that could not be read, with the reason."""
    like: "Side | None" = None
    """The other side. Headers that both sides share are parsed once."""

    def where(self, file: str, line: int | None = None) -> str:
        """Return the path of a file relative to the top of the repository, for messages."""
        return shown(self.prefix + file, 400) + (f":{line}" if line else "")

    def where_setting(self, keys: Sequence[str]) -> str:
        """Return the path and line of a setting in config.toml, for messages."""
        data = self.files.get(CONFIG)
        line = None if data is None else settings_read.line_of(keys, data.decode(errors="replace"))
        return self.where(CONFIG, line)

    @cached_property
    def log(self) -> tuple[bytes, ...]:
        return tuple(BytesIO(self.files.get(LOG, b"")))

    @cached_property
    def report(self) -> chain.Report:
        return chain.verify_lines(self.log)

    @cached_property
    def lines(self) -> dict[bytes, int]:
        """The first line number of each line of the log."""
        return {line: number for number, line in reversed(tuple(enumerate(self.log, 1)))}

    @cached_property
    def records(self) -> tuple[RecordLine, ...]:
        """The lines of the operation files, oldest file first."""
        names = sorted(name for name in self.files if name.startswith("ops/"))
        return tuple(
            RecordLine(name, number, line)
            for name in names
            for number, line in enumerate(BytesIO(self.files[name]), 1)
        )

    @cached_property
    def rows(self) -> dict[str, RecordLine]:
        """The last record line of each operation."""
        found = ((row, records.head_of(row.line)) for row in self.records)
        named = ((records.op_in(head), row) for row, head in found if head)
        return {op: row for op, row in named if op}

    @cached_property
    def heads(self) -> dict[str, bytes]:
        """The heads of the records by their hash."""
        return records.heads_in(row.line for row in self.records if row.line.endswith(b"\n"))

    @cached_property
    def ledger(self) -> Ledger:
        return summing.summed((line for line in self.log if event_line.has_form(line)), self.heads)

    @cached_property
    def settings(self) -> Settings:
        """The settings, or the defaults if the file is invalid."""
        try:
            return self.read_settings()
        except AgentplaneError:
            return DEFAULTS

    def read_settings(self) -> Settings:
        data = self.files.get(CONFIG)
        return DEFAULTS if data is None else settings_read.parse(data, self.where(CONFIG))

    @cached_property
    def pages(self) -> dict[str, Page]:
        """The memory files, with the inbox last."""
        names = sorted((n for n in self.files if n.endswith(".md")), key=lambda n: (n == INBOX, n))
        return {name: self._page(name, self.files[name]) for name in names}

    def _page(self, name: str, data: bytes) -> Page:
        old = self.like.pages.get(name) if self.like else None
        if old and old.document.data == data:
            return old
        return Page(name, canonical.sha256(data), document.parse(data, known_headers(old)))

    @cached_property
    def texts(self) -> Texts:
        """The approved texts."""

        def load(op: str, digest: str) -> Stored | None:
            row = self.rows.get(op)
            if row is None or digest.encode() not in row.line:
                mark = records.op_mark(op)
                row = next((r for r in self.records if mark in r.line and digest.encode() in r.line), row)
            return records.readable(row.line) if row else None

        return Texts(self.pages, load)

    @cached_property
    def memory(self) -> Memory:
        return Memory(Snapshot(self.layout, self.settings, self.ledger, self.pages))


def shown(text: str, width: int) -> str:
    """Return text from a branch for a message. It is one line, escaped, and can't be a command for a CI
    log.
    """
    return one_line(text, width).replace("##[", "# #[")


def checked_out(layout: Layout, prefix: str) -> Side:
    found: dict[str, bytes] = {}
    odd: dict[str, str] = {}
    for name in _names_on_disk(layout, odd):
        path = layout.root / name
        try:
            mode = os.lstat(path)
        except OSError:
            continue
        complaint = _LINK if stat.S_ISLNK(mode.st_mode) else _too_large(name, mode.st_size)
        try:
            if complaint is None:
                found[name] = files.read(path)
        except AgentplaneError as error:
            complaint = error.what
        if complaint:
            odd[name] = complaint
    return Side(layout, prefix, found, odd)


def _names_on_disk(layout: Layout, odd: dict[str, str]) -> Iterator[str]:
    yield CONFIG
    for folder in _FOLDERS:
        path = layout.root / folder
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            odd[folder] = _NO_FOLDER
        elif path.is_dir():
            names = (f"{folder}/{name}" for name in sorted(os.listdir(path)))
            yield from (name for name in names if _belongs(name))


def at_commit(layout: Layout, prefix: str, commit: ObjectId) -> Side:
    """Return the plane under a prefix in a commit, or an empty one if the commit has no plane there."""
    tree = git.tree(layout.root, commit, prefix)
    if tree is None:
        raise _not_given(prefix, commit)
    blobs = {name: blob for name, blob in tree.items() if _belongs(name)}
    wanted = {n: b.oid for n, b in blobs.items() if b.is_file and not _too_large(n, b.size)}
    contents = git.contents(layout.root, sorted(set(wanted.values())))
    found = {name: contents[oid] for name, oid in wanted.items() if oid in contents}
    missing = sorted(wanted.keys() - found.keys())
    if missing:
        raise _not_given(prefix + missing[0], commit)
    odd = {name: _too_large(name, blobs[name].size) or _LINK for name in blobs.keys() - wanted.keys()}
    return Side(layout, prefix, found, odd | {name: _NO_FOLDER for name in _FOLDERS if name in tree})


def file_at(layout: Layout, commit: ObjectId, path: str) -> bytes | None:
    """Return a file of a commit by its path from the top of the repository, or None if it is not a regular
    file.
    """
    blob = (git.tree(layout.root, commit, path) or {}).get("")
    return git.contents(layout.root, [blob.oid]).get(blob.oid) if blob and blob.is_file else None


def _not_given(path: str, commit: str) -> BadInput:
    todo = (
        "Fetch the commit with its files: run `git fetch origin`, or `git fetch --refetch --no-filter origin` in a partial "
        "clone. In GitHub Actions, set `fetch-depth: 0` and don't set `filter`."
    )
    return BadInput(f"Git can't read {shown(path, 80)} at commit {commit[:12]}", todo=todo)


def moved_from(layout: Layout, prefix: str, commit: ObjectId) -> str | None:
    """Return the folder that the plane at `prefix` had in a commit, if that folder has no plane now."""
    top = git.top(layout.root)
    if top is None:
        return None
    for name in sorted(git.paths(layout.root, commit)):
        folder = name.removesuffix(LOG)
        if name.endswith(f"/{LOG}") and folder != prefix and not os.path.lexists(top / folder / LOG):
            return folder
    return None


def _belongs(name: str) -> bool:
    """True if the guard checks this file of the plane."""
    folder, _, base = name.rpartition("/")
    if folder == "ops":
        return name.endswith(".jsonl") and not files.is_temp(base)
    if folder == SHELF_FOLDER:
        return name in (LOG, *VIEWS) or (name.endswith(".md") and not files.is_temp(base))
    return name == CONFIG


def _too_large(name: str, size: int) -> str | None:
    limit = _LARGEST[os.path.splitext(name)[1]]
    return f"this file is larger than {limit // _MIB} MiB, so it was not read" if size > limit else None
