"""The traces of a task, a run or a path, which are runs, their derived facts, and the files they produced.

A query must be the exact name of a task, a run or a path. It is looked up in the log. Any other query finds
nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain as chained
from itertools import islice, zip_longest

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.memory.entry import Entry
from agentplane.plane.layout import LOG, Layout
from agentplane.plane.ledger import log_events
from agentplane.plane.ledger.ledger import Output
from agentplane.plane.ledger.run_lookup import is_run_id
from agentplane.retrieval.scan import Result, result_of
from agentplane.runs import events
from agentplane.runs.events import RunEvent
from agentplane.text import files
from agentplane.text.json import canonical
from agentplane.text.visible import one_line


RUN, ARTIFACT = "run", "artifact"
"""The kinds of results that aren't entries."""

_BLOCK = 1 << 18
_LONGEST = 400
_TEXT = 240
_FEW = 5


class Found(msgspec.Struct, frozen=True):
    """The results for a name, most recent first."""

    entries: tuple[Result, ...] = ()
    runs: tuple[Result, ...] = ()
    artifacts: tuple[Result, ...] = ()


def find(layout: Layout, query: str, limit: int, entries: Callable[[], Iterable[Entry]]) -> Found:
    """Look up a name. `entries` returns the entries that may be results."""
    name = query.strip()
    path = layout.in_project(name)
    if not name or len(name) > _LONGEST:
        return Found()
    runs = _runs(layout, name, path)
    ids = {run.run_id for run in runs}
    named = {str(fact) for run in runs for fact in run.derived_facts if isinstance(fact, str)}
    is_name = " " not in name
    about = [
        (entry, why)
        for entry in (entries() if is_name or runs else ())
        if (why := _why(entry, name, path if is_name else None, ids, named))
    ]
    return Found(
        tuple(result_of(entry, 1.0, why) for entry, why in about),
        tuple(_of_run(layout, run, name, path) for run in runs[:limit]),
        tuple(
            islice(
                _artifacts(runs, "" if any(name in (run.task, run.run_id) for run in runs) else path), limit
            )
        ),
    )


def joined(found: Found, by_words: Sequence[Result], limit: int, kind: str | None = None) -> list[Result]:
    """Return results of all kinds in turn, so that no kind crowds out another. `kind` keeps only one kind."""
    lanes: Sequence[Sequence[Result]] = (found.entries, found.runs, found.artifacts, by_words)
    rows: dict[tuple[str, ...], Result] = {}
    for result in chained.from_iterable(zip_longest(*lanes)):
        if result is not None and kind in (None, result.kind):
            version = result.text if result.kind == ARTIFACT else ""
            rows.setdefault((result.kind, result.id, version), result)
    return list(rows.values())[: max(limit, 0)]


def _why(entry: Entry, name: str, path: str | None, runs: set[str], named: set[str]) -> str | None:
    head = entry.head
    if name in (head.id, head.external_id):
        return "has this ID"
    if head.source in runs or head.external_id in named or head.id in named:
        return f"from run {head.source}" if head.source in runs else "named as a fact by the run"
    if path is not None and any(cited.partition("#")[0].split(":")[0] == path for cited in head.evidence):
        return f"cites {one_line(path, 100)} as evidence"
    return None


def _runs(layout: Layout, name: str, path: str) -> list[RunEvent]:
    """Return the runs of a task, the run with an id, or the runs that produced a path, last first."""
    marks = [_field("task", name)]
    marks += [_field("run_id", name)] if is_run_id(name) else []
    # Most queries are words. Leaving out one mark halves the time.
    marks += [_field("path", path)] if "/" in path or " " not in path else []
    found: list[RunEvent] = []
    for _, run in log_events.iterate(_lines_with(layout, marks), kind=events.RUN):
        # A forged line can have any text as its run id.
        if is_run_id(run.run_id) and (name in (run.task, run.run_id) or _made(run, path)):
            found.append(run)
    return found[::-1]


