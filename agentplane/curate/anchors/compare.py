"""The comparison of recorded evidence with the work tree."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from agentplane.curate.anchors import line_map, moved_lines, parts, search, text_blocks
from agentplane.curate.anchors.now import Now
from agentplane.curate.anchors.observe import observe, of_place
from agentplane.curate.anchors.part_diff import diff_of
from agentplane.curate.anchors.parts import Part, Text
from agentplane.curate.anchors.past import Old, Past, Rename
from agentplane.curate.anchors.reasons import REASONS
from agentplane.curate.anchors.states import (
    CantTell,
    Change,
    Changed,
    Gone,
    Moved,
    Reformatted,
    State,
    Unbound,
    Unchanged,
)
from agentplane.curate.anchors.tree import Absent, Content, Problem, content_of
from agentplane.curate.recorded import Observed
from agentplane.memory import evidence as forms
from agentplane.memory.evidence import Commit, File, Heading, Lines, Outside, Place, Symbol
from agentplane.plane.git.code_history import Author
from agentplane.plane.git.git import ObjectId
from agentplane.plane.git.object_reader import ObjectReader
from agentplane.plane.store.records import Observation


_OTHER = 0.3
_UNCOMPARABLE: frozenset[str] = frozenset(
    ("outside", "submodule", "special", "unreadable", "too-large", "binary", "no-git", "no-commit")
)
"""Problems at the approval because of which a piece of evidence can never be compared."""


def states(observed: Observed, project: Path, evidence: Sequence[str] = ()) -> list[State]:
    """Return the state of each piece of an entry's evidence.

    `evidence` is needed if no state was recorded. Then Git has the state in the commit of the approval.
    """
    with comparison(project, observed.commit) as compared:
        return compared.states(observed, evidence)


@contextmanager
def comparison(project: Path, since: str | None) -> "Iterator[Comparison]":
    """Yield a comparison for many entries. `since` is a commit before all of their approvals."""
    with ObjectReader(project) as reader:
        oldest = reader.commit(since) if since else None
        past = Past(project, reader, oldest)
        yield Comparison(project, past)


class Comparison:
    """A comparison of evidence with the current files. It reads each file and commit once."""

    def __init__(self, project: Path, past: Past) -> None:
        self._project = project
        self._past = past
        self._now = Now(project, past)

    def states(self, observed: Observed, evidence: Sequence[str]) -> list[State]:
        if observed.evidence is None:
            return [self.state_of(text, None, observed.commit) for text in evidence]
        return [self.state_of(one.evidence, one, observed.commit) for one in observed.evidence]

    def state_of(self, evidence: str, observed: Observation | None, commit: str | None) -> State:
        """Return the state of one piece of evidence. If no operation recorded its earlier state, the commit has it."""
        if observed is None:
            (observed,) = self.derived([evidence], commit)
        return self.state(observed, self._past.commit(commit))

    def prepare(self, evidence: Sequence[str]) -> None:
        """Ask Git about many pieces of evidence together, before their states are determined one by one."""
        places = [one for text in evidence if isinstance(one := forms.parse(text, self._now.exists), Place)]
        self._past.load([place.path for place in places])
        self._now.load_names(
            [
                text_blocks.last_part(place.name)
                for place in places
                if isinstance(place, Symbol | Heading) and not self._has_name(place)
            ]
        )

    def _has_name(self, place: Symbol | Heading) -> bool:
        text = self._now.text(place.path)
        return text is not None and not text.is_binary and parts.is_defined(text, place.name)

    def derived(self, evidence: Sequence[str], commit: str | None) -> list[Observation]:
        """Return the state that evidence had in a commit."""
        known = self._past.commit(commit)
        if known is None:
            problem: Problem = "no-git" if self._past.head is None else "no-commit"
            return [Observation(text, problem=problem) for text in evidence]
        tree = self._past.tree(known)
        return [self._since_added(one, known) for one in observe(evidence, tree)]

    def _since_added(self, observed: Observation, commit: ObjectId) -> Observation:
        """Return the state in the first commit that has the file, if the approval came before that commit."""
        place = self._place(observed, commit)
        is_absent = observed.problem == "missing" and observed.file is None
        if not isinstance(place, Place) or not (is_absent or observed == Observation(observed.evidence)):
            return observed
        text = self._past.first_version(place.path)
        return of_place(observed.evidence, place, content_of(place.path, text.data)) if text else observed

    def state(self, observed: Observation, commit: ObjectId | None) -> State:
        """Return what became of one piece of evidence."""
        text = observed.evidence
        reference = self._place(observed, commit)
        match reference:
            case Commit(name=name):
                return self._of_commit(text, name)
            case Outside():
                return CantTell(text, text, REASONS["outside"])
            case File() | Lines() | Symbol() | Heading() as place:
                return self._of_place(observed, place, commit)
            case _:
                return Unbound(text, text)

    def _place(self, observed: Observation, commit: ObjectId | None) -> forms.Reference:
        def exists(path: str) -> bool:
            return self._now.exists(path) or (commit is not None and self._past.exists(commit, path))

        was_path = observed.content is not None or observed.file is not None
        return forms.parse(observed.evidence, exists, was_path=was_path)

    def _of_commit(self, text: str, name: str) -> State:
        found = self._past.state_of_commit(name)
        if found is None:
            return CantTell(text, text, REASONS["no-git"])
        match found:
            case "here":
                return Unbound(text, text)
            case "unknown":
                if self._past.is_shallow:
                    return CantTell(text, text, REASONS["shallow"])
                return Gone(text, Change(text, ""))
            case Author() as by:
                return Moved(text, by.commit[:12], _change(by.commit[:12], "", by))

    # Files

    def _of_place(self, observed: Observation, place: Place, commit: ObjectId | None) -> State:
        text = observed.evidence
        if observed.problem in _UNCOMPARABLE and observed.content is None:
            return CantTell(text, text, REASONS[observed.problem])
        now = self._now.look(place.path)
        if observed.content is None:
            return self._of_nothing(observed, place, now)
        if isinstance(now, Absent):
            if now.problem in ("missing", "folder"):
                return self._of_missing_file(observed, place, commit)
            return CantTell(text, text, REASONS[now.problem])
        return self._in_file(observed, place, place, now, commit, None)

    def _of_nothing(self, observed: Observation, place: Place, now: Content | Absent) -> State:
        """Return the state of evidence that had no content, such as a folder."""
        text = observed.evidence
        if observed.problem != "folder":
            why = observed.problem == "syntax"
            return CantTell(text, text, REASONS["syntax"]) if why else Unbound(text, text)
        if isinstance(now, Content) or now.problem == "folder":
            return Unchanged(text, text)
        if now.problem != "missing":
            return CantTell(text, text, REASONS[now.problem])
        folder = place.path.rstrip("/")
        if new := self._past.renamed_folder(folder):
            return Moved(text, new)
        if self._now.is_hidden(folder):
            return CantTell(text, text, REASONS["not-checked-out"])
        return Gone(text, Change(folder, ""))

    def _in_file(
        self,
        observed: Observation,
        was: Place,
        place: Place,
        now: Content,
        commit: ObjectId | None,
        rename: Rename | None,
    ) -> State:
        """Return the state of evidence whose file exists, perhaps under another name.

        `was` is the place in the evidence, and `place` is the same place in the current file.
        """
        if now.digest == (observed.content if isinstance(place, File) else observed.file):
            return self._kept(observed, was, place, rename)
        if isinstance(place, File):
            return self._of_whole_file(observed, was, place, now, commit, rename)
        if now.data is None:
            return CantTell(observed.evidence, observed.evidence, REASONS["too-large"])
        text = self._now.text(place.path)
        if text is None or text.is_binary:
            return CantTell(observed.evidence, observed.evidence, REASONS["binary"])
        old = self._past.old(observed, was, commit)
        if isinstance(place, Lines):
            return self._of_lines(observed, was, place, text, old, commit, rename)
        return self._of_definition(observed, was, place, text, old, commit, rename)

    def _kept(self, observed: Observation, was: Place, place: Place, rename: Rename | None) -> State:
        """Return the state of evidence with the observed content."""
        if place == was:
            return Unchanged(observed.evidence, observed.evidence)
        by = rename.steps[0].by if rename is not None and rename.steps else None
        now = _shown(place)
        return Moved(observed.evidence, now, _change(now, "", by, is_committed=by is not None))

    def _of_whole_file(
        self,
        observed: Observation,
        was: Place,
        place: File,
        now: Content,
        commit: ObjectId | None,
        rename: Rename | None,
    ) -> State:
        old = self._past.old(observed, was, commit)
        text = self._now.text(place.path)
        if text is not None and not text.is_binary:
            part = parts.at(text, place)
            if part is not None and self._means_the_same(observed, old, part):
                if place != was:
                    return self._kept(observed, was, place, rename)
                return Reformatted(observed.evidence, observed.evidence)
        is_other = place == was and _is_other(old.text if old is not None else None, text)
        if is_other and (new := self._now.copy_of(observed, was.path, commit)):
            return Moved(observed.evidence, new)
        part = parts.at(text, place) if text is not None and not text.is_binary else None
        return self._changed(observed, was, place, part, old, rename)

    def _of_definition(
        self,
        observed: Observation,
        was: Place,
        place: Symbol | Heading,
        text: Text,
        old: Old | None,
        commit: ObjectId | None,
        rename: Rename | None,
    ) -> State:
        part = parts.named(text, place.name)
        if part is not None and part.content == observed.content:
            return self._kept(observed, was, place, rename)
        was_defined = _was_defined(observed, old)
        if part is not None and (part.definitions or not was_defined):
            if self._means_the_same(observed, old, part):
                kept = self._kept(observed, was, place, rename)
                return (
                    Reformatted(observed.evidence, observed.evidence) if isinstance(kept, Unchanged) else kept
                )
            if part.definitions and part.meaning is None:
                return self._after_error(observed, text, REASONS["syntax"])
            if old is None and not _comparable(observed, part):
                return self._after_error(observed, text, REASONS["no-text"])
            return self._changed(observed, was, place, part, old, rename)
        if text.source.error_line is not None and parts.has_word(text, place.name):
            return self._after_error(observed, text, REASONS["syntax"])
        return self._search(observed, was, place, old, commit)

    def _after_error(self, observed: Observation, text: Text, why: str) -> State:
        """Return the state if the file can't be parsed. Only identical text is known to be unchanged."""
        spans = moved_lines.windows(text, observed.content or "", observed.lines)
        if spans:
            return Unchanged(observed.evidence, observed.evidence)
        return CantTell(observed.evidence, observed.evidence, why)

    def _of_lines(
        self,
        observed: Observation,
        was: Place,
        place: Lines,
        text: Text,
        old: Old | None,
        commit: ObjectId | None,
        rename: Rename | None,
    ) -> State:
        found = moved_lines.follow(observed, place, text, old)
        if found is None:
            return CantTell(observed.evidence, observed.evidence, REASONS["no-text"])
        there = Lines(place.path, *found.span) if found.span is not None else None
        part = parts.at(text, there) if there is not None else None
        if there is not None and part is not None:
            means_the_same = (
                found.is_same
                or self._means_the_same(observed, old, part)
                or moved_lines.is_same_definition(old.part if old is not None else None, part)
            )
            if means_the_same and there == was:
                kind = Unchanged if found.is_same else Reformatted
                return kind(observed.evidence, observed.evidence)
            if means_the_same:
                return self._kept(observed, was, there, rename)
        if (hit := self._lines_elsewhere(observed, was, place.path, old, commit)) is not None:
            return hit
        if there is None:
            by = self._lost_by(old, was.path, place.path, rename)
            return Gone(observed.evidence, self._removal(observed, was, old, by))
        return self._changed(observed, was, there, part, old, rename)

    def _lines_elsewhere(
        self, observed: Observation, was: Place, path: str, old: Old | None, commit: ObjectId | None
    ) -> State | None:
        """Return the state of lines that are in another file, or that were a definition with another name."""
        if old is None or old.text is None or old.part is None:
            return None
        files = self._now.as_of(commit)
        hit = self._definition_elsewhere(old.text, old.part, path, files)
        if hit is not None:
            return Moved(observed.evidence, forms.lines_shown(hit.path, hit.part.first, hit.part.last))
        part = moved_lines.elsewhere(old, files, path)
        if part is None:
            return None
        there = Lines(part.text.path, part.first, part.last)
        if old.part.as_text == part.as_text or self._means_the_same(observed, old, part):
            return Moved(observed.evidence, _shown(there))
        return self._changed(observed, was, there, part, old, None)

    def _definition_elsewhere(
        self, before: Text, lines: Part, path: str, files: search.Files
    ) -> search.Hit | None:
        """Return the new place of the definition that lines consist of."""
        definition = moved_lines.definition_in(before, lines.first, lines.last)
        text = self._now.text(path)
        if definition is None or (text is not None and parts.is_defined(text, definition.name)):
            return None
        part = parts.part_of(before, definition)
        meaning = part.meaning.digest if part.meaning is not None else None
        wanted = search.Wanted(path, definition.name, meaning, part.content, part, before)
        hit = search.find(wanted, files)
        return hit if hit is not None and hit.is_same else None

    # Missing

    def _of_missing_file(self, observed: Observation, place: Place, commit: ObjectId | None) -> State:
        text = observed.evidence
        if (kept := self._now.not_checked_out(place.path)) is not None:
            return self._in_file(observed, place, place, kept, commit, None)
        if self._now.is_hidden(place.path):
            return CantTell(text, text, REASONS["submodule"])
        old = self._past.old(observed, place, commit)
        if (rename := self._renamed(place.path, old)) is not None:
            found = self._now.look(rename.path)
            if isinstance(found, Content):
                there = _at(place, rename.path)
                return self._in_file(observed, place, there, found, commit, rename)
        if isinstance(place, File):
            if new := self._now.copy_of(observed, place.path, commit):
                return Moved(text, new)
        elif isinstance(place, Symbol | Heading):
            found_state = self._search(observed, place, place, old, commit)
            if not isinstance(found_state, Gone):
                return found_state
        elif (lines_state := self._lines_elsewhere(observed, place, place.path, old, commit)) is not None:
            return lines_state
        if self._past.is_shallow and not self._past.steps(place.path):
            return CantTell(text, text, REASONS["shallow"])
        if self._past.head and commit and old is None and not self._past.steps(place.path):
            return CantTell(text, text, REASONS["untracked"])
        by = self._past.removed_by(File(place.path))
        return Gone(text, self._removal(observed, place, old, by))

    def _renamed(self, path: str, old: Old | None) -> Rename | None:
        rename = self._past.renamed(path)
        if rename is not None and self._now.exists(rename.path):
            return rename
        # A file that was moved after the last commit isn't in Git yet.
        last = rename.path if rename is not None else path
        if old is None or old.text is None:
            return None
        new = self._now.untracked_copy(last, old.text)
        return Rename(new, rename.steps if rename is not None else ()) if new else None

    def _search(
        self,
        observed: Observation,
        was: Place,
        place: Symbol | Heading,
        old: Old | None,
        commit: ObjectId | None,
    ) -> State:
        """Look for a definition that is no longer in its file."""
        wanted = search.Wanted(
            place.path,
            place.name,
            _meaning(observed, old),
            observed.content or "",
            old.part if old is not None else None,
            old.text if old is not None else None,
        )
        hit = search.find(wanted, self._now.as_of(commit))
        if hit is None:
            by = self._past.removed_by(place) if self._past.head else None
            return Gone(observed.evidence, self._removal(observed, was, old, by))
        there = _renamed_symbol(place, hit)
        if hit.is_same:
            by = self._past.removed_by(place) if self._past.head else None
            now = _shown(there)
            return Moved(observed.evidence, now, _change(now, "", by, is_committed=by is not None))
        return self._changed(observed, was, there, hit.part, old, None)

    # Parts of states

    def _changed(
        self,
        observed: Observation,
        was: Place,
        place: Place,
        part: Part | None,
        old: Old | None,
        rename: Rename | None,
    ) -> Changed:
        by, is_committed = self._changed_by(was, place, part, old, rename)
        before = old.part if old is not None else None
        where = f"{place.path}:{part.spans[0][0]}" if part is not None else place.path
        diff = diff_of(before, part, was.path, place.path)
        return Changed(
            observed.evidence,
            _shown(place, was, observed),
            _change(where, diff, by, is_committed=is_committed),
        )

    def _changed_by(
        self, was: Place, place: Place, part: Part | None, old: Old | None, rename: Rename | None
    ) -> tuple[Author | None, bool]:
        """Return the commit that changed a part, and whether the change is committed."""
        if self._past.head is None:
            return None, False
        if not self._now.is_committed(place, part):
            return None, False
        if isinstance(place, Lines):
            return self._lost_by(old, was.path, place.path, rename), True
        return self._past.changed_by((place, was), rename), True

    def _lost_by(self, old: Old | None, was: str, path: str, rename: Rename | None) -> Author | None:
        if self._past.head is None or old is None or old.part is None or old.text is None:
            return None
        return self._past.lines_lost_by(old.text.cut(old.part.spans), path, rename)

    def _removal(self, observed: Observation, place: Place, old: Old | None, by: Author | None) -> Change:
        part = old.part if old is not None else None
        where = f"{place.path}:{part.spans[0][0]}" if part is not None else place.path
        diff = diff_of(part, None, place.path, place.path)
        return _change(where, diff, by, is_committed=by is not None)

    def _means_the_same(self, observed: Observation, old: Old | None, part: Part) -> bool:
        """True if a part differs from what was observed only in comments and layout."""
        now = part.meaning
        if now is None:
            return False
        before = _meaning(observed, old, like=now.digest)
        return before == now.digest


