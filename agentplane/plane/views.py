"""state.json and artifacts.json: what is trusted and what runs produced, for programs that read files.

Made from the ledger alone, so the same history gives the same bytes. `head` and `op` say up to which
event the files of the plane are written; recovery goes by them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane import cache, records
from agentplane.plane import ledger as ledgers
from agentplane.plane.layout import INBOX, Layout
from agentplane.plane.ledger import Ledger, Output
from agentplane.text import files


_HEAD_BYTES = 4096
_encode = msgspec.json.Encoder(order="sorted").encode


class Applied(msgspec.Struct, frozen=True):
    """How far the files are written, by state.json."""

    head: str | None
    op: str | None
    size: int | None


def state(ledger: Ledger) -> bytes:
    rows = (
        {"id": id_, "file": mark.file, "sha256": mark.digest, "op": mark.op}
        for id_, mark in sorted(ledger.known.items())
        if mark.digest and mark.file != INBOX
    )
    return _with_rows(_top(ledger), "entries", rows)


def _top(ledger: Ledger) -> dict[str, Any]:
    return {
        "schema": "agentplane/state@1",
        "head": ledger.head,
        "op": ledger.last_op,
        "size": ledger.size,
        "revision": ledger.revision(),
    }


def artifacts(ledger: Ledger) -> bytes:
    rows = (
        {"task": task, "path": output.path, "sha256": output.sha256, "run": output.run}
        for task, output in produced(ledger)
    )
    return _with_rows({"schema": "agentplane/artifacts@1"}, "artifacts", rows)


def produced(ledger: Ledger) -> Iterator[tuple[str, Output]]:
    """What runs produced, by task and path; of a task's files with the same bytes the first one."""
    for task, outputs in sorted(ledger.outputs.items()):
        seen: set[str] = set()
        for _, output in sorted(outputs.items()):
            if output.sha256 not in seen:
                seen.add(output.sha256)
                yield task, output


def refresh(layout: Layout, ledger: Ledger) -> None:
    """Writes both views. state.json comes last: it says that all else is written."""
    ledgers.keep(layout, ledger)
    cache.save(layout, records.SIZES, records.sizes(layout))
    made = artifacts(ledger)
    if files.read_if(layout.artifacts) != made:
        files.write_atomic(layout.file("memory/artifacts.json"), made, durable=False)
    files.write_atomic(layout.file("memory/state.json"), state(ledger), durable=False)


def follow(layout: Layout, before: Ledger, after: Ledger, *, same_shelf: bool = False) -> None:
    """The same after a run, which changes nothing of the shelf: the rows of state.json stay as they are.

    `same_shelf`: so does the op that came in between.
    """
    start = _start(_top(before))
    old = files.read_if(layout.state) or b""
    if not (same_shelf or before.last_op == after.last_op) or not old.startswith(start):
        refresh(layout, after)
        return
    ledgers.keep(layout, after)
    cache.save(layout, records.SIZES, records.sizes(layout))
    if before.outputs != after.outputs:
        files.write_atomic(layout.file("memory/artifacts.json"), artifacts(after), durable=False)
    made = _start(_top(after)) + old[len(start) :]
    files.write_atomic(layout.file("memory/state.json"), made, durable=False)


def applied(layout: Layout) -> Applied:
    """Read from the first bytes only, so that it costs the same for any plane."""
    try:
        with files.reading(layout.state) as file:
            start = file.read(_HEAD_BYTES)
    except AgentplaneError:
        return Applied(None, None, None)
    size = re.search(rb'^"size":(\d+),$', start, re.MULTILINE)
    return Applied(_value(start, b"head"), _value(start, b"op"), int(size[1]) if size else None)


def _value(start: bytes, key: bytes) -> str | None:
    found = re.search(rb'^"' + key + rb'":"([^"]*)",$', start, re.MULTILINE)
    return found[1].decode(errors="replace") if found else None


def _with_rows(top: dict[str, Any], name: str, rows: Iterable[dict[str, Any]]) -> bytes:
    """JSON with a line for each key and each row: small diffs."""
    return b"".join(_lines(top, name, rows))


def _lines(top: dict[str, Any], name: str, rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    yield _start(top)
    yield _encode(name) + b":["
    separator = b"\n"
    for row in rows:
        yield separator + _encode(row)
        separator = b",\n"
    yield b"\n]\n}\n"


def _start(top: dict[str, Any]) -> bytes:
    return b"{\n" + b"".join(_encode(key) + b":" + _encode(value) + b",\n" for key, value in top.items())
