"""Comments on candidates that were sent back, and tags.

A reviewer writes them, and tools read them. A comment goes only to the tool that proposed the candidate. Text
that the gate flags with high severity is refused when a person writes it. If a branch brings such a text, it
is withheld from tools.
"""

from collections.abc import Iterable

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.memory import postpone
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.text.visible import one_line


_LONGEST_COMMENT = 1000
_LONGEST_TAG = 60
_STATEMENT = 240
_MOST = 10


class Feedback(msgspec.Struct, frozen=True, omit_defaults=True):
    """A candidate that was sent back, as its proposer may read it."""

    id: str
    comment: str | None = None
    """None if the comment is withheld."""
    statement: str | None = None
    """The proposer's own text, which nobody approved. None if it is withheld."""


def check_comment(comment: str) -> None:
    """Refuse a comment that its proposer wouldn't get."""
    if len(comment) > _LONGEST_COMMENT:
        what = f"The comment has {len(comment):,} characters. The limit is {_LONGEST_COMMENT:,}."
        raise BadInput(what, todo="Shorten it.")
    if flags := _flags(comment):
        raise Refused(f"The comment can't be sent to tools, because it {flags[0]}.", todo="Rephrase it.")


def check_tags(tags: Iterable[str]) -> None:
    for tag in tags:
        if not tag.strip() or len(tag) > _LONGEST_TAG or not tag.isprintable() or tag != tag.strip():
            raise BadInput(
                f"Invalid tag: `{one_line(tag, 40)}`",
                todo=f"Use up to {_LONGEST_TAG} letters, digits and punctuation marks.",
            )
        if flags := _flags(tag):
            raise Refused(
                f"The tag can't be sent to tools, because it {flags[0]}.", todo="Use a different tag."
            )


def given_to(memory: Memory, reader: str) -> tuple[Feedback, ...]:
    """Return the candidates of a tool that were sent back, in the order of the file.

    Only text that an operation wrote counts. A comment that was added by hand is left out.
    """
    found = []
    for entry in memory.inbox if postpone.any_in(memory) else ():
        comment, mark = entry.head.sent_back, memory.known(entry.id)
        if comment is None or entry.head.proposed_by != reader:
            continue
        if mark is None or (mark.file, mark.digest) != (INBOX, entry.digest):
            continue
        # The three texts are checked as one, because an order can be split over them.
        is_safe = not _flags(f"{entry.id}\n{comment}\n{entry.body}")
        found.append(
            Feedback(
                one_line(entry.id, 40),
                None if _flags(comment) else one_line(comment, _LONGEST_COMMENT),
                one_line(entry.statement, _STATEMENT) if is_safe else None,
            )
        )
    return tuple(found[:_MOST])


def _flags(text: str) -> tuple[str, ...]:
    from agentplane.review.gate import gate  # takes long to load

    return tuple(flag.what for flag in gate.suspicious(text))
