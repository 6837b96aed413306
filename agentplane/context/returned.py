"""The part of a context pack about candidates that a reviewer sent back to the reader."""

from collections.abc import Callable, Sequence

from agentplane.context import notes
from agentplane.review.feedback import Feedback


HEADING = "## Sent back to you"
INTRODUCTION = (
    "A reviewer sent back these candidates, which you proposed. To replace a candidate, propose a better "
    "statement over MCP with "
    '`relation: {"kind": "replaces", "id": "CAND-…"}`, or run `agentplane propose --replaces CAND-… "…"`.'
)
_OWN_WORDS = "These are the statements that you proposed. Nobody has approved them:"
_WITHHELD = "(comment withheld; a person can read it with `agentplane show`)"


def text(found: Sequence[Feedback], most: int, size: Callable[[str], int]) -> str:
    """Return the section, with as many candidates as fit into the size `most`, or an empty string."""
    for count in range(len(found), 0, -1):
        made = _section(found[:count], len(found) - count)
        if size(made) <= most:
            return made
    return ""


def _section(found: Sequence[Feedback], more: int) -> str:
    items = [f"- {one.id}: {one.comment or _WITHHELD}\n" for one in found]
    items += [f"- {more} more. To list them, run `agentplane inbox --folded`.\n"] if more else []
    own = [f"{one.id}: {one.statement}" for one in found if one.statement]
    words = f"\n{_OWN_WORDS}\n\n{notes.fenced(chr(10).join(own))}" if own else ""
    return f"\n{HEADING}\n\n{INTRODUCTION}\n\n{''.join(items)}{words}"
