"""The comparison of the evidence of many entries. Files that didn't change aren't read, and nothing is asked of Git for
them.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from agentplane.curate.anchors import compare
from agentplane.curate.anchors.known import KnownChange, KnownPart, Memo
from agentplane.curate.anchors.observe import of_place
from agentplane.curate.anchors.past import Past
from agentplane.curate.anchors.states import Change, Changed, Reformatted, State, Unbound, Unchanged
from agentplane.curate.anchors.tree import Absent, Content, WorkTree
from agentplane.jobs import Report
from agentplane.memory import evidence as forms
from agentplane.memory.evidence import Commit, File, Heading, Lines, Outside, Place, Symbol
from agentplane.plane.git import code_history, git
from agentplane.plane.git.git import ObjectId
from agentplane.plane.git.object_reader import ObjectReader
from agentplane.plane.layout import Layout
from agentplane.plane.store.records import Observation
from agentplane.text.gc_pause import uncollected


_WHAT = "Comparing evidence"
_STEP = 500


class Piece(NamedTuple):
    """One piece of evidence of an entry."""

    entry: str
    evidence: str
    observed: Observation | None
    """The state at the approval. None if none was recorded, so that Git has it in the commit."""
    commit: str | None


def compared(pieces: Iterable[Piece], layout: Layout, report: Report) -> Iterator[tuple[Piece, State]]:
    """Yield the pieces of evidence that aren't plainly unchanged, each with its state."""
    memo = Memo(layout)
    try:
        with ObjectReader(layout.project) as reader:
            is_quiet = _FirstLook(layout.project, memo, reader).is_quiet
            with uncollected():
                rest = [piece for piece in _reported(pieces, report) if not is_quiet(*piece)]
            yield from _closely(rest, layout, memo, reader, report)
    finally:
        memo.save()  # also if the pass was cancelled


def _reported(pieces: Iterable[Piece], report: Report) -> Iterator[Piece]:
    for number, piece in enumerate(pieces):
        if number % _STEP == 0:
            report(number, 0, _WHAT)
        yield piece


def _closely(
    pieces: Sequence[Piece], layout: Layout, memo: Memo, reader: ObjectReader, report: Report
) -> Iterator[tuple[Piece, State]]:
    """Yield the states of pieces that need a closer look."""
    if not pieces:
        return
    past = Past(layout.project, reader, _oldest(pieces, layout.project, reader))
    comparison = compare.Comparison(layout.project, past)
    known = _known_changes(pieces, layout, memo)
    comparison.prepare([piece.evidence for piece in pieces if piece not in known])
    for number, piece in enumerate(pieces):
        report(number, len(pieces), _WHAT)
        if (state := known.get(piece)) is None:
            state = comparison.state_of(piece.evidence, piece.observed, piece.commit)
            _remember(piece, state, memo)
        if not isinstance(state, Unchanged | Reformatted | Unbound):
            yield piece, state


