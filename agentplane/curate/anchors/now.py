"""The current files of a project, each read once, and searches for missing code."""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from agentplane.curate.anchors import line_map, parts
from agentplane.curate.anchors.parts import Part, Text
from agentplane.curate.anchors.past import Past, same
from agentplane.curate.anchors.tree import Absent, Content, WorkTree
from agentplane.memory.evidence import File, Lines, Place
from agentplane.plane.git import code_history
from agentplane.plane.git.git import ObjectId
from agentplane.plane.store.records import Observation


_CONTENTS_KEPT = 256
_MOST_UNTRACKED = 500
_MOST_WALKED = 5_000
_LARGEST_COMPARED = 1 << 20
_SIMILAR = 0.5


class Now:
    """The work tree, and the checked-out commit for files that Git doesn't check out."""

    def __init__(self, project: Path, past: Past) -> None:
        self._project = project
        self._past = past
        self._tree = WorkTree(project)
        self._named: dict[str, list[str]] = {}
        self.look = lru_cache(_CONTENTS_KEPT)(self._tree.look)
        self.text = lru_cache(_CONTENTS_KEPT)(self._read_text)

    def exists(self, path: str) -> bool:
        return self._tree.exists(path)

    def naming(self, word: str) -> Sequence[str]:
        """Return the files that contain a word."""
        if word not in self._named:
            self.load_names([word])
        return self._named.get(word, [])

    def load_names(self, words: Sequence[str]) -> None:
        """Search for words together, which is faster than one by one."""
        wanted = [word for word in words if word not in self._named]
        if not wanted:
            return
        found = code_history.naming(self._project, wanted) if self._past.head else None
        if found is None:
            found = self._walked(wanted)
        self._named |= {word: sorted(found.get(word, ())) for word in wanted}

    def as_of(self, commit: ObjectId | None) -> "AsOf":
        """Return the files for a search that compares them with an earlier commit."""
        return AsOf(self, self._past, commit)

    def not_checked_out(self, path: str) -> Content | None:
        """Return a file that Git leaves out of the work tree, from the checked-out commit."""
        if self._past.head is None or path not in self._past.not_checked_out:
            return None
        found = self._past.tree(self._past.head).look(path)
        return found if isinstance(found, Content) else None

    def is_hidden(self, path: str) -> bool:
        """True if a path is in a submodule."""
        return any(path == one or path.startswith(f"{one}/") for one in self._past.head_files.submodules)

    def is_committed(self, place: Place, part: Part | None) -> bool:
        """True if the checked-out commit has the same part as the work tree."""
        if self._past.head is None:
            return False
        committed = self._past.tree(self._past.head).look(place.path)
        current = self.look(place.path)
        if isinstance(committed, Absent) or isinstance(current, Absent):
            return isinstance(current, Absent) and isinstance(committed, Content)
        if committed.digest == current.digest:
            return True
        if committed.data is None or part is None or isinstance(place, File):
            return False
        text = Text(place.path, committed.data)
        if isinstance(place, Lines):
            return part.text.cut(part.spans) in committed.data
        other = parts.at(text, place)
        return other is not None and same(part, other)

    def copy_of(self, observed: Observation, path: str, commit: ObjectId | None) -> str | None:
        """Return the only new file with the observed content, for a file that is missing or new."""
        if self._past.head is None:
            return self._same_file_by_walk(observed, path)
        if commit is None:
            return None
        oid = self._past.oid(commit, path)
        if oid is None:
            return None
        found = [
            other
            for other in self._past.head_files.having(oid)
            if other != path and self._past.oid(commit, other) is None and self.exists(other)
        ]
        found = [other for other in found if self._has(other, observed)]
        if not found:
            found = [other for other in self._past.untracked[:_MOST_UNTRACKED] if self._has(other, observed)]
        return found[0] if len(found) == 1 else None

    def untracked_copy(self, path: str, old: Text) -> str | None:
        """Return the new file, not committed yet, to which a missing file was moved."""
        ending = os.path.splitext(path)[1]
        new = [one for one in self._past.untracked if os.path.splitext(one)[1] == ending]
        lines = old.plain.splitlines()
        rated = []
        for one in new[:_MOST_UNTRACKED]:
            text = self.text(one)
            if text is not None and not text.is_binary and len(text.data) <= _LARGEST_COMPARED:
                likeness = (
                    1.0 if text.data == old.data else line_map.similarity(lines, text.plain.splitlines())
                )
                rated.append((likeness, one))
        best = max(rated, default=(0.0, ""))
        return best[1] if best[0] >= _SIMILAR else None

    def _has(self, path: str, observed: Observation) -> bool:
        found = self.look(path)
        return isinstance(found, Content) and found.digest == observed.content

    def _same_file_by_walk(self, observed: Observation, path: str) -> str | None:
        ending = os.path.splitext(path)[1]
        found = [
            one for one in self._files() if os.path.splitext(one)[1] == ending and self._has(one, observed)
        ]
        return found[0] if len(found) == 1 else None

    def _walked(self, words: Sequence[str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {word: set() for word in words}
        for path in self._files():
            text = self.text(path)
            for word in words if text is not None and not text.is_binary else ():
                if text is not None and parts.has_word(text, word):
                    found[word].add(path)
        return found

    def _files(self) -> Sequence[str]:
        """Return files of a project without Git. Hidden folders are left out."""
        found: list[str] = []
        for folder, below, names in os.walk(self._tree.root):
            below[:] = sorted(one for one in below if not one.startswith(".") and one != "node_modules")
            found += [os.path.relpath(os.path.join(folder, name), self._tree.root) for name in sorted(names)]
            if len(found) > _MOST_WALKED:
                break
        return found[:_MOST_WALKED]

    def _read_text(self, path: str) -> Text | None:
        found = self.look(path)
        if isinstance(found, Absent):
            kept = self.not_checked_out(path)
            return Text(path, kept.data) if kept is not None and kept.data is not None else None
        return Text(path, found.data) if found.data is not None else None


class AsOf(msgspec.Struct, frozen=True):
    """The current files, with their texts in an earlier commit."""

    now: Now
    past: Past
    commit: ObjectId | None

    @property
    def knows_before(self) -> bool:
        return self.commit is not None

    def text(self, path: str) -> Text | None:
        return self.now.text(path)

    def before(self, path: str) -> Text | None:
        found = self.past.tree(self.commit).look(path) if self.commit is not None else None
        return Text(path, found.data) if isinstance(found, Content) and found.data is not None else None

    def naming(self, word: str) -> Sequence[str]:
        return self.now.naming(word)

    def load_names(self, words: Sequence[str]) -> None:
        self.now.load_names(words)
