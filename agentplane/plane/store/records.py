"""Op records: what each op changed, a line each in ops/<year-month>.jsonl.

A line is `{"record":{…},"texts":{…}}`. The record holds digests only, and the log event of the op
holds the sha256 of the record's bytes; the texts stand beside it under their digests. So a text can
be pruned from a line and the line still proves what it proved before.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from agentplane.errors import Damaged
from agentplane.plane.layout import Layout
from agentplane.text import files
from agentplane.text.json import canonical, decode
from agentplane.text.log import chain
from agentplane.text.markdown import document
from agentplane.text.markdown.draft import Gap


_SEAM = b',"texts":{'
SIZES = "records"
"""What `sizes` was after the last op, in the cache."""

_TAIL_BYTES = 64 * 1024
# Keys of a record are sorted, and only the record itself has this one.
_OP = re.compile(rb'"op":"([^"]*)"')


_File = Annotated[str, msgspec.Meta(pattern=r"\Amemory/[^./][^/]*\.md\Z")]
"""A memory file. A record with any other path proves nothing, and nothing is ever written there for it."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an op did to one id.

    `before` and `after` are the digests of the approved text. `found` and `left` are those of what
    stood in the file; they differ from the former where a hand edit is involved: adopting approves
    what stands there (found = left = after), reverting writes what was approved (before = left = after).
    None means that there is no such entry.
    """

    id: str
    file: _File
    before: str | None
    after: str | None
    found: str | None
    left: str | None
    gap: Gap | None = None
    """Where it stood or stands now, if it was taken out or put in."""
    was: str | None = None
    """The id that it had before, if it got a new one."""


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    op: str
    ts: str
    verb: str
    actor: str
    channel: str
    program: str
    changes: list[Change]
    why: str | None = None
    """Digest of the reason that was given."""
    undoes: str | None = None
    """The op whose inverse this is."""
    prunes: list[str] = []
    """Digests whose texts were taken out of all records, and hashes of files of capsules that held them."""
    redacted: dict[str, str] = {}
    """What became of those files: the hash that was sealed, and that without the text."""
    settings: dict[str, str] = {}
    """Of an op of the verb `settings`: the trust settings from then on that are not at their default."""
    rejected: list[str] = []
    """The candidates that an approval rejects in the same op, because a person chose another one over them."""
    confirmed: list[str] = []
    """The codes of the flags of high severity that a person saw and confirmed, where the op approves such a text."""


class Stored(msgspec.Struct, frozen=True):
    """A record as it lies on disk, with the texts that were not pruned."""

    record: Record
    texts: dict[str, Any]
    sha256: str

    def text(self, digest: str | None) -> bytes | None:
        """The bytes under a digest; None for no digest, and for a pruned text. A text that was changed is no text."""
        data = self.raw(digest)
        if data is not None and document.digest(data) != digest:
            raise Damaged(
                f"a text of op {self.record.op} was changed",
                where=f"ops/{self.record.op[:4]}-{self.record.op[4:6]}.jsonl",
                todo="take the file back from git.",
            )
        return data

    def raw(self, digest: str | None) -> bytes | None:
        """What stands under a digest, whether it fits or not."""
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
    """A text as JSON: a string, or base64 where it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def line_of(record: Record, texts: Mapping[str, Any]) -> tuple[bytes, str]:
    """The line to append, and the sha256 that the event states."""
    head = canonical.dumps(msgspec.to_builtins(record))
    return _join(head, texts), canonical.sha256(head)


def _join(head: bytes, texts: Mapping[str, Any]) -> bytes:
    return b'{"record":' + head + b',"texts":' + canonical.dumps(dict(texts)) + b"}\n"


def _halves(line: bytes) -> tuple[bytes, bytes]:
    """Record and texts of a line. Quotes inside JSON strings are escaped, so the seam occurs once."""
    head, seam, rest = line.rstrip(b"\n").partition(_SEAM)
    if not seam or not head.startswith(b'{"record":') or not rest.endswith(b"}}"):
        raise ValueError("not an op record")
    return head[len(b'{"record":') :], b"{" + rest[:-1]


