"""The files state.json and artifacts.json, with trusted facts and runs' output files for other programs.

The same history gives the same bytes. Under the key `agentplane`, `head` and `op` name the last event that
the files include. Recovery depends on them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain as joined
from pathlib import Path
from typing import Any

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.derived import cache
from agentplane.plane.layout import ARTIFACTS, STATE, Layout
from agentplane.plane.ledger import ledger_cache
from agentplane.plane.ledger.ledger import Ledger, Output
from agentplane.plane.store import records
from agentplane.plane.store.pages import Page
from agentplane.plane.views import artifacts as produced_files
from agentplane.plane.views import facts
from agentplane.plane.views.facts import Texts
from agentplane.text import files
from agentplane.text.log import chain


_HEAD_BYTES = 4096
_HEAD = b'"head": '
_VERSION = 0
"""The version of both formats."""
_encode = msgspec.json.encode


class Applied(msgspec.Struct, frozen=True):
    """The position up to which the files are written, from state.json."""

    head: str | None
    op: str | None
    size: int | None


def state(ledger: Ledger, texts: Texts) -> bytes:
    rows = (produced_files.line_of(fact) for fact in facts.of(ledger, texts))
    return b"".join((_top(ledger), *_listed(b"facts", rows), b"\n}\n"))


def _top(ledger: Ledger) -> bytes:
    """Return the part of state.json before the facts. A proposal or a run changes nothing else."""
    own = {"schema": "agentplane/state@2", **_position(ledger)}
    updated = _seconds(ledger.ops[-1].ts) if ledger.ops else None
    return _start([("version", _VERSION), ("last_updated", updated)], own)


def _position(ledger: Ledger) -> dict[str, Any]:
    """Return the last event that the files include."""
    return {
        "head": ledger.head,
        "op": ledger.last_op,
        "size": ledger.size,
        "revision": ledger.revision(),
    }


def artifacts(ledger: Ledger, lines: Sequence[bytes]) -> bytes:
    """Return artifacts.json. `lines` are the lines of the log."""
    return _artifacts_top(ledger) + produced_files.written(produced_files.gathered(lines))


def _artifacts_top(ledger: Ledger) -> bytes:
    count, last = ledger.produced
    own = {"schema": "agentplane/artifacts@2", "head": last or None, "runs": count}
    return _start([("version", _VERSION)], own) + b'"artifacts": {'


def produced(ledger: Ledger) -> Iterator[tuple[str, Output]]:
    """Yield the outputs of runs, sorted by task and path.

    If files of a task have the same bytes, yield the first.
    """
    for task, outputs in sorted(ledger.outputs.items()):
        seen: set[str] = set()
        for _, output in sorted(outputs.items()):
            if output.sha256 not in seen:
                seen.add(output.sha256)
                yield task, output


def refresh(
    layout: Layout, ledger: Ledger, found: Mapping[str, Page] | None = None, *, whole: bool = False
) -> None:
    """Write both views. state.json comes last, because it marks the others as written.

    `found` are the memory files, if the caller has read them. With `whole`, artifacts.json is compared with the log,
    because it may have been edited.
    """
    ledger_cache.keep(layout, ledger)
    cache.save(layout, records.SIZES, records.sizes(layout))
    _write_artifacts(layout, ledger, whole=whole)
    texts = facts.texts_in(layout, facts.pages_in(layout) if found is None else found)
    files.write_atomic(layout.file(STATE), state(ledger, texts), durable=False)


def follow(layout: Layout, before: Ledger, after: Ledger, *, same_shelf: bool = False) -> None:
    """Update both views after a run, which changes no facts.

    `same_shelf` means that the operation in between changed no facts either.
    """
    start = _top(before)
    same_shelf = same_shelf or before.last_op == after.last_op
    if not (same_shelf and before.revision() == after.revision() and _begins_with(layout.state, start)):
        refresh(layout, after)
        return
    ledger_cache.keep(layout, after)
    cache.save(layout, records.SIZES, records.sizes(layout))
    _extend_artifacts(layout, before, after)
    _move_on(layout, start, _top(after))


def _move_on(layout: Layout, old: bytes, new: bytes) -> None:
    """Replace the top of state.json. The facts are most of the file, so it is rewritten only if it has to move them.

    While the key `head` is overwritten, the file names no event. A reader then sees a change in progress, and
    recovery writes the file again.
    """
    path, place = layout.file(STATE), old.index(_HEAD) + 1
    if new.index(_HEAD) + 1 == place and files.overwrite_start(path, old, new, place):
        return
    files.write_atomic(path, joined((new,), files.pieces(layout.state, len(old))), durable=False)


def _write_artifacts(layout: Layout, ledger: Ledger, *, whole: bool) -> None:
    """Collect artifacts.json from the log, unless it already includes the last event with files."""
    start = _artifacts_top(ledger)
    if not whole and _begins_with(layout.artifacts, start):
        return
    made = artifacts(ledger, [line for _, line in chain.lines(layout.log)])
    if files.read_if(layout.artifacts) != made:
        files.write_atomic(layout.file(ARTIFACTS), made, durable=False)


def _extend_artifacts(layout: Layout, before: Ledger, after: Ledger) -> None:
    """Add the files that a run produced to artifacts.json."""
    if before.produced == after.produced:
        return
    start = _artifacts_top(before)
    old = files.read_if(layout.artifacts) or b""
    new = (line for _, line in chain.lines(layout.log, before.size))
    made = produced_files.extended(old[len(start) :], new) if old.startswith(start) else None
    if made is None or len(before.heads) > 1:
        _write_artifacts(layout, after, whole=True)
    else:
        files.write_atomic(layout.file(ARTIFACTS), _artifacts_top(after) + made, durable=False)


def _begins_with(path: Path, start: bytes) -> bool:
    try:
        return files.read(path, len(start)) == start
    except AgentplaneError:
        return False


def applied(layout: Layout) -> Applied:
    """Read the position from the first bytes only, so that the cost is the same for any plane."""
    try:
        with files.reading(layout.state) as file:
            start = file.read(_HEAD_BYTES)
    except AgentplaneError:
        return Applied(None, None, None)
    size = re.search(rb'^"size": (\d+),$', start, re.MULTILINE)
    return Applied(_value(start, b"head"), _value(start, b"op"), int(size[1]) if size else None)


def _value(start: bytes, key: bytes) -> str | None:
    found = re.search(rb'^"' + key + rb'": "([^"]*)",$', start, re.MULTILINE)
    return found[1].decode(errors="replace") if found else None


def _start(top: Iterable[tuple[str, Any]], own: Mapping[str, Any]) -> bytes:
    """Return the first keys of a view, one per line, followed by agentplane's own keys."""
    lines = b"".join(_pair(key, value) + b",\n" for key, value in top)
    return (
        b"{\n" + lines + b'"agentplane": {\n' + b",\n".join(_pair(*pair) for pair in own.items()) + b"\n},\n"
    )


def _pair(key: str, value: Any) -> bytes:
    return _encode(key) + b": " + _encode(value)


def _listed(name: bytes, rows: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a key with a list, one row per line, so that diffs are small."""
    yield b'"' + name + b'": ['
    separator = b"\n"
    for row in rows:
        yield separator + row
        separator = b",\n"
    yield b"\n]"


def _seconds(ts: str) -> str:
    """Return a time of the log without its milliseconds."""
    return re.sub(r"\.\d+", "", ts)
