"""Notes that tools left in the log of runs, checked, shortened and labeled as unreviewed.

People approve entries, but not the summaries of runs, and a run event travels with every merge. A note that
the gate flags is therefore withheld. All other notes are fenced, so that no line in them can end the fence or
look like a heading.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from agentplane.plane.ledger.run_lookup import is_run_id
from agentplane.runs.events import RunEvent
from agentplane.text.visible import one_line


MOST_STEPS = 5
_SUMMARY = 240
_STEP = 120
_NAME = 40
_TILDES = re.compile("~+")


class Notes(msgspec.Struct, frozen=True, omit_defaults=True):
    """The notes of one run, as a tool may read them."""

    run_id: str
    tool: str = ""
    """The coding tool that the run names."""
    lines: tuple[str, ...] = ()
    """Each line starts with `summary:` or `next:`."""
    withheld: tuple[str, ...] = ()
    """Codes of the flags for which the notes are withheld. Then there are no lines."""


def of(run: RunEvent) -> Notes | None:
    """Return the notes of a run, or None where it left none."""
    steps = [str(step) for step in run.next_actions]
    lines = tuple(_lines(run.summary or "", steps))
    if not lines or not is_run_id(run.run_id):
        return None
    tool = one_line(run.tool or "", _NAME)
    withheld = flags((tool, *lines, run.summary or "", *steps))
    return Notes(run.run_id, withheld=withheld) if withheld else Notes(run.run_id, tool, lines)


def flags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of the flags that keep texts away from tools.

    The texts are checked as one, because an order can be split over several of them.
    """
    from agentplane.review.gate import gate  # takes long to load, and few commands make a context pack

    return tuple(dict.fromkeys(flag.code for flag in gate.suspicious("\n".join(texts))))


def fenced(text: str) -> str:
    """Return a text in a code fence that is longer than any fence in it."""
    longest = max(map(len, _TILDES.findall(text)), default=0)
    fence = "~" * max(longest + 1, 3)
    return f"{fence}text\n{text.rstrip()}\n{fence}\n"


def fence_of(line: str) -> str:
    """Return the line that closes the fence opened by this line, or an empty string if it opens none."""
    fence = line.removesuffix("text")
    return fence if fence != line and len(fence) >= 3 and _TILDES.fullmatch(fence) else ""


def withheld_because(codes: Iterable[str]) -> str:
    """Return the end of a sentence about withheld notes. It doesn't quote them."""
    return f"withheld, because they were flagged ({', '.join(codes)}). A person can read them with `agentplane timeline`."


def _lines(summary: str, steps: Sequence[str]) -> Iterable[str]:
    if summary.strip():
        yield f"summary: {one_line(summary, _SUMMARY)}"
    yield from (f"next: {one_line(step, _STEP)}" for step in steps[:MOST_STEPS] if step.strip())
    if len(steps) > MOST_STEPS:
        yield f"next: {len(steps) - MOST_STEPS} more"
