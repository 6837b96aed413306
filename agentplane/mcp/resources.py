"""What can be read by address: the pack, entries that people approved, runs."""

import re
from collections.abc import Iterator
from itertools import islice

import msgspec

from agentplane.api import Plane
from agentplane.context.choose import Ask
from agentplane.errors import BadInput
from agentplane.mcp.texts import ENTRY, JSON, MARKDOWN, PACK, RUN, RUNS
from agentplane.memory.entry import Entry
from agentplane.memory.ids import match
from agentplane.runs import capsule, session, timeline
from agentplane.runs.events import is_run_id
from agentplane.text.visible import one_line, visible


PAGE = 100
_RUNS = 30
_ADDRESS = re.compile(r"agentplane://(pack|runs|entry|run)(?:/([\w-]{1,64}))?/?")


class Listed(msgspec.Struct, frozen=True):
    uri: str
    name: str
    about: str
    kind: str


class Content(msgspec.Struct, frozen=True):
    text: str
    kind: str


def listed(plane: Plane, start: int) -> tuple[list[Listed], int | None]:
    """A page of what can be read, and where the next one begins."""
    entries = in_force(plane)
    page = [
        Listed(ENTRY + entry.id, entry.id, one_line(entry.statement, 120), MARKDOWN)
        for entry in entries[start : start + PAGE]
    ]
    fixed = [
        Listed(PACK, "pack", "The approved memory, within a budget of tokens.", MARKDOWN),
        Listed(RUNS, "runs", "What the last runs did.", JSON),
    ]
    more = start + PAGE if start + PAGE < len(entries) else None
    return ([] if start else fixed) + page, more


def in_force(plane: Plane) -> list[Entry]:
    return [entry for entry in plane.memory_for_tools().approved() if entry.head.status == "accepted"]


def read(plane: Plane, uri: str) -> Content:
    """What stands at an address; nothing that waits for review does."""
    found = _ADDRESS.fullmatch(uri)
    name = found[2] if found else None
    if found and found[1] == "pack" and name is None:
        return Content(plane.pack(Ask()).text, MARKDOWN)
    if found and found[1] == "runs" and name is None:
        return Content(msgspec.json.encode(list(islice(_runs(plane), _RUNS))).decode(), JSON)
    if found and found[1] == "entry" and name:
        return Content(_entry(plane, name), MARKDOWN)
    if found and found[1] == "run" and name:
        return Content(_run(plane, name), MARKDOWN)
    raise BadInput(
        f"no resource {one_line(uri, 80)}",
        todo=f"there are {PACK}, {RUNS}, {ENTRY}ID and {RUN}ID.",
    )


def _runs(plane: Plane) -> Iterator[dict[str, object]]:
    """The last runs; what nobody knows of them is left out."""
    for row in timeline.rows(plane.layout):
        if row.kind in ("run", "open", "lost"):
            told = msgspec.structs.asdict(row)
            yield {name: value for name, value in told.items() if value not in (None, [])}


def _entry(plane: Plane, name: str) -> str:
    memory = plane.memory_for_tools()
    approved = {entry.id: entry for entry in memory.approved()}
    id_ = match(name, approved.keys() | set(memory.inbox_ids))
    entry = approved.get(id_)
    if entry is None:
        raise BadInput(f"{id_} waits for review", todo="what nobody approved is not served.")
    head = entry.head
    facts = {
        "kind": head.type,
        "status": head.status,
        "tags": ", ".join(head.tags),
        "scope": ", ".join(head.scope),
        "evidence": ", ".join(head.evidence),
        "supersedes": ", ".join(head.supersedes),
        "superseded by": ", ".join(head.superseded_by),
        "refines": ", ".join(head.refines),
        "source": head.source,
        "approved by": head.approved_by,
        "updated": head.updated,
    }
    lines = [f"- {name}: {one_line(value)}" for name, value in facts.items() if value]
    return "\n".join([f"# {entry.id}", "", visible(entry.body.strip()), "", *lines, ""])


def _run(plane: Plane, name: str) -> str:
    if not is_run_id(name):
        raise BadInput(f"no run {one_line(name, 40)}", todo=f"{RUNS} lists the runs.")
    opened = session.load(plane.layout, name)
    if opened is not None:
        return f"# Run {name}\n\nIt is open since {opened.started}.\n"
    run = capsule.load(plane.layout, name)
    summary = capsule.content(plane.layout, run, capsule.SUMMARY)
    if summary is not None:
        return visible(summary.decode(errors="replace"))
    steps = "".join(f"- next: {one_line(str(step), 300)}\n" for step in run.next_actions)
    return f"# Run {name}\n\n{visible(run.summary or 'It left no summary.')}\n\n{steps}"
