"""Run events, each of which describes one execution of a tool in a line of the log."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import msgspec

from agentplane.errors import BadInput
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import log_events, run_lookup
from agentplane.plane.ledger.log_events import Kind
from agentplane.runs.activity import Activity
from agentplane.scan.secrets.mask import Masked
from agentplane.text.log import chain, times


if TYPE_CHECKING:
    from agentplane.plane.store.store import Store

RUN_ID = "AGENTPLANE_RUN_ID"
TASK = "AGENTPLANE_TASK"
"""Variable with the task in the environment of a command under `agentplane run`."""

PACKED = ".zst"
"""Extension of a packed file in a capsule."""


class CapsuleFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of a capsule, as the event describes it."""

    path: str
    sha256: str
    size: int
    full_size: int | None = None
    """Size of the original content, if it was longer or contained secrets."""
    full_sha256: str | None = None
    left_out: int = 0
    """Number of bytes that were cut out of the middle."""
    masked: tuple[Masked, ...] = ()
    """Secrets that were removed. Only the first ones are listed."""
    masked_more: int = 0

    @property
    def name(self) -> str:
        """The file name before packing."""
        return self.path.removesuffix(PACKED)


class RunEvent(msgspec.Struct, frozen=True):
    """A run, as its line of the log describes it."""

    run_id: str
    ts: str = ""
    parent_run_id: str | None = None
    task: str | None = None
    title: str | None = None
    activity: Activity | None = None
    """The action of agentplane itself, or None for the run of a tool or a command."""
    layer: str | None = None
    systemic_scale: float | None = None
    impact: str | None = None
    branch: str | None = None
    commit: str | None = None
    tool: str | None = None
    command: list[str] = []
    started: str | None = None
    seconds: float | None = None
    exit_status: int | None = None
    restarted: bool = False
    """True if it was ended so that another run could replace it. Its exit code is then no failure."""
    summary: str | None = None
    revision: str | None = None
    inputs: object = None
    told_outputs: list[dict[str, object]] | dict[str, object] = msgspec.field(
        name="outputs", default_factory=list
    )
    """Files that the run produced, or an object from the program that logged it."""
    derived_facts: list[object] = []
    next_actions: list[object] = []
    receipts: list[object] = []
    capsule: list[CapsuleFile] = []
    made_at: str | None = None
    tool_calls: msgspec.Raw = msgspec.Raw(b"[]")
    """The JSON of the calls. A session can have thousands of calls, and few readers need them."""
    kind: Literal["run"] = "run"

    @property
    def outputs(self) -> list[dict[str, object]]:
        """The files that the run produced. If the program logged an object instead, there are none."""
        return self.told_outputs if isinstance(self.told_outputs, list) else []

    def file(self, name: str) -> CapsuleFile | None:
        return next((kept for kept in self.capsule if kept.name == name), None)


RUN = Kind("run", RunEvent)


def oldest_first(layout: Layout) -> Iterator[tuple[bytes, RunEvent]]:
    """Yield the runs of the log, each with its line."""
    return log_events.iterate(log_events.oldest_first(layout.log), kind=RUN)


def newest_first(layout: Layout, mark: bytes = b"") -> Iterator[tuple[bytes, RunEvent]]:
    """Yield the runs whose lines contain `mark` in the order of their times, latest first."""
    return log_events.iterate(log_events.newest_first(layout.log), kind=RUN, mark=mark)


def is_run_id(text: str) -> bool:
    return run_lookup.is_run_id(text)


def new_run_id(store: "Store") -> str:
    return f"{store.clock():%Y%m%dT%H%M%SZ}-{store.token(6)}"


def seconds(started: str | None, ended: str | None) -> float | None:
    """Return the duration, or None if it is unknown or negative."""
    begin, end = times.seconds_of(started or ""), times.seconds_of(ended or "")
    return round(end - begin, 3) if begin is not None and end is not None and end >= begin else None


def is_logged(layout: Layout, run_id: str | None) -> bool:
    """True if the log has an event of this run."""
    return run_lookup.has_run(layout.log, run_id)


def line_of(layout: Layout, run_id: str) -> bytes | None:
    """Return the run's line of the log, or None."""
    return next((line for line, _ in _of(layout, run_id)), None)


def load(layout: Layout, run_id: str) -> RunEvent:
    for _, run in _of(layout, run_id):
        return run
    raise BadInput(f"Run not found: {run_id[:40]}.", todo="Run `agentplane timeline` to list runs.")


def _of(layout: Layout, run_id: str) -> Iterator[tuple[bytes, RunEvent]]:
    """Yield the events of a run, the last one first, because recent runs are requested most."""
    mark = f'"run_id":"{run_id}"'.encode()
    lines = chain.lines_backwards(layout.log)
    return (found for found in log_events.iterate(lines, kind=RUN, mark=mark) if found[1].run_id == run_id)
