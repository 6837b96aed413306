"""What runs produced, by task: the content of artifacts.json.

Every version of a file stays listed, so the list grows with the log. It is gathered from the whole log only where the
file is missing or is not the one that the ledger expects; a run adds its rows to the file as it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from agentplane.plane import braid
from agentplane.text import chain, decoding, links


_GENESIS = bytes(32)
_OUTPUTS = b'"outputs":[{'
_OPENS, _ENDS = b'": [', (b"]", b"],")


class Row(msgspec.Struct, frozen=True, gc=False):
    """One version of a file, and the first run of its task that produced it."""

    path: str
    sha256: str
    run_id: str


class _Output(msgspec.Struct, frozen=True):
    path: str
    sha256: str = ""
    tracked: bool | None = None


class _Run(msgspec.Struct, frozen=True):
    kind: str
    run_id: str = ""
    task: str | None = None
    outputs: list[_Output] = []


_run = decoding.Json(_Run)


def rows_of(line: bytes) -> tuple[str, list[Row]]:
    """The task of a run, and the files that it produced; none for what is no run."""
    if _OUTPUTS not in line:
        return "", []
    try:
        run = _run.decode(line)
    except (RecursionError, msgspec.MsgspecError):
        return "", []
    counted = [one for one in run.outputs if one.sha256 and one.tracked is not False]
    return run.task or "", [Row(one.path, one.sha256, run.run_id) for one in counted if run.kind == "run"]


def gathered(lines: Sequence[bytes]) -> dict[str, list[Row]]:
    """All of it, by task, in the order that every clone has."""
    found: dict[str, dict[str, Row]] = {}
    for line in _in_order(lines):
        task, rows = rows_of(line)
        for row in rows:
            found.setdefault(task, {}).setdefault(row.sha256, row)
    return {task: list(rows.values()) for task, rows in sorted(found.items())}


def _in_order(lines: Sequence[bytes]) -> Iterable[bytes]:
    return lines if _is_straight(lines) else braid.of(lines).lines


def _is_straight(lines: Iterable[bytes]) -> bool:
    """True if each line follows the one above it."""
    before, named = _GENESIS, b""
    for line in lines:
        if not (named and named in line and not links.is_merge(line)) and links.parents_of(line) != (before,):
            return False
        head = chain.hash_of(line)
        before, named = bytes.fromhex(head), b'"hash_prev":"' + head.encode() + b'"'
    return True


def written(found: Mapping[str, Sequence[Row]]) -> bytes:
    """The value of `artifacts`, without the brace that opens it: a line for each task, and one for each row."""
    return _joined((_key(task), [line_of(row) for row in rows]) for task, rows in found.items())


def extended(old: bytes, lines: Iterable[bytes]) -> bytes | None:
    """The same with what these lines of the log add. None if the text is not one that `written` made."""
    sections = _sections(old)
    if sections is None:
        return None
    for line in lines:
        task, rows = rows_of(line)
        for row in rows:
            listed = sections.setdefault(_key(task), [])
            mark = b'"sha256": ' + msgspec.json.encode(row.sha256)
            if not any(mark in known for known in listed):
                listed.append(line_of(row))
    return _joined(sorted(sections.items(), key=lambda section: _task(section[0])))


def line_of(value: object) -> bytes:
    """JSON on one line, with spaces after commas and colons, as most programs write it."""
    return msgspec.json.format(msgspec.json.encode(value), indent=0)


def _key(task: str) -> bytes:
    return msgspec.json.encode(task)


def _task(key: bytes) -> str:
    return msgspec.json.decode(key, type=str)


def _joined(sections: Iterable[tuple[bytes, Sequence[bytes]]]) -> bytes:
    return b",".join(map(_section, sections)) + b"\n}\n}\n"


def _section(section: tuple[bytes, Sequence[bytes]]) -> bytes:
    key, rows = section
    return b"\n" + key + b": [\n" + b",\n".join(rows) + b"\n]"


def _sections(text: bytes) -> dict[bytes, list[bytes]] | None:
    """The lines of each task."""
    found: dict[bytes, list[bytes]] = {}
    if not text.startswith(b"\n") or not text.endswith(b"\n}\n}\n"):
        return None
    rows: list[bytes] | None = None
    for line in _between(text):
        if rows is None and line.startswith(b'"') and line.endswith(_OPENS):
            rows = found[line[: -len(b": [")]] = []
        elif rows is not None and line in _ENDS:
            rows = None
        elif rows is not None and line.startswith(b"{"):
            rows.append(line.removesuffix(b","))
        else:
            return None
    return found


def _between(text: bytes) -> Iterator[bytes]:
    """The lines between the braces."""
    body = text[1 : -len(b"\n}\n}\n")] if len(text) > len(b"\n}\n}\n") else b""
    return iter(body.split(b"\n") if body else ())