def _meaning(observed: Observation, old: Old | None, like: str | None = None) -> str | None:
    """Return the meaning that was observed, from the old text if it was recorded in another way or not at all."""
    way = like.partition(":")[0] if like else None
    recorded = observed.meaning
    if recorded is not None and (way is None or recorded.partition(":")[0] == way):
        return recorded
    part = old.part if old is not None else None
    found = part.meaning if part is not None else None
    return found.digest if found is not None else recorded


def _is_other(before: Text | None, now: Text | None) -> bool:
    """True if a file has so little of its old text that the old file may have moved, and a new one taken its place."""
    if before is None or now is None or before.is_binary or now.is_binary:
        return True
    return line_map.similarity(before.plain.splitlines(), now.plain.splitlines()) < _OTHER


def _comparable(observed: Observation, part: Part) -> bool:
    """True if the recorded meaning was made in the same way as the meaning of a part."""
    now = part.meaning
    return (
        now is not None
        and observed.meaning is not None
        and observed.meaning.partition(":")[0] == now.digest.partition(":")[0]
    )


def _was_defined(observed: Observation, old: Old | None) -> bool:
    """True if the evidence named a definition, and not only words of the file."""
    if old is not None and old.part is not None:
        return bool(old.part.definitions)
    return observed.meaning is None or not observed.meaning.partition(":")[0].endswith("t")


def _at(place: Place, path: str) -> Place:
    return msgspec.structs.replace(place, path=path)


def _renamed_symbol(place: Symbol | Heading, hit: search.Hit) -> Place:
    is_same_name = text_blocks.last_part(hit.name) == text_blocks.last_part(place.name)
    written = ".".join(text_blocks.parts_of(place.name))
    keeps = is_same_name and (hit.name == written or hit.name.endswith(f".{written}"))
    return msgspec.structs.replace(place, path=hit.path, name=place.name if keeps else hit.name, line=None)


def _shown(place: Place, was: Place | None = None, observed: Observation | None = None) -> str:
    if observed is not None and place == was:
        return observed.evidence
    return forms.shown(place, place.path)


def _change(where: str, diff: str, by: Author | None, *, is_committed: bool = True) -> Change:
    if by is None:
        return Change(where, diff, is_committed=is_committed)
    return Change(where, diff, by.commit, by.name, by.date, by.subject)
