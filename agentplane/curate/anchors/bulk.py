"""The comparison of the evidence of many entries. Files that didn't change aren't read, and nothing is asked of Git for
them.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

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


_WHAT = "Comparing evidence"
_STEP = 500


class Piece(msgspec.Struct, frozen=True, gc=False):
    """One piece of evidence of an entry."""

    entry: str
    evidence: str
    observed: Observation | None
    """The state at the approval. None if none was recorded, so that Git has it in the commit."""
    commit: str | None


def compared(pieces: Sequence[Piece], layout: Layout, report: Report) -> Iterator[tuple[Piece, State]]:
    """Yield the pieces of evidence that aren't plainly unchanged, each with its state."""
    if not pieces:
        return
    memo = Memo(layout)
    with ObjectReader(layout.project) as reader:
        first = _FirstLook(layout.project, memo, reader)
        rest = []
        for number, piece in enumerate(pieces):
            if number % _STEP == 0:
                report(number, len(pieces), _WHAT)
            if not first.is_quiet(piece):
                rest.append(piece)
        yield from _closely(rest, layout, memo, reader, report)
    memo.save()


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
        self._digests: dict[str, str | None] = {}

    def is_quiet(self, piece: Piece) -> bool:
        """True if a piece of evidence is unchanged or only reformatted, or if there is nothing to compare."""
        observed = piece.observed
        if observed is None:
            return self._is_as_approved(piece)
        part = self._memo.part(piece.evidence)
        if part is not None and _is_settled(observed, part, self._memo):
            return True
        place = forms.parse(piece.evidence, self._tree.exists, was_path=observed.content is not None)
        if not isinstance(place, File | Lines | Symbol | Heading):
            return not isinstance(place, Commit | Outside)
        if observed.content is None:
            return (
                self._is_folder(place.path) if observed.problem == "folder" else observed.problem == "missing"
            )
        digest = self._digest(place.path)
        if digest is None:
            return False
        if digest == (observed.content if isinstance(place, File) else observed.file):
            self._memo.add_part(place.path, digest, observed)
            return True
        if part is None:
            part = self._read(piece.evidence, place, digest)
        # Equal lines can be other lines, so lines need a closer look if anything in their file changed.
        return part is not None and not isinstance(place, Lines) and _is_same(observed, part)

    def _read(self, evidence: str, place: Place, digest: str) -> KnownPart | None:
        content = self._tree.look(place.path)
        if isinstance(content, Absent) or content.digest != digest:
            return None
        self._memo.add_part(place.path, digest, of_place(evidence, place, content))
        return self._memo.known.parts[evidence]

    def _is_folder(self, path: str) -> bool:
        found = self._tree.look(path)
        return isinstance(found, Absent) and found.problem == "folder"

    def _is_as_approved(self, piece: Piece) -> bool:
        """True if the file of a piece of evidence is the one of the commit of the approval."""
        place = forms.parse(piece.evidence, self._tree.exists)
        if not isinstance(place, File | Lines | Symbol | Heading):
            return not isinstance(place, Commit | Outside)
        digest = self._digest(place.path)
        if piece.commit is None:
            return False
        if digest is None:
            found = self._reader.find(piece.commit, place.path.rstrip("/"))
            return found is not None and found.kind == "tree" and self._is_folder(place.path)
        approved = self._memo.approved(piece.commit, place.path)
        if approved is None and self._has_blob(piece.commit, place.path):
            approved = digest
            self._memo.add_approved(piece.commit, place.path, digest)
        return approved == digest

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
        if path not in self._digests:
            digest = self._memo.file(path)
            if digest is None and isinstance(content := self._tree.look(path), Content):
                digest = content.digest
                if content.path == path:
                    self._memo.add_file(path, digest, content.stamp)
            self._digests[path] = digest
        return self._digests[path]


def _is_same(observed: Observation, part: KnownPart) -> bool:
    if part.content is not None and part.content == observed.content:
        return True
    return part.meaning is not None and part.meaning == observed.meaning


def _is_settled(observed: Observation, part: KnownPart, memo: Memo) -> bool:
    """True if the file is the observed one, or an earlier pass looked closely at this version of it."""
    if observed.content is not None and part.file == (observed.file or observed.content):
        return True
    return memo.known.settled.get(observed.evidence) == (part.file, observed.content)


def _oldest(pieces: Sequence[Piece], project: Path, reader: ObjectReader) -> ObjectId | None:
    """Return the oldest commit of these approvals. None if one of them isn't known."""
    names = {piece.commit for piece in pieces}
    commits = [reader.commit(name) if name is not None else None for name in names]
    known = [commit for commit in commits if commit is not None]
    return code_history.oldest(project, known) if len(known) == len(commits) else None


def _remember(piece: Piece, state: State, memo: Memo) -> None:
    """Remember the commit of a change, which stays the same until the file changes."""
    part = memo.part(piece.evidence)
    if (
        part is None
        or not isinstance(state, Changed)
        or state.now != piece.evidence
        or piece.observed is None
    ):
        return
    change = state.change
    if change.commit is not None:
        known = KnownChange(
            part.file,
            piece.observed.content,
            change.diff,
            change.where,
            change.commit,
            change.author,
            change.date,
            change.subject,
        )
        memo.add_change(piece.evidence, known)


def _known_changes(pieces: Sequence[Piece], layout: Layout, memo: Memo) -> dict[Piece, State]:
    """Return the changes that an earlier pass explained, if their commits are still in the history."""
    found: dict[Piece, State] = {}
    for piece in pieces:
        part, known = memo.part(piece.evidence), memo.known.changes.get(piece.evidence)
        if part is None or known is None or known.file != part.file or piece.observed is None:
            continue
        if known.observed == piece.observed.content:
            change = Change(known.where, known.diff, known.commit, known.author, known.date, known.subject)
            found[piece] = Changed(piece.evidence, piece.evidence, change)
    named = {one.change.commit for one in found.values() if isinstance(one, Changed)}
    commits = [oid for name in named if name and (oid := git.object_id(name))]
    lost = git.not_in_history(layout.project, commits) if commits else set()
    return {} if lost is None or lost else found
