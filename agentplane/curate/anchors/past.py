"""The history of files in Git: their text at an approval, and the commits that changed, moved or removed them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from agentplane.curate.anchors import parts
from agentplane.curate.anchors.parts import Part, Text
from agentplane.curate.anchors.tree import LARGEST, CommitTree, Content, content_of
from agentplane.memory.evidence import File, Place
from agentplane.plane.git import code_history, git
from agentplane.plane.git.code_history import Author, Files, Step
from agentplane.plane.git.git import ObjectId
from agentplane.plane.git.object_reader import ObjectReader
from agentplane.plane.store.records import Observation


_MOST_STEPS = 20_000
_MOST_VERSIONS = 60
"""Maximum number of versions of a file to read."""
_MOST_RENAMES = 10
_TEXTS_KEPT = 128
_MOST_DELETED = 200
_MOST_PATCHES = 300


class Old(msgspec.Struct, frozen=True):
    """A file as it was when a person checked the evidence."""

    text: Text | None
    """None for a file that is too large."""
    part: Part | None


class Rename(msgspec.Struct, frozen=True):
    """The path to which a file was renamed, and the commits that did so, the last one first."""

    path: str
    steps: tuple[Step, ...]
    """Empty if the last rename isn't committed."""


class Past:
    """Queries about the history of one project. Each query runs once."""

    def __init__(self, project: Path, reader: ObjectReader, since: ObjectId | None) -> None:
        """`since` is a commit before all changes that matter."""
        self._project = project
        self._reader = reader
        self._since = since
        self._steps: dict[str, list[Step]] = {}
        self._renames: dict[ObjectId, list[Step]] = {}
        self._commits: dict[str, ObjectId | None] = {}
        self._files: dict[ObjectId, list[str]] = {}
        self._text = lru_cache(_TEXTS_KEPT)(self._read_text)

    @cached_property
    def head(self) -> ObjectId | None:
        """The checked-out commit, or None without a repository."""
        return self._reader.head()

    @cached_property
    def is_shallow(self) -> bool:
        return git.is_shallow(self._project)

    @cached_property
    def head_files(self) -> Files:
        return code_history.files(self._project, self.head) if self.head else Files(b"")

    @cached_property
    def not_checked_out(self) -> set[str]:
        """The files that Git leaves out of the work tree."""
        return git.not_checked_out(self._project)

    @cached_property
    def untracked(self) -> list[str]:
        return git.untracked(self._project)

    @cached_property
    def uncommitted_renames(self) -> dict[str, str]:
        return dict(code_history.uncommitted_renames(self._project)) if self.head else {}

    def is_in_head(self, path: str) -> bool:
        """True if the checked-out commit has a file."""
        return self.head is not None and self._reader.find(self.head, path) is not None

    def exists(self, commit: ObjectId, path: str) -> bool:
        """True if a commit has something at a path."""
        return self._reader.find(commit, path.rstrip("/")) is not None

    def oid(self, commit: ObjectId, path: str) -> ObjectId | None:
        """Return the object at a path of a commit."""
        found = self._reader.find(commit, path)
        return found.oid if found is not None else None

    def commit(self, name: str | None) -> ObjectId | None:
        """Return the full name of a commit, or None if it isn't here."""
        if name is None:
            return None
        if name not in self._commits:
            self._commits[name] = self._reader.commit(name)
        return self._commits[name]

    def tree(self, commit: ObjectId) -> CommitTree:
        return CommitTree(self._reader, commit)

    def files_of(self, commit: ObjectId) -> list[str]:
        """Return the paths of the files of a commit."""
        if commit not in self._files:
            self._files[commit] = code_history.files(self._project, commit).paths
        return self._files[commit]

    def text_in(self, commit: ObjectId, path: str) -> Text | None:
        """Return the text of a file in a commit."""
        found = self._reader.find(commit, path)
        return self.text(found.oid, path) if found is not None and found.kind == "blob" else None

    def text(self, oid: ObjectId | None, path: str) -> Text | None:
        """Return a version of a file."""
        return self._text(oid, path) if oid is not None else None

    def load(self, paths: Iterable[str]) -> None:
        """Read the changes of these files together, which is faster than one by one."""
        wanted = [path for path in dict.fromkeys(paths) if path not in self._steps]
        if not wanted or self.head is None:
            return
        found = code_history.steps(self._project, wanted, self._since, _MOST_STEPS)
        for path in wanted:
            self._steps[path] = []
        for step in found:
            self._steps[step.path].append(step)

    def steps(self, path: str) -> list[Step]:
        """Return the changes of a file, the newest first."""
        self.load([path])
        return self._steps.get(path, [])

    def renamed(self, path: str) -> Rename | None:
        """Follow the renames of a missing file. Return its last path, or None if it wasn't renamed."""
        there, taken, seen = path, list[Step](), {path}
        for _ in range(_MOST_RENAMES):
            if (new := self.uncommitted_renames.get(there)) and new not in seen:
                there = new
                return Rename(there, tuple(reversed(taken)))
            step = self._rename_of(there)
            if step is None or step.new_path in seen:
                break
            there = step.new_path
            seen.add(there)
            taken.append(step)
            if self.is_in_head(there) and there not in self.uncommitted_renames:
                break
        return Rename(there, tuple(reversed(taken))) if taken else None

    def _rename_of(self, path: str) -> Step | None:
        """Return the rename in the last commit that deleted a file."""
        for step in self.steps(path):
            if step.status != "D":
                continue
            oid = step.by.commit
            if oid not in self._renames:
                self._renames[oid] = code_history.renames(self._project, oid)
            found = [one for one in self._renames[oid] if one.path == path]
            if found:
                return found[0]
            if not step.by.is_merge:
                return None
        return None

    def renamed_folder(self, folder: str) -> str | None:
        """Return the folder that has most of the files of a folder that is gone."""
        gone = self._deleted_in(folder)
        self.load(gone)
        renames = [(path, rename.path) for path in gone if (rename := self.renamed(path))]
        targets = Counter(new.removesuffix(path.removeprefix(folder)) for path, new in renames)
        best = targets.most_common(1)
        return best[0][0] if best and best[0][0] and best[0][1] * 2 > len(gone) else None

    def _deleted_in(self, folder: str) -> list[str]:
        """Return the files that a folder had before it was deleted."""
        found = code_history.deleted_below(self._project, folder, self._since) if self.head else []
        return found[:_MOST_DELETED]

    def state_of_commit(self, name: str) -> Literal["here", "unknown"] | Author | None:
        """Return whether a commit is in this clone, or the commit that replaced it. None without a repository."""
        if self.head is None:
            return None
        oid = self.commit(name.lower())
        if oid is None:
            return "unknown"
        outside = git.not_in_history(self._project, [oid])
        if not outside:
            return "here"
        return self._equal_commit(oid) or "here"

    def _equal_commit(self, oid: ObjectId) -> Author | None:
        """Return the commit in the history that makes the same change as one outside of it."""
        was = code_history.author_of(self._project, oid)
        recent = code_history.authors(self._project, _MOST_STEPS)
        wanted = (was.date, was.name, was.subject) if was else None
        same_words = [one for one in recent if (one.date, one.name, one.subject) == wanted]
        if len(same_words) == 1:
            return same_words[0]
        ids = {digest for _, digest in code_history.patch_ids(self._project, oid, 1)}
        head = self.head
        found = code_history.patch_ids(self._project, head, _MOST_PATCHES) if head and ids else []
        names = [commit for commit, digest in found if digest in ids]
        return next((one for one in recent if names and one.commit == names[0]), None)

    def old(self, observed: Observation, place: Place, commit: ObjectId | None) -> Old | None:
        """Return the file with the content that was observed, or None if Git doesn't have it."""
        if commit is not None:
            text = self.text_in(commit, place.path)
            if text is not None and (old := _matching(text, place, observed)):
                return old
            # It may be a link, or a file that is too large for its text.
            found = self.tree(commit).look(place.path)
            if isinstance(found, Content) and (old := _matching_content(found, place, observed)):
                return old
        for step in self.versions(place.path):
            text = self.text(step.new, place.path)
            if text is not None and (old := _matching(text, place, observed)):
                return old
        return None

    def versions(self, path: str) -> Sequence[Step]:
        """Return the changes that left a version of a file, the newest first."""
        return [step for step in self.steps(path) if step.new is not None][:_MOST_VERSIONS]

    def first_version(self, path: str) -> Text | None:
        """Return a file as the first known commit added it."""
        added = [step for step in self.steps(path) if step.status == "A"]
        return self.text(added[-1].new, path) if added else None

    def changed_by(self, places: Sequence[Place], rename: Rename | None) -> Author | None:
        """Return the last commit that changed a part of a file.

        `places` has the part under its current name and path, and under the earlier ones.
        """
        return next((step.by for step in self._chain(places, rename) if self._differs(step, places)), None)

    def removed_by(self, place: Place) -> Author | None:
        """Return the last commit that removed a part of a file, or the file."""
        for step in self._chain((place,), None):
            if isinstance(place, File) or step.new is None:
                if step.new is None and self._part(step.old, step.path, (place,)) is not None:
                    return step.by
            elif _defines(self._part(step.old, step.path, (place,))) and not _defines(
                self._part(step.new, step.new_path, (place,))
            ):
                return step.by
        return None

    def lines_lost_by(self, lines: bytes, path: str, rename: Rename | None) -> Author | None:
        """Return the last commit after which a file no longer had these lines."""
        for step in self._chain((File(path),), rename):
            before, after = self.text(step.old, step.path), self.text(step.new, step.new_path)
            if before is not None and lines in before.data and (after is None or lines not in after.data):
                return step.by
        return None

    def _chain(self, places: Sequence[Place], rename: Rename | None) -> Iterator[Step]:
        """Yield the changes of a file under all its names. Merges come last, because they repeat other changes."""
        steps = list(self.steps(places[0].path))
        for step in rename.steps if rename is not None else ():
            halves = {(step.by.commit, step.path), (step.by.commit, step.new_path)}
            steps = [one for one in steps if (one.by.commit, one.path) not in halves]
            before = [one for one in self.steps(step.path) if (one.by.commit, one.path) not in halves]
            steps += [step, *before]
        for place in places[1:]:
            steps += [one for one in self.steps(place.path) if one not in steps]
        yield from [one for one in steps if not one.by.is_merge][:_MOST_VERSIONS]
        yield from [one for one in steps if one.by.is_merge][:_MOST_VERSIONS]

    def _differs(self, step: Step, places: Sequence[Place]) -> bool:
        after = self._part(step.new, step.new_path, places)
        if after is None:
            return False
        before = self._part(step.old, step.path, places)
        return before is None or not same(before, after)

    def _part(self, oid: ObjectId | None, path: str, places: Sequence[Place]) -> Part | None:
        text = self.text(oid, path)
        if text is None:
            return None
        found = (parts.at(text, place) for place in places)
        return next((one for one in found if one is not None), None)

    def _read_text(self, oid: ObjectId, path: str) -> Text | None:
        try:
            data = self._reader.read(oid)
        except EOFError:
            return None
        return Text(path, data) if data is not None and len(data) <= LARGEST else None


def same(one: Part, other: Part) -> bool:
    """True if two parts differ only in comments and layout."""
    if one.content == other.content:
        return True
    first, second = one.meaning, other.meaning
    return first is not None and second is not None and first.digest == second.digest


def _defines(part: Part | None) -> bool:
    """True if a part is there, and isn't only mentioned."""
    return part is not None and bool(part.definitions)


def _matching(text: Text, place: Place, observed: Observation) -> Old | None:
    """Return the file if it has the observed content."""
    if isinstance(place, File):
        is_same = content_of(place.path, text.data).digest == observed.content
        return Old(text, parts.at(text, place)) if is_same else None
    part = parts.at(text, place)
    return Old(text, part) if part is not None and part.content == observed.content else None


def _matching_content(content: Content, place: Place, observed: Observation) -> Old | None:
    if content.data is not None:
        return _matching(Text(place.path, content.data), place, observed)
    is_same = isinstance(place, File) and content.digest == observed.content
    return Old(None, None) if is_same else None