def read_line(line: bytes) -> Stored:
    """Raises ValueError for what is no op record."""
    head, texts = _halves(line)
    return Stored(record=_record.decode(head), texts=_texts.decode(texts), sha256=canonical.sha256(head))


def readable(line: bytes) -> Stored | None:
    try:
        return read_line(line)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return None


def head_of(line: bytes) -> bytes | None:
    """The bytes of the record itself, without the texts; None for what is no op record."""
    try:
        return _halves(line)[0]
    except ValueError:
        return None


def read_head(head: bytes) -> Record:
    return _record.decode(head)


def without_texts(line: bytes, digests: frozenset[str]) -> bytes:
    """The line with these texts taken out; the very same bytes if it holds none of them."""
    head, texts = _halves(line)
    held = _texts.decode(texts)
    if not any(held.get(digest) is not None for digest in digests):
        return line
    return _join(head, {key: None if key in digests else value for key, value in held.items()})


def month_file(layout: Layout, op: str) -> Path:
    """The file that an op's record is in: op ids begin with their UTC time."""
    return layout.file(month_of(op))


def month_of(op: str) -> str:
    return f"ops/{op[:4]}-{op[4:6]}.jsonl"


def months(layout: Layout) -> list[Path]:
    """All op files, oldest first."""
    files.plain_folder(layout.ops, layout.root)
    if not layout.ops.is_dir():
        return []
    return sorted(path for path in layout.ops.glob("*.jsonl") if not files.is_temp(path.name))


def op_mark(op: str) -> bytes:
    return b'"op":"' + op.encode() + b'"'


def find(layout: Layout, op: str, holding: str | None = None) -> bytes | None:
    """The line of an op's record. The end of its file is tried first: recent ops are asked for most.

    `holding`: a digest. Where somebody wrote a second record under the op's id, it says which one is meant.
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
            f"the record of op {op} is missing",
            where=layout.shown("ops"),
            todo="run `agentplane doctor`; git may still have the file.",
            sees_doctor=True,
        )
    try:
        return read_line(line)
    except (ValueError, msgspec.MsgspecError):
        raise Damaged(
            f"the record of op {op} cannot be read",
            where=layout.shown(f"ops/{month_file(layout, op).name}"),
            todo="run `agentplane doctor`; git may still have the file.",
            sees_doctor=True,
        ) from None


def by_hash(layout: Layout) -> dict[str, bytes]:
    """The heads of all records by their hash: one pass over the files, for when the whole log is read."""
    return heads_in(each(layout))


def heads_in(lines: Iterable[bytes]) -> dict[str, bytes]:
    """The heads of the records in these lines by their sha256, wherever the lines were read.

    So each event finds its own: a second record under the id of an op takes nothing from the first one.
    """
    heads = (head_of(line) for line in lines)
    return {canonical.sha256(head): head for head in heads if head}


def op_in(head: bytes) -> str | None:
    """The op of a record, without reading the rest of it."""
    found = _OP.search(head)
    return found[1].decode(errors="replace") if found else None


def each(layout: Layout) -> Iterator[bytes]:
    """All record lines, oldest file first."""
    for path in months(layout):
        for _, line in chain.lines(path):
            yield line


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _lines_from(path: Path, start: int) -> list[bytes]:
    """Whole lines from `start` on; a line that `start` cuts is left out."""
    if not path.exists():
        return []
    lines = [line for _, line in chain.lines(path, start)]
    return lines[1:] if start else lines


def sizes(layout: Layout) -> bytes:
    """Names and sizes of all op files. As long as they are what the last op left, no record can dangle."""
    return "".join(f"{path.name} {_size(path)}\n" for path in months(layout)).encode()


def is_ended(path: Path) -> bool:
    """True if an op file ends with a whole line. Only its last byte is read."""
    size = _size(path)
    if not size:
        return True
    with files.reading(path) as file:
        file.seek(size - 1)
        return file.read() == b"\n"


def last_op(layout: Layout) -> str | None:
    """The op of the last line of the file that was written last; empty where that line is torn or no record."""
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