class _FirstLook:
    """Recognizes evidence that is unchanged, from the digest of its file."""

    def __init__(self, project: Path, memo: Memo, reader: ObjectReader) -> None:
        self._memo = memo
        self._reader = reader
        self._tree = WorkTree(project)

    def is_quiet(self, _: str, evidence: str, observed: Observation | None, commit: str | None) -> bool:
        """True if a piece of evidence is unchanged or only reformatted, or if there is nothing to compare."""
        if observed is None:
            return self._is_as_approved(evidence, commit)
        path = self._memo.path_in(evidence)
        if path is not None and observed.content is not None and (file := self._memo.file(path)) is not None:
            if file == (observed.file or observed.content):
                return True
            if self._memo.known.settled.get(evidence) == (file, observed.content):
                return True
        return self._is_quiet(evidence, observed)

    def _is_quiet(self, evidence: str, observed: Observation) -> bool:
        place = forms.parse(evidence, self._tree.exists, was_path=observed.content is not None)
        if not isinstance(place, File | Lines | Symbol | Heading):
            return not isinstance(place, Commit | Outside)
        if observed.content is None:
            return (
                self._is_folder(place.path) if observed.problem == "folder" else observed.problem == "missing"
            )
        file = self._digest(place.path)
        if file is None:
            return False
        if file == (observed.content if isinstance(place, File) else observed.file):
            return True
        part = self._memo.part(evidence, file) or self._read(evidence, place, file)
        # Equal lines can be other lines, so lines need a closer look if anything in their file changed.
        return part is not None and not isinstance(place, Lines) and _is_same(observed, part)

    def _read(self, evidence: str, place: Place, file: str) -> KnownPart | None:
        content = self._tree.look(place.path)
        if isinstance(content, Absent) or content.digest != file:
            return None
        return self._memo.add_part(file, of_place(evidence, place, content))

    def _is_folder(self, path: str) -> bool:
        found = self._tree.look(path)
        return isinstance(found, Absent) and found.problem == "folder"

    def _is_as_approved(self, evidence: str, commit: str | None) -> bool:
        """True if the file of a piece of evidence is the one of the commit of the approval."""
        path = self._memo.path_in(evidence)
        if path is None:
            place = forms.parse(evidence, self._tree.exists)
            if not isinstance(place, File | Lines | Symbol | Heading):
                return not isinstance(place, Commit | Outside)
            path = place.path
        if commit is None:
            return False
        file = self._digest(path)
        if file is None:
            found = self._reader.find(commit, path.rstrip("/"))
            return found is not None and found.kind == "tree" and self._is_folder(path)
        approved = self._memo.approved(commit, path)
        if approved is None and self._has_blob(commit, path):
            approved = file
            self._memo.add_approved(commit, path, file)
        return approved == file

    def _has_blob(self, commit: str, path: str) -> bool:
        """True if a commit has the very bytes that a file has now."""
        found = self._reader.find(commit, path)
        content = self._tree.look(path) if found is not None else None
        if found is None or not isinstance(content, Content) or content.data is None or content.path != path:
            return False
        made = hashlib.new("sha1" if len(found.oid) == 40 else "sha256", usedforsecurity=False)
        made.update(b"blob %d\0" % len(content.data))
        made.update(content.data)
        return made.hexdigest() == found.oid

    def _digest(self, path: str) -> str | None:
        """Return the digest of a file, or None if it isn't there."""
        digest = self._memo.file(path)
        if digest is None and isinstance(content := self._tree.look(path), Content):
            digest = content.digest
            if content.path == path:
                self._memo.add_file(path, digest, content.stamp)
        return digest


def _is_same(observed: Observation, part: KnownPart) -> bool:
    if part.content is not None and part.content == observed.content:
        return True
    return part.meaning is not None and part.meaning == observed.meaning


def _oldest(pieces: Sequence[Piece], project: Path, reader: ObjectReader) -> ObjectId | None:
    """Return the oldest commit of these approvals. None if one of them isn't known."""
    names = {piece.commit for piece in pieces}
    commits = [reader.commit(name) if name is not None else None for name in names]
    if len(commits) == 1:
        return commits[0]
    known = [commit for commit in commits if commit is not None]
    return code_history.oldest(project, known) if len(known) == len(commits) else None


def _remember(piece: Piece, state: State, memo: Memo) -> None:
    """Remember what a closer look found. It stays the same until the file changes."""
    path = memo.path_in(piece.evidence)
    file = memo.file(path) if path is not None else None
    content = piece.observed.content if piece.observed is not None else None
    if file is None or content is None:
        return
    if isinstance(state, Unchanged | Reformatted):
        memo.settle(piece.evidence, file, content)
    if isinstance(state, Changed) and state.now == piece.evidence and (commit := state.change.commit):
        change = state.change
        about = (change.diff, change.where, commit, change.author, change.date, change.subject)
        memo.add_change(piece.evidence, KnownChange(file, content, *about))


def _known_changes(pieces: Sequence[Piece], layout: Layout, memo: Memo) -> dict[Piece, State]:
    """Return the changes that an earlier pass explained, if their commits are still in the history."""
    found: dict[Piece, State] = {}
    for piece in pieces:
        known, path = memo.known.changes.get(piece.evidence), memo.path_in(piece.evidence)
        if known is None or path is None or piece.observed is None or known.file != memo.file(path):
            continue
        if known.observed == piece.observed.content:
            change = Change(known.where, known.diff, known.commit, known.author, known.date, known.subject)
            found[piece] = Changed(piece.evidence, piece.evidence, change)
    named = {one.change.commit for one in found.values() if isinstance(one, Changed)}
    commits = [oid for name in named if name and (oid := git.object_id(name))]
    lost = git.not_in_history(layout.project, commits) if commits else set()
    return {} if lost is None or lost else found
