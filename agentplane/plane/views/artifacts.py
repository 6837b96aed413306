"""The content of artifacts.json, which lists the files that runs produced, by task.

Every version of a file stays in the list, so the list grows with the log. A run adds its rows to the existing
file. The whole log is read only if the file is missing or isn't the one that the ledger expects.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from agentplane.plane.ledger import event_graph, log_events
from agentplane.plane.ledger.ledger import Output
from agentplane.text.log import chain, event_line


_GENESIS = bytes(32)
_OUTPUTS = b'"outputs":[{'
_OPENS, _ENDS = b'": [', (b"]", b"],")


def outputs_of(line: bytes) -> tuple[str, list[Output]]:
    """Return the task of a run and the files that the run produced. A line that is not a run has no files."""
    run = log_events.RESULTS.read(line) if _OUTPUTS in line else None
    if run is None:
        return "", []
    return run.task or "", [Output(file.path, file.sha256, run.run_id) for file in run.files]


def gathered(lines: Sequence[bytes]) -> dict[str, list[Output]]:
    """Return every version by task, each with the first run that produced it, in the order that every clone has."""
    found: dict[str, dict[str, Output]] = {}
    for line in _in_order(lines):
        task, outputs = outputs_of(line)
        for output in outputs:
            found.setdefault(task, {}).setdefault(output.sha256, output)
    return {task: list(outputs.values()) for task, outputs in sorted(found.items())}


def _in_order(lines: Sequence[bytes]) -> Iterable[bytes]:
    return lines if _is_straight(lines) else event_graph.of(lines).lines


def _is_straight(lines: Iterable[bytes]) -> bool:
    """True if each line follows the one above it."""
    before, named = _GENESIS, b""
    for line in lines:
        if not (named and named in line and not event_line.is_merge(line)) and event_line.parents_of(
            line
        ) != (before,):
            return False
        head = chain.hash_of(line)
        before, named = bytes.fromhex(head), b'"hash_prev":"' + head.encode() + b'"'
    return True


def written(found: Mapping[str, Sequence[Output]]) -> bytes:
    """Return the value of `artifacts` without its opening brace. Each task and each row has its own line."""
    return _joined((_key(task), [line_of(row) for row in rows]) for task, rows in found.items())


def extended(old: bytes, lines: Iterable[bytes]) -> bytes | None:
    """Return the same text with rows for these lines of the log. None if `written` did not make the text."""
    sections = _sections(old)
    if sections is None:
        return None
    for line in lines:
        task, outputs = outputs_of(line)
        for output in outputs:
            listed = sections.setdefault(_key(task), [])
            mark = b'"sha256": ' + msgspec.json.encode(output.sha256)
            if not any(mark in known for known in listed):
                listed.append(line_of(output))
    return _joined(sorted(sections.items(), key=lambda section: _task(section[0])))


def line_of(value: object) -> bytes:
    """Return JSON on one line, with spaces after commas and colons, as most programs write it."""
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
    """Return the lines of each task, or None."""
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
    """Yield the lines between the braces."""
    body = text[1 : -len(b"\n}\n}\n")] if len(text) > len(b"\n}\n}\n") else b""
    return iter(body.split(b"\n") if body else ())
