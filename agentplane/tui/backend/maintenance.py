"""The palette's commands that take a while, and their results as text.

It doesn't use Textual. A thread calls the commands, because they read and write many files.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from agentplane import health
from agentplane.api import Listeners, Plane, summaries
from agentplane.findings import Finding
from agentplane.jobs import Report
from agentplane.memory.reconcile.settle import Settled
from agentplane.plane.git import git
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible
from agentplane.tools.harvest.harvest import SOURCES, TITLES, Harvest
from agentplane.tui.actions import Keymap
from agentplane.tui.backend import tools_model
from agentplane.tui.backend.tools_model import Planned


_MARKS = {"error": "×", "warning": "!", "info": "·"}
_SHOWN = 6
"""Maximum number of statements that are listed for each source."""


class Imported(msgspec.Struct, frozen=True):
    """The result of an import."""

    count: int
    refused: tuple[str, ...] = ()
    """The reason for each statement that the gate refused."""

    def message(self, keys: Keymap) -> str:
        refused = (
            f" · {len(self.refused):,} rejected by the checks: {one_line(self.refused[0], 80)}"
            if self.refused
            else ""
        )
        if not self.count:
            return f"Nothing was imported{refused}"
        return f"Added {counted(self.count, 'candidate')} to the inbox{refused} · {keys.key('undo')} to undo"


def diagnose(plane: Plane, report: Report) -> list[Finding]:
    """Return the findings of all checks. Changes nothing."""
    return health.collect(plane.store, report)


def status_text(plane: Plane, _: Report) -> str:
    """Return the output of `agentplane status`. Changes nothing."""
    status = plane.status()
    checked = (
        f"{counted(status.unchecked, 'candidate')} not checked for conflicts yet" if status.unchecked else ""
    )
    tools = plane.tools.receivers(plane.memory.read())
    return "\n".join(summaries.status_lines(status, tools, plane.layout.root, checked=checked))


def diff_text(plane: Plane, _: Report) -> str:
    """Return the output of `agentplane diff`. Changes nothing."""
    memory = plane.memory.read()
    found = plane.memory.diff(memory, None)
    lines = [line for entry in found.entries for line in summaries.diff_lines(entry)]
    texts = [visible("".join(piece.text for piece in line)) for line in lines]
    return "\n".join([*texts, *summaries.diff_notes(found, len(memory.hand_edits))])


def usual_base(plane: Plane, _: Report) -> str:
    """Return the branch that this one is probably merged into, or an empty text."""
    return next((name for name, _ in git.usual_bases(plane.layout.root)), "")


def check(base: str, plane: Plane, report: Report) -> list[Finding]:
    """Return the findings of `agentplane check --base`. Changes nothing."""
    return plane.with_listeners(Listeners(progress=report)).check(base).findings


def findings_text(findings: Sequence[Finding]) -> str:
    """Return the findings with their remedies, one paragraph each."""
    return "\n\n".join(
        f"{_MARKS[one.severity]} {visible(one.where)}: {visible(one.what)}\n  {visible(one.remedy)}"
        for one in findings
    )


def find_imports(plane: Plane, report: Report) -> Harvest:
    """Return the statements that can be imported. Changes nothing."""
    return plane.with_listeners(Listeners(progress=report)).tools.harvest(list(SOURCES))


def imports_text(found: Harvest) -> str:
    """Return the statements that can be imported, by source."""
    parts = [
        "These memories will be added to the inbox as candidates. The original files will not be changed."
    ]
    by_source = Counter(offer.source for offer in found.offers)
    for source, count in by_source.items():
        mine = [offer.proposal.statement for offer in found.offers if offer.source == source]
        lines = [f"{count:,} {TITLES[source]}", *(f"  · {one_line(text, 160)}" for text in mine[:_SHOWN])]
        lines += [f"    and {count - _SHOWN:,} more"] if count > _SHOWN else []
        parts.append("\n".join(lines))
    skipped = sum(len(haul.skipped) for haul in found.hauls)
    parts += [f"{counted(skipped, 'other line')} will be skipped"] if skipped else []
    return "\n\n".join(parts)


def take_in(plane: Plane, found: Harvest, report: Report) -> Imported:
    """Add the statements to the inbox in one operation."""
    done = plane.with_listeners(Listeners(progress=report)).tools.take_in(found)
    return Imported(sum(id_ is not None for id_ in done.ids), tuple(why for why in done.refused if why))


def plan_sync(plane: Plane, _: Report) -> Planned:
    """Return the changes of tool files that have an outdated memory. Changes nothing."""
    memory = plane.memory.read()
    views = tools_model.views(plane, memory, plane.today())
    return tools_model.planned(plane, "sync", [view.tool.name for view in views if view.status])


def reconcile(plane: Plane, report: Report) -> Settled:
    """Reconcile memory that Git merged from two branches."""
    return plane.with_listeners(Listeners(progress=report)).settle().done
