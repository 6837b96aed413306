"""The search for a definition that is no longer where it was: under another name, or in another file."""

import os
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Protocol

import msgspec

from agentplane.curate.anchors import line_map, parts, text_blocks
from agentplane.curate.anchors.parts import Part, Text
from agentplane.curate.anchors.source import Definition


_MOST_FILES = 80
_DISTINCT = 14
"""Two definitions with at least this many words aren't equal by chance."""
_SIMILAR = 0.6
_SIMILAR_ELSEWHERE = 0.4
_FEW_LINES = 2
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class Wanted(msgspec.Struct, frozen=True):
    """A definition that is missing, as it was."""

    path: str
    name: str
    """The name in the evidence."""
    meaning: str | None
    content: str
    part: Part | None
    """None if its text isn't known any more."""
    text: Text | None
    """The file that had it."""

    @property
    def own(self) -> str:
        return text_blocks.last_part(self.name)

    @property
    def full(self) -> str:
        """The name with its scopes, if they are known."""
        found = self.part.name if self.part is not None else ""
        return found or ".".join(text_blocks.parts_of(self.name))


class Hit(msgspec.Struct, frozen=True):
    path: str
    name: str
    part: Part
    is_same: bool
    """True if it is the same code. Otherwise it is similar code."""


class Files(Protocol):
    """Where to look."""

    def text(self, path: str) -> Text | None:
        """Return the current text of a file."""

    def before(self, path: str) -> Text | None:
        """Return the text that a file had when the evidence was observed."""

    @property
    def knows_before(self) -> bool:
        """True if the texts from then are known."""

    def naming(self, word: str) -> Sequence[str]:
        """Return the files that contain a word."""

    def load_names(self, words: Sequence[str]) -> None:
        """Search for words together."""


class _Candidate(msgspec.Struct, frozen=True):
    path: str
    part: Part
    definition: Definition
    is_new: bool | None
    """True if the definition wasn't there before. None if that isn't known."""
    likeness: float
    """How alike the names are."""


def find(wanted: Wanted, files: Files) -> Hit | None:
    """Return the current place of a definition, or None. Code that existed before doesn't count."""
    same_file = list(_in_file(wanted, files))
    if hit := _same(wanted, same_file):
        return hit
    elsewhere = list(_elsewhere(wanted, files))
    if hit := _same(wanted, elsewhere):
        return hit
    return _similar(wanted, same_file, elsewhere)


def _in_file(wanted: Wanted, files: Files) -> Iterator[_Candidate]:
    text = files.text(wanted.path)
    if text is None or text.is_binary:
        return
    before = {one.name for one in wanted.text.source.definitions} if wanted.text else None
    for definition in text.source.definitions:
        is_new = None if before is None else definition.name not in before
        yield _Candidate(
            wanted.path, parts.part_of(text, definition), definition, is_new, _likeness(wanted, definition)
        )


def _elsewhere(wanted: Wanted, files: Files) -> Iterator[_Candidate]:
    ending = os.path.splitext(wanted.path)[1]
    # A method can have another name in the new file of its class.
    scopes = wanted.full.split(".")[:-1]
    words = [wanted.own, *scopes[-1:]]
    files.load_names(words)
    named = [
        path
        for path in dict.fromkeys(one for word in words for one in files.naming(word))
        if path != wanted.path
    ]
    named.sort(
        key=lambda path: (
            os.path.splitext(path)[1] != ending,
            os.path.basename(path) != os.path.basename(wanted.path),
        )
    )
    for path in named[:_MOST_FILES]:
        text = files.text(path)
        if text is None or text.is_binary:
            continue
        before = files.before(path)
        for definition in _definitions(text, wanted):
            is_new = None
            if files.knows_before:
                is_new = before is None or not _had(before, definition)
            yield _Candidate(
                path, parts.part_of(text, definition), definition, is_new, _likeness(wanted, definition)
            )


def _definitions(text: Text, wanted: Wanted) -> Sequence[Definition]:
    if isinstance(text.source, text_blocks.BlockSource):
        block = text.source.named(wanted.name)
        return [block] if block else []
    scope = wanted.full.rpartition(".")[0]
    return [
        one
        for one in text.source.definitions
        if one.own == wanted.own or (scope and one.name.rpartition(".")[0] == scope)
    ]


def _had(before: Text, definition: Definition) -> bool:
    if isinstance(before.source, text_blocks.BlockSource):
        return before.source.named(definition.name) is not None
    return any(one.name == definition.name for one in before.source.definitions)


def _same(wanted: Wanted, candidates: Sequence[_Candidate]) -> Hit | None:
    found = []
    for one in candidates:
        if one.part.content != wanted.content:
            meaning = one.part.meaning
            if meaning is None or meaning.digest != wanted.meaning:
                continue
        if _is_believable(one, wanted):
            found.append(one)
    if not found:
        return None
    best = max(found, key=lambda one: one.likeness)
    return Hit(best.path, best.definition.name, best.part, is_same=True)


def _is_believable(candidate: _Candidate, wanted: Wanted) -> bool:
    """True if equal code is the code that is looked for, and not equal by chance."""
    meaning = candidate.part.meaning
    is_distinct = meaning is not None and meaning.weight >= _DISTINCT
    is_alike = candidate.definition.own == wanted.own or candidate.likeness >= _SIMILAR
    if candidate.is_new is None:
        return is_distinct and is_alike
    return candidate.is_new and (is_distinct or is_alike)


def _similar(wanted: Wanted, same_file: Sequence[_Candidate], elsewhere: Sequence[_Candidate]) -> Hit | None:
    """Return new code that is similar to the old code, so that it was probably moved and changed."""
    if wanted.part is None:
        return None
    old = wanted.part.shown.splitlines()
    found: list[tuple[float, _Candidate]] = []
    for one in (*same_file, *elsewhere):
        if not one.is_new:
            continue
        likeness = line_map.similarity(old, one.part.shown.splitlines())
        has_name = one.definition.name == wanted.full
        is_short = has_name and len(old) <= _FEW_LINES and one.path != wanted.path
        if is_short or likeness >= (_SIMILAR_ELSEWHERE if has_name else _SIMILAR):
            found.append((likeness + has_name, one))
    if not found:
        return None
    best = max(found, key=lambda pair: pair[0])[1]
    return Hit(best.path, best.definition.name, best.part, is_same=False)


def _likeness(wanted: Wanted, definition: Definition) -> float:
    """Return how alike two names are, from 0 to 1. The same name is 1, and the same scopes make it 2."""
    if definition.name == wanted.full:
        return 2
    if definition.own == wanted.own:
        return 1
    one, other = (set(map(str.lower, _WORD.findall(name))) for name in (wanted.own, definition.own))
    shared = any(len(word) > 3 for word in one & other)
    ratio = SequenceMatcher(None, wanted.own, definition.own).ratio()
    return min(0.99, max(ratio, _SIMILAR if shared else 0))
