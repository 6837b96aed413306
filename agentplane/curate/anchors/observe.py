"""The state of evidence, as approvals record it. This is called at each approval, so parsers load only when needed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentplane.curate.anchors.tree import Absent, Content, Problem, Tree
from agentplane.memory import evidence as forms
from agentplane.memory.evidence import File, Heading, Lines, Outside, Place, Symbol
from agentplane.plane.store.records import Observation


if TYPE_CHECKING:
    from agentplane.curate.anchors.parts import Text

_LARGEST_WHOLE = 128 << 10
"""Maximum size in bytes of a file whose whole meaning is recorded. For larger files, this takes too long, and Git
usually has them.
"""


def observe(evidence: Sequence[str], tree: Tree) -> list[Observation]:
    """Return the current state of each piece of evidence."""
    return [_observed(text, tree) for text in evidence]


def _observed(text: str, tree: Tree) -> Observation:
    match forms.parse(text, tree.exists):
        case File() | Lines() | Symbol() | Heading() as place:
            return of_place(text, place, tree.look(place.path))
        case Outside():
            return Observation(text, problem="outside")
        case _:
            return Observation(text)


def of_place(text: str, place: Place, content: Content | Absent) -> Observation:
    """Return the state of evidence in a file."""
    if isinstance(content, Absent):
        return Observation(text, problem=content.problem)
    if content.data is None and not isinstance(place, File):
        return Observation(text, problem="too-large", file=content.digest)
    if isinstance(place, File) and (content.data is None or len(content.data) > _LARGEST_WHOLE):
        return Observation(text, content.digest)
    return _of_part(text, place, content, content.data or b"")


def _of_part(text: str, place: Place, content: Content, data: bytes) -> Observation:
    from agentplane.curate.anchors import parts

    source = parts.Text(place.path, data)
    if isinstance(place, File):
        if source.is_binary:
            return Observation(text, content.digest)
        whole = source.source.whole()
        return Observation(text, content.digest, whole.digest if whole else None, len(source.lines))
    found = parts.at(source, place)
    if found is None:
        return Observation(text, problem=_problem(source, place), file=content.digest)
    meaning = found.meaning
    return Observation(
        text, found.content, meaning.digest if meaning else None, found.lines, file=content.digest
    )


def _problem(source: "Text", place: Place) -> Problem:
    if source.is_binary:
        return "binary"
    return "syntax" if not isinstance(place, Lines) and source.source.error_line is not None else "missing"
