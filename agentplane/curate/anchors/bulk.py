"""The comparison of the evidence of many entries. It doesn't read unchanged files or query Git for them."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
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
_MANY = 200
"""With more files of a commit, it is faster to list all of them."""


class Piece(NamedTuple):
    """One piece of evidence of an entry."""

    entry: str
    evidence: str
    observed: Observation | None
    """The state at the approval. None if none was recorded, so that Git has it in the commit."""
    commit: str | None


Asked = tuple[str, str, Observation | None, str | None]
"""The fields of a `Piece`. Making a tuple is faster."""


def compared(pieces: Iterable[Asked], layout: Layout, report: Report) -> Iterator[tuple[Piece, State]]:
    """Yield the pieces of evidence that may have changed, each with its state."""
    memo = Memo(layout)
    try:
        with ObjectReader(layout.project) as reader:
            first = _FirstLook(layout.project, memo, reader)
            with uncollected():
                asked = list(pieces)
                first.prepare(asked)
                rest = [Piece(*piece) for piece in _reported(asked, report) if not first.is_quiet(*piece)]
            yield from _closely(rest, layout, memo, reader, report)
    finally:
        memo.save()  # also if the pass was cancelled


def _reported(pieces: Iterable[Asked], report: Report) -> Iterator[Asked]:
    rest = iter(pieces)
    done = 0
    while some := list(islice(rest, _STEP)):
        report(done, 0, _WHAT)
        yield from some
        done += len(some)


def _closely(
    pieces: Sequence[Piece], layout: Layout, memo: Memo, reader: ObjectReader, report: Report
) -> Iterator[tuple[Piece, State]]:
    """Yield the states of pieces that need a closer look."""
    if not pieces:
        return
    past = Past(layout.project, reader, _oldest(pieces, layout.project, reader))
    comparison = compare.Comparison(layout.project, past)
    asked = [_with_state(piece, comparison, memo) for piece in pieces]
    known = _known_changes(asked, layout, memo)
    comparison.prepare([piece.evidence for piece in asked if piece not in known])
    for number, piece in enumerate(asked):
        report(number, len(asked), _WHAT)
        if (state := known.get(piece)) is None:
            state = comparison.state_of(piece.evidence, piece.observed, piece.commit)
            _remember(piece, state, memo)
        if not isinstance(state, Unchanged | Reformatted | Unbound):
            yield piece, state


def _with_state(piece: Piece, comparison: compare.Comparison, memo: Memo) -> Piece:
    """Return a piece of evidence with the state that it had in the commit of the approval."""
    if piece.observed is not None or piece.commit is None:
        return piece
    observed = memo.derived(piece.commit, piece.evidence)
    if observed is None:
        (observed,) = comparison.derived([piece.evidence], piece.commit)
        if observed.content is not None:
            memo.add_derived(piece.commit, observed)
    return piece._replace(observed=observed)


class _FirstLook:
    """Recognizes evidence that is unchanged, from the digest of its file."""

    def __init__(self, project: Path, memo: Memo, reader: ObjectReader) -> None:
        self._memo = memo
        self._reader = reader
        self._tree = WorkTree(project)
        self._project = project
        self._paths: dict[str, str] = {}
        self._blobs: dict[str, dict[str, str]] = {}
        """The files of commits of which many files are needed."""
        self._last: tuple[str, Content | None] = "", None

    def prepare(self, pieces: Sequence[Asked]) -> None:
        """Ask Git about the files of all approvals that recorded no state."""
        wanted: dict[str, set[str]] = {}
        for _, evidence, observed, commit in pieces:
            if observed is not None or not commit or self._memo.derived(commit, evidence) is not None:
                continue
            path = self._path(evidence)
            if path is not None and self._memo.approved(commit, path) is None:
                wanted.setdefault(commit, set()).add(path)
        for name, paths in wanted.items():
            oid = self._reader.commit(name) if len(paths) > _MANY else None
            if oid is not None:
                self._blobs[name] = code_history.files(self._project, oid).blobs
            else:
                self._reader.load((name, path) for path in paths)

    def _path(self, evidence: str) -> str | None:
        """Return the path that a piece of evidence names, or None if it names something else."""
        path = self._memo.path_in(evidence) or self._paths.get(evidence)
        if path is None:
            place = forms.parse(evidence, self._tree.exists)
            if isinstance(place, Place):
                path = self._paths[evidence] = place.path
        return path

    def is_quiet(self, _: str, evidence: str, observed: Observation | None, commit: str | None) -> bool:
        """True if a piece of evidence is unchanged or only reformatted, or if there is nothing to compare."""
        if observed is None:
            observed = self._memo.derived(commit, evidence)
        if observed is None:
            return self._is_as_approved(evidence, commit)
        path = self._memo.path_in(evidence)
        if path is not None and observed.content is not None and (file := self._memo.file(path)) is not None:
            if file == (observed.file or observed.content):
                return True
            if self._memo.is_settled(evidence, file, observed.content):
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
        content = self._look(place.path)
        if content is None or content.digest != file:
            return None
        return self._memo.add_part(file, of_place(evidence, place, content))

    def _is_folder(self, path: str) -> bool:
        found = self._tree.look(path)
        return isinstance(found, Absent) and found.problem == "folder"

    def _is_as_approved(self, evidence: str, commit: str | None) -> bool:
        """True if the file of a piece of evidence is the one of the commit of the approval."""
        path = self._path(evidence)
        if path is None:
            return not isinstance(forms.parse(evidence, self._tree.exists), Commit | Outside)
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
        oid = self._oid(commit, path)
        content = self._look(path) if oid is not None else None
        if oid is None or content is None or content.data is None or content.path != path:
            return False
        made = hashlib.new("sha1" if len(oid) == 40 else "sha256", usedforsecurity=False)
        made.update(b"blob %d\0" % len(content.data))
        made.update(content.data)
        return made.hexdigest() == oid

    def _oid(self, commit: str, path: str) -> str | None:
        if (blobs := self._blobs.get(commit)) is not None:
            return blobs.get(path)
        found = self._reader.find(commit, path)
        return found.oid if found is not None else None

    def _digest(self, path: str) -> str | None:
        """Return the digest of a file, or None if it isn't there."""
        digest = self._memo.file(path)
        if digest is None and (content := self._look(path)) is not None:
            digest = content.digest
            if content.path == path:
                self._memo.add_file(path, digest, content.stamp)
        return digest

    def _look(self, path: str) -> Content | None:
        """Return the bytes of a file. The last ones are kept, because they are often needed again at once."""
        if self._last[0] != path:
            found = self._tree.look(path)
            self._last = path, found if isinstance(found, Content) else None
        return self._last[1]


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
        path = memo.path_in(piece.evidence)
        if path is None or piece.observed is None:
            continue
        known = memo.change(piece.evidence, memo.file(path), piece.observed.content)
        if known is not None:
            change = Change(known.where, known.diff, known.commit, known.author, known.date, known.subject)
            found[piece] = Changed(piece.evidence, piece.evidence, change)
    named = {one.change.commit for one in found.values() if isinstance(one, Changed)}
    commits = [oid for name in named if name and (oid := git.object_id(name))]
    lost = git.not_in_history(layout.project, commits) if commits else set()
    return {} if lost is None or lost else found
