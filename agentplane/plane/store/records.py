"""Operation records, which list each operation's changes, one line each in ops/<year-month>.jsonl.

A line is `{"record":{…},"texts":{…}}`. The record contains only digests, and the operation's log event
contains the sha256 of the record's bytes. The texts are stored next to the record, under their digests. If a
text is pruned from a line, the line proves the same as before.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from agentplane.errors import Damaged
from agentplane.plane.derived.cache import CacheFile
from agentplane.plane.layout import Layout
from agentplane.text import files
from agentplane.text.json import canonical, decode
from agentplane.text.log import chain
from agentplane.text.markdown import document
from agentplane.text.markdown.draft import Gap


_SEAM = b',"texts":{'
OBSERVING = frozenset(
    {
        "approve", "supersede", "merge", "edit", "adopt", "renew", "merge-entries", "split-entry", "change-kind",
        "set-fields",
    }
)  # fmt: skip
"""The verbs whose operations record the state of evidence."""
PARTLY_OBSERVING = "set-fields"
"""The verb that records the state only of the pieces of evidence that it adds."""
SUCCEEDING = ("merge-entries", "split-entry", "change-kind")
"""The verbs with texts that take the place of earlier entries. They keep the recorded state of the evidence."""
SIZES = CacheFile("records")
"""Cache file with the result of `sizes` after the last operation."""

_TAIL_BYTES = 64 * 1024
# Keys of a record are sorted, and only the record itself has this key.
_OP = re.compile(rb'"op":"([^"]*)"')


_File = Annotated[str, msgspec.Meta(pattern=r"\Amemory/[^./][^/]*\.md\Z")]
"""A memory file. A record with any other path proves nothing, and agentplane never writes to that path."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """The change that an operation made to one id.

    `before` and `after` are digests of the approved text. `found` and `left` are digests of the text in the
    file. They differ from the approved digests if there was a manual edit. Accepting it approves the text in
    the file (found = left = after). Discarding it writes the approved text (before = left = after). None
    means that there is no such entry.
    """

    id: str
    file: _File
    before: str | None
    after: str | None
    found: str | None
    left: str | None
    gap: Gap | None = None
    """The position of the entry in the file, if it was inserted or removed."""
    was: str | None = None
    """The entry's previous id, if it got a new one."""


