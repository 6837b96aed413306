"""Entries that describe a task or a temporary state. Both should be over by now."""

import re
from collections.abc import Iterator
from typing import Literal

from agentplane.curate.finding import Finding, Lines
from agentplane.curate.remedies import Deprecate, EditEntry, SetExpiry
from agentplane.curate.subject import Subject
from agentplane.memory.entry import Entry
from agentplane.review.gate import wording
from agentplane.text.visible import one_line


Shape = Literal["task", "state"]

_SOON = (
    r"(?:(?:by|until|before|on) )?(?:tomorrow|tonight|(?:next|this|later this|the end of (?:the|this|next)|end of(?: the| this| next)?) "
    r"(?:week|sprint|month|quarter|iteration|release cycle)|later today)"
)
_MARKED_TASK = re.compile(
    r"^\W{0,4}(?:todo|fixme|to-do|action item|follow-?up)\b ?(?:\([^)\n]{0,40}\))? ?[:\u2013\u2014-]"
)
_DATED_TASK = re.compile(
    rf"\b(?:will|shall|must|should|needs? to|has to|have to) be (?:[\w-]{{1,20}} ){{1,6}}{_SOON}\b|"
    rf"\b(?:we|i|we'll|i'll) (?:will |need to |have to |plan to |are going to )?(?:[\w/-]{{1,20}} ){{1,8}}{_SOON}\b"
)
# A rule for every week isn't a task for this week.
_REPEATED = re.compile(r"\b(?:every|each|always|never|whenever|when|if|unless|per)\b")
_OPEN_TASK = re.compile(r"^[ \t>*-]{0,6}(?:TODO|FIXME)(?:\([^)\n]{0,40}\))?:\s*\S")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")


def check(subject: Subject) -> Iterator[Finding]:
    for entry in subject.entries:
        shape = shape_of(entry.statement)
        if shape is not None:
            yield _finding(subject, entry, shape, entry.statement)
        elif line := open_task(entry.body):
            yield _finding(subject, entry, "task", line)


def shape_of(statement: str) -> Shape | None:
    """Return the kind of temporary thing that a statement describes, or None."""
    clean = wording.folded(statement)
    if _MARKED_TASK.search(clean) or (_DATED_TASK.search(clean) and not _REPEATED.search(clean)):
        return "task"
    return "state" if wording.news(statement) is not None else None


def open_task(body: str) -> str | None:
    """Return the first line of a body that begins with `TODO:` or `FIXME:`, outside code blocks. None if there is
    none.
    """
    in_code = False
    for line in body.splitlines():
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code and _OPEN_TASK.match(line):
            return line.strip()
    return None


def _finding(subject: Subject, entry: Entry, shape: Shape, text: str) -> Finding:
    name, where = one_line(entry.id, 40), subject.shown(entry)
    what = f"{name} contains an open task" if shape == "task" else f"{name} reports a temporary state"
    return Finding(
        "temporary",
        (entry.id,),
        where,
        what,
        Lines(where, one_line(text, 400)),
        (Deprecate((entry.id,)), EditEntry(entry.id), SetExpiry((entry.id,))),
        basis=text,
    )