def _field(key: str, value: str) -> bytes:
    return b'"' + key.encode() + b'":' + msgspec.json.encode(value)


def _made(run: RunEvent, path: str) -> bool:
    return any(output.get("path") == path for output in run.outputs)


def _lines_with(layout: Layout, marks: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the log lines that contain a mark. Blocks without a mark aren't split into lines."""
    try:
        with files.reading(layout.log) as stream:
            rest = b""
            while block := stream.read(max(_BLOCK, len(rest))):
                whole, newline, rest = (rest + block).rpartition(b"\n")
                if newline and any(mark in whole for mark in marks):
                    yield from log_events.with_any(whole.split(b"\n"), marks)
    except AgentplaneError:
        return


def _of_run(layout: Layout, run: RunEvent, name: str, path: str) -> Result:
    why = (
        "the run with this ID"
        if run.run_id == name
        else "a run of this task"
        if run.task == name
        else f"produced {one_line(path, 100)}"
    )
    lines = _own_lines(run)
    return Result(
        id=run.run_id,
        kind=RUN,
        score=1.0,
        statement=lines[0],
        text="\n".join(lines),
        why=why,
        file=layout.shown(f"runs/{run.run_id}" if run.capsule else LOG),
        trusted=False,
    )


def _own_lines(run: RunEvent) -> list[str]:
    """Return the lines of a run's own text. It is unreviewed, so it is withheld if the gate flags it."""
    summary = run.summary or " ".join(run.command) or "A run"
    steps = [str(step) for step in run.next_actions]
    outputs = [str(output.get("path")) for output in run.outputs]
    texts = [summary, run.ts, run.task or "", run.tool or "", *steps, *outputs]
    if codes := _flagged(texts):
        return [f"Withheld: the text of this run was flagged ({codes})."]
    exit_status = "" if run.exit_status is None else f", exit status {run.exit_status}"
    lines = [
        one_line(summary, _TEXT),
        f"{one_line(run.ts, 40)} by {one_line(run.tool or 'unknown', 40)}{exit_status}",
    ]
    lines += [f"task: {one_line(run.task, _TEXT)}"] if run.task else []
    lines += [f"produced: {', '.join(one_line(one, 100) for one in outputs[:_FEW])}"] if outputs else []
    return [*lines, *(f"next: {one_line(step, _TEXT)}" for step in steps[:_FEW])]


def _artifacts(runs: Sequence[RunEvent], path: str) -> Iterator[Result]:
    """Yield the versions of files that runs produced, last first. `path` restricts them to one file."""
    seen: set[tuple[str, str]] = set()
    for run in runs:
        task = run.task or ""
        for output in run.outputs:
            made, sha256 = str(output.get("path")), output.get("sha256")
            counts = (
                isinstance(sha256, str) and canonical.is_sha256(sha256) and output.get("tracked") is not False
            )
            if counts and (not path or made == path) and (made, str(sha256)) not in seen:
                seen.add((made, str(sha256)))
                yield _of_artifact(Output(made, str(sha256), run.run_id), task)


def _of_artifact(one: Output, task: str) -> Result:
    why = f"produced by {one_line(one.run_id, 40)}"
    if codes := _flagged((one.path, task)):
        text = f"Withheld because the name of this file or its task was flagged ({codes})."
        return Result(one.sha256, ARTIFACT, 1.0, text, text, why, "", trusted=False)
    shown = one_line(one.path, _TEXT)
    of = f" for {one_line(task, _TEXT)}" if task else ""
    text = f"{shown} (SHA-256 {one.sha256}), {why}{of}"
    return Result(one.path, ARTIFACT, 1.0, shown, text, why, shown, trusted=False)


def _flagged(texts: Iterable[str]) -> str:
    """Return the codes of the flags of unreviewed texts, or an empty string if there are none."""
    from agentplane.review.gate import gate

    return ", ".join(dict.fromkeys(flag.code for flag in gate.suspicious("\n".join(texts))))