class Observation(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The state of one piece of evidence when a person approved or renewed its entry."""

    evidence: str
    """The evidence, as in the header."""
    content: str | None = None
    """Digest of the bytes that the evidence named. None if they couldn't be read."""
    meaning: str | None = None
    """Digest of the code without its comments and layout. None if agentplane can't parse the language."""
    lines: int = 0
    """The number of lines that the evidence named."""
    file: str | None = None
    """Digest of the whole file, if the evidence named a part of it."""
    problem: str | None = None
    """A code for the reason why there is no content, such as `missing`."""


class Dismissed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finding of the curator that a person put aside."""

    ids: list[str]
    """The entries that the finding is about."""
    until: str = ""
    """The day on which it is shown again. Without a day, it isn't shown again unless its proof changes."""


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    op: str
    ts: str
    verb: str
    actor: str
    channel: str
    program: str
    changes: list[Change]
    why: str | None = None
    """Digest of the given reason."""
    undoes: str | None = None
    """The operation that this one reverses."""
    prunes: list[str] = []
    """Digests of texts removed from all records, and hashes of run record files that contained them."""
    redacted: dict[str, str] = {}
    """Original hashes of those files, each with the hash of the file without the text."""
    settings: dict[str, str] = {}
    """In a `settings` operation, the trust settings that differ from their defaults from then on."""
    rejected: list[str] = []
    """The candidates that this approval rejects, because a person chose another one over them."""
    confirmed: list[str] = []
    """The codes of high-severity flags that a person confirmed, if the operation approves a text with such
    flags.
    """
    observed: dict[str, list[Observation]] = {}
    """The state of the evidence of each entry that the operation approved or renewed."""
    commit: str | None = None
    """The commit that was checked out when that evidence was observed."""
    dismissed: dict[str, Dismissed] = {}
    """The curator's findings that a person put aside, by their keys."""

    @property
    def ids(self) -> list[str]:
        """The ids that the operation is about, those with a changed text first."""
        about = (id_ for found in self.dismissed.values() for id_ in found.ids)
        changed = [change.id for change in self.changes]
        return changed + [id_ for id_ in dict.fromkeys((*self.observed, *about)) if id_ not in set(changed)]


class Stored(msgspec.Struct, frozen=True):
    """A record on disk, with the texts that were not pruned."""

    record: Record
    texts: dict[str, Any]
    sha256: str

    def text(self, digest: str | None) -> bytes | None:
        """Return the text of a digest.

        None without a digest or for a pruned text. Raise if the text was changed.
        """
        data = self.raw(digest)
        if data is not None and document.digest(data) != digest:
            raise Damaged(
                f"Stored text in operation {self.record.op} was changed.",
                where=f"ops/{self.record.op[:4]}-{self.record.op[4:6]}.jsonl",
                todo="Restore the file from Git.",
            )
        return data

    def raw(self, digest: str | None) -> bytes | None:
        """Return the bytes that are stored under a digest, even if they don't match it."""
        value = self.texts.get(digest) if digest else None
        if isinstance(value, dict):
            return base64.b64decode(value.get("base64", ""))
        return value.encode() if isinstance(value, str) else None

    @property
    def why(self) -> str | None:
        text = self.text(self.record.why)
        return None if text is None else text.decode(errors="replace")


_record = decode.Json(Record)
_texts = decode.Json(dict[str, Any])


def encode_text(data: bytes) -> Any:
    """Return a text as JSON, which is a string, or base64 if the text is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def line_of(record: Record, texts: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return the line to append, and the sha256 for the event."""
    head = canonical.dumps(msgspec.to_builtins(record))
    return _join(head, texts), canonical.sha256(head)


def _join(head: bytes, texts: Mapping[str, Any]) -> bytes:
    return b'{"record":' + head + b',"texts":' + canonical.dumps(dict(texts)) + b"}\n"


def _halves(line: bytes) -> tuple[bytes, bytes]:
    """Return the record and the texts of a line.

    Quotes in JSON strings are escaped, so the separator occurs once.
    """
    head, seam, rest = line.rstrip(b"\n").partition(_SEAM)
    if not seam or not head.startswith(b'{"record":') or not rest.endswith(b"}}"):
        raise ValueError("not an operation record")
    return head[len(b'{"record":') :], b"{" + rest[:-1]


def read_line(line: bytes) -> Stored:
    """Parse a line. Raise ValueError if it is not an operation record."""
    head, texts = _halves(line)
    return Stored(record=_record.decode(head), texts=_texts.decode(texts), sha256=canonical.sha256(head))


def readable(line: bytes) -> Stored | None:
    try:
        return read_line(line)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return None


def head_of(line: bytes) -> bytes | None:
    """Return the bytes of the record without the texts, or None if the line isn't an operation record."""
    try:
        return _halves(line)[0]
    except ValueError:
        return None


def read_head(head: bytes | None, op: str | None = None) -> Record | None:
    """Return the record with this head, or None if there is none, it can't be read, or it is of another operation."""
    try:
        record = None if head is None else _record.decode(head)
    except msgspec.MsgspecError:
        return None
    return record if record is not None and op in (None, record.op) else None


def without_texts(line: bytes, digests: frozenset[str]) -> bytes:
    """Return the line without these texts. Return the same bytes if it has none of them."""
    head, texts = _halves(line)
    held = _texts.decode(texts)
    if not any(held.get(digest) is not None for digest in digests):
        return line
    return _join(head, {key: None if key in digests else value for key, value in held.items()})


def month_file(layout: Layout, op: str) -> Path:
    """Return the file of an operation's record. Operation ids begin with their UTC time."""
    return layout.file(month_of(op))


def month_of(op: str) -> str:
    return f"ops/{op[:4]}-{op[4:6]}.jsonl"


def months(layout: Layout) -> list[Path]:
    """Return all operation files, oldest first."""
    files.plain_folder(layout.ops, layout.root)
    if not layout.ops.is_dir():
        return []
    return sorted(path for path in layout.ops.glob("*.jsonl") if not files.is_temp(path.name))


def op_mark(op: str) -> bytes:
    return b'"op":"' + op.encode() + b'"'


def find(layout: Layout, op: str, holding: str | None = None) -> bytes | None:
    """Return the line of an operation's record.

    The end of the file is read first, because recent operations are requested most. `holding` is a digest. If
    there is a second record with the operation's id, the digest selects the right one.
    """
    path = month_file(layout, op)
    mark, wanted = op_mark(op), (holding or "").encode()
    other = None
    for start in dict.fromkeys((max(0, _size(path) - _TAIL_BYTES), 0)):
        for line in _lines_from(path, start):
            if mark in line:
                if wanted in line:
                    return line
                other = other or line
    return other


def load(layout: Layout, op: str, holding: str | None = None) -> Stored:
    line = find(layout, op, holding)
    if line is None:
        raise Damaged(
            f"The record of operation {op} is missing.",
            where=layout.shown("ops"),
            todo="Run `agentplane doctor`. Git may still have the original file.",
            sees_doctor=True,
        )
    try:
        return read_line(line)
    except (ValueError, msgspec.MsgspecError):
        raise Damaged(
            f"The record of operation {op} can't be read.",
            where=layout.shown(f"ops/{month_file(layout, op).name}"),
            todo="Run `agentplane doctor`. Git may still have the original file.",
            sees_doctor=True,
        ) from None


def by_hash(layout: Layout) -> dict[str, bytes]:
    """Return the heads of all records by their hash. This reads all files once, for reads of the whole log."""
    return heads_in(each(layout))


def heads_in(lines: Iterable[bytes]) -> dict[str, bytes]:
    """Return the heads of the records in these lines by sha256.

    Each event finds its own record this way. A second record with the same operation id doesn't affect the
    first.
    """
    heads = (head_of(line) for line in lines)
    return {canonical.sha256(head): head for head in heads if head}


def op_in(head: bytes) -> str | None:
    """Return the operation of a record, without reading the rest of it."""
    found = _OP.search(head)
    return found[1].decode(errors="replace") if found else None


def each(layout: Layout) -> Iterator[bytes]:
    """Yield all record lines, oldest file first."""
    for path in months(layout):
        for _, line in chain.lines(path):
            yield line


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _lines_from(path: Path, start: int) -> list[bytes]:
    """Return the whole lines from `start`. Leave out a line that begins before `start`."""
    if not path.exists():
        return []
    lines = [line for _, line in chain.lines(path, start)]
    return lines[1:] if start else lines


def sizes(layout: Layout) -> bytes:
    """Return the names and sizes of all operation files.

    If they haven't changed since the last operation, no record dangles.
    """
    return "".join(f"{path.name} {_size(path)}\n" for path in months(layout)).encode()


def is_ended(path: Path) -> bool:
    """True if an operation file ends with a whole line. Only its last byte is read."""
    size = _size(path)
    if not size:
        return True
    with files.reading(path) as file:
        file.seek(size - 1)
        return file.read() == b"\n"


def last_op(layout: Layout) -> str | None:
    """Return the operation of the last line of the newest file, or None without files.

    Return an empty text if that line is torn or not a record.
    """
    paths = months(layout)
    if not paths:
        return None
    line = _last_line(max(paths, key=lambda path: (path.stat().st_mtime_ns, path.name)))
    if line is None:
        return None
    found = _OP.search(line) if line.startswith(b'{"record":') and line.endswith(b"}}\n") else None
    return found[1].decode(errors="replace") if found else ""


def _last_line(path: Path) -> bytes | None:
    size, chunk = _size(path), _TAIL_BYTES
    if not size:
        return None
    with files.reading(path) as file:
        while True:
            file.seek(max(0, size - chunk))
            data = file.read()
            cut = data.rfind(b"\n", 0, len(data) - 1)
            if cut >= 0 or chunk >= size:
                return data[cut + 1 :]
            chunk *= 8
