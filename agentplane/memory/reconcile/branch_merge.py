"""The plan of one operation that merges branches, with new ids for double ones and candidates for double
changes.

The plan depends on the events alone and never on the order of the log, so every clone gets the same plan.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec

from agentplane.memory import ids
from agentplane.memory.entry import POSTPONING, REFERENCES
from agentplane.memory.reconcile.notes import ChangedTwice, Note, Renumbered, SameCandidate, SupersededTwice
from agentplane.memory.reconcile.replaced_text import (
    as_candidate,
    candidate_id,
    fields,
    id_of,
    listed,
    says_the_same,
)
from agentplane.memory.view import Memory
from agentplane.plane.git import merge_entries
from agentplane.plane.layout import INBOX
from agentplane.plane.ledger import text_versions, union_cleanup
from agentplane.plane.ledger.event_graph import EventGraph
from agentplane.plane.ledger.text_versions import Version
from agentplane.plane.store.plan import Edit, Plan
from agentplane.text.markdown import document, header


VERB = "settle"

History = Mapping[str, Sequence[Version]]


class Story(msgspec.Struct, frozen=True):
    """The history of every id in the log."""

    graph: EventGraph
    versions: History

    def digests(self, id_: str) -> set[str]:
        """Return the digests of all texts that an operation ever recorded for an id."""
        found = self.versions.get(id_, ())
        return {digest for v in found for digest in (v.digest, v.before) if digest}


class _Entity(msgspec.Struct, frozen=True):
    """One entry. Another branch may have given its id to another entry."""

    id: str
    root: Version
    tips: tuple[Version, ...]

    @property
    def age(self) -> tuple[str, str, str]:
        return self.root.ts, self.root.op, self.id

    @property
    def key(self) -> tuple[str, int]:
        return self.id, self.root.place


class Joined(msgspec.Struct, frozen=True):
    """The plan that merges branches, with notes about entries that both branches changed."""

    plan: Plan
    notes: tuple[Note, ...]


def _joined(edits: Sequence[Edit], notes: Sequence[Note]) -> Joined | None:
    if not edits:
        return None
    return Joined(Plan(VERB, edits, why=". ".join(map(str, notes)) or None), tuple(notes))


def join(memory: Memory, story: Story) -> Joined | None:
    """Return the plan that merges the branches, or None if nothing has to be written."""
    merge = _BranchMerge(memory, story)
    merge.plan_all()
    return _joined(list(merge.edits.values()), merge.notes)


class _BranchMerge:
    """Mutable state of `join`."""

    def __init__(self, memory: Memory, story: Story) -> None:
        self.memory = memory
        self.story = story
        self.snapshot = memory.snapshot
        self.ledger = memory.snapshot.ledger
        self.edits: dict[str, Edit] = {}
        self.notes: list[Note] = []
        self.texts: dict[str, tuple[bytes, Version]] = {}
        """The text that this operation writes for an id, and the version that it comes from."""
        self.moved: dict[str, dict[int, str]] = {}
        """The current id of each entry, by its old id and the place of its root."""
        self.numbers: dict[str, int] = {}

    def plan_all(self) -> None:
        entities = {id_: self._entities(id_) for id_ in self._ids_to_merge()}
        gone = self._twins(entities)
        for id_ in sorted(self.ledger.met.keys() | {id_ for id_, _ in gone}):
            self._merge_entities(id_, [e for e in entities[id_] if e.key not in gone])
        self._follow_references()
        self._join_successors()
        self._put_in_files()
        self._take_in_doubled()

    def _ids_to_merge(self) -> set[str]:
        """Return the ids with versions on several branches, and the ids of entries from one candidate."""
        approved_from: dict[str, set[str]] = {}
        for id_, found in self.story.versions.items():
            for version in found:
                if version.was and version.before is None and version.digest:
                    approved_from.setdefault(version.was, set()).add(id_)
        twins = {id_ for group in approved_from.values() if len(group) > 1 for id_ in group}
        return twins | self.ledger.met.keys()

    def _entities(self, id_: str) -> list[_Entity]:
        """Return the entries that an id means, the oldest first."""
        found, graph = self.story.versions[id_], self.story.graph
        tips = text_versions.live(found, graph)
        if len(tips) > 1 and tips[0].file != INBOX and text_versions.common(found, tips, graph) is None:
            groups: dict[int, list[Version]] = {}
            roots = {}
            for tip in tips:
                root = text_versions.root(tip, found, graph)
                roots[root.place] = root
                groups.setdefault(root.place, []).append(tip)
            entities = [_Entity(id_, roots[place], tuple(group)) for place, group in groups.items()]
            return sorted(_one_each(entities), key=lambda entity: entity.age)
        return [_Entity(id_, text_versions.root(tips[0], found, graph), tuple(tips))]

    def _twins(self, entities: Mapping[str, list[_Entity]]) -> dict[tuple[str, int], _Entity]:
        """Find entries that came from one candidate on two branches. The first one stays.

        Return the entries that go, with the entry that replaces each of them.
        """
        groups: dict[str, list[_Entity]] = {}
        for entity in (entity for found in entities.values() for entity in found):
            if entity.root.was and any(tip.digest for tip in entity.tips):
                groups.setdefault(entity.root.was, []).append(entity)
        gone: dict[tuple[str, int], _Entity] = {}
        for was, group in sorted(groups.items()):
            first, *rest = sorted(group, key=lambda entity: entity.age)
            for other in rest:
                if self._are_parallel(first.root, other.root):
                    gone[other.key] = first
                    self.moved.setdefault(other.id, {})[other.root.place] = first.id
                    self._leave_over(other.tips, first.tips[0], first.id)
                    self.notes.append(SameCandidate(was, first.id, other.id))
        return gone

    def _are_parallel(self, one: Version, other: Version) -> bool:
        graph = self.story.graph
        return not graph.reaches(one.place, other.place) and not graph.reaches(other.place, one.place)

    def _merge_entities(self, id_: str, entities: Sequence[_Entity]) -> None:
        if not entities:
            mark = self.ledger.known[id_]
            self.edits[id_] = Edit(id_, mark.file, None)
            return
        first, *rest = entities
        self._settle_one(id_, first, None)
        self.moved.setdefault(id_, {})[first.root.place] = id_
        for other in rest:
            new = self._next_id(id_)
            self._settle_one(new, other, id_)
            self.moved[id_][other.root.place] = new
            self.notes.append(Renumbered(id_, new))

    def _settle_one(self, id_: str, entity: _Entity, was: str | None) -> None:
        """Keep one text, and leave the others in the inbox."""
        ranked = sorted(entity.tips, key=self._rank, reverse=True)
        texts = [(tip, self._text(tip)) for tip in ranked]
        winner, text = next(((tip, text) for tip, text in texts if text or not tip.digest), texts[0])
        if text is None and winner.digest is not None:
            return  # its texts were pruned everywhere
        if text is not None and was:
            text = header.set_fields(text, {"id": id_})
        self._put(id_, winner, text, was)
        self._leave_over([tip for tip in ranked if tip is not winner], winner, id_ if text else None)

    def _rank(self, tip: Version) -> tuple[int, str, str]:
        """Return the sort key of a version. A higher key wins.

        In the inbox, a text wins over a removal, unless the branch with the text only postponed the
        candidate. In memory, a removal wins, then a status other than accepted.
        """
        if tip.file == INBOX:
            return 0 if self._only_postpones(tip) else 1 if tip.digest is None else 2, tip.ts, tip.op
        text = self._text(tip)
        if text is None:
            return 2, tip.ts, tip.op
        return int(fields(text).get("status") != "accepted"), tip.ts, tip.op

    def _only_postpones(self, tip: Version) -> bool:
        """True if a candidate has the proposed text and was sent back or snoozed."""
        text = self._text(tip)
        if text is None or fields(text).keys().isdisjoint(POSTPONING):
            return False
        root = text_versions.root(tip, self.story.versions[id_of(text)], self.story.graph)
        proposed = self._text(root)
        return proposed is not None and says_the_same(text, proposed)

    def _leave_over(self, tips: Iterable[Version], winner: Version, into: str | None) -> None:
        """Make candidates of the texts of the other branches, unless the winner says the same."""
        winning_text = self._text(winner)
        for tip in tips:
            text = self._text(tip)
            if tip.file == INBOX and self._only_postpones(tip):
                continue
            if text is not None and (winning_text is None or not says_the_same(text, winning_text)):
                candidate = self._propose(id_of(text), text, into if tip.file != INBOX else None)
                self.notes.append(ChangedTwice(into or id_of(text), candidate))

    def _propose(
        self, id_: str, text: bytes, into: str | None, other: Mapping[str, Any] | None = None
    ) -> str:
        new_id = candidate_id(id_, document.digest(text))
        if new_id not in self.ledger.known:
            candidate = as_candidate(text, new_id, into)
            self.edits[new_id] = Edit(
                new_id, INBOX, header.set_fields(candidate, other) if other else candidate
            )
        return new_id

    def _put(self, id_: str, winner: Version, text: bytes | None, was: str | None) -> None:
        current = self.snapshot.core(winner.file, id_)
        if current is not None and was is None and self._is_kept_nowhere(id_, current):
            self._propose(id_, current, id_ if text and winner.file != INBOX else None)
        self.edits[id_] = Edit(id_, winner.file, text, was=was)
        if text is not None:
            self.texts[id_] = (text, winner)

    def _is_by_hand(self, id_: str, core: bytes) -> bool:
        return document.digest(core) not in self.story.digests(id_)

    def _is_kept_nowhere(self, id_: str, current: bytes) -> bool:
        """True if a person wrote the text in the file. Then it comes from no operation and isn't a Git merge
        of two texts.
        """
        if not self._is_by_hand(id_, current):
            return False
        found = self.story.versions[id_]
        tips = text_versions.live(found, self.story.graph)
        base = text_versions.common(found, tips, self.story.graph)
        old = (self._text(base) if base else None) or b""
        texts = [text for text in map(self._text, tips) if text is not None]
        return all(
            document.digest(current)
            not in map(document.digest, merge_entries.blend(_ended(old), _ended(one), _ended(other)))
            for one, other in combinations(texts, 2)
        )

    def _next_id(self, id_: str) -> str:
        prefix = id_.rpartition("-")[0]
        if prefix not in self.numbers:
            self.numbers[prefix] = ids.next_number(prefix, self.ledger.tops, self.memory.ids_in_files)
        self.numbers[prefix] += 1
        return ids.durable(prefix, self.numbers[prefix] - 1)

    def _text(self, version: Version) -> bytes | None:
        return None if version.digest is None else self.snapshot.text_of(version.op, version.digest)

    def _follow_references(self) -> None:
        """Update links to an entry that has another id now, in the texts that mean this entry."""
        moved = {id_ for id_, names in self.moved.items() if set(names.values()) != {id_}}
        if not moved:
            return
        for id_, (text, place) in sorted(self._standing_texts().items()):
            changes = {
                name: [self._current_id(link, place) if link in moved else link for link in links]
                for name in REFERENCES
                if moved & set(links := listed(fields(text).get(name)))
            }
            wanted = {name: links for name, links in changes.items() if links != listed(fields(text)[name])}
            if wanted:
                self._relink(id_, header.set_fields(text, wanted))

    def _join_successors(self) -> None:
        """Name the successors from both branches in an entry that both superseded, because both successors
        are in force.
        """
        graph = self.story.graph
        for id_, (text, _) in sorted(self._standing_texts().items()):
            tips = sorted(text_versions.ends(self.story.versions.get(id_, ()), graph), key=self._rank)
            if len(tips) < 2 or fields(text).get("status") != "superseded":
                continue
            named = [
                self._current_id(link, tip.place) if link in self.moved else link
                for tip in tips
                for link in listed(fields(self._text(tip) or b"").get("superseded_by"))
            ]
            edit = self.edits.get(id_)
            now = (edit.text if edit else None) or text
            wanted = list(dict.fromkeys(named))
            if wanted != listed(fields(now).get("superseded_by")):
                self._relink(id_, header.set_fields(now, {"superseded_by": wanted}))
                self.notes.append(SupersededTwice(id_, tuple(wanted)))

    def _standing_texts(self) -> dict[str, tuple[bytes, int]]:
        """Return the texts that count after this operation, each with the place of the event that
        wrote it.
        """
        found = {id_: (text, version.place) for id_, (text, version) in self.texts.items()}
        for id_, mark in self.ledger.known.items():
            links = self.memory.entries[id_].head if id_ in self.memory.entries else None
            named = links and {link for name in REFERENCES for link in getattr(links, name)}
            if mark.digest and id_ not in self.edits and named and named & self.moved.keys():
                text = self.snapshot.approved_text(id_)
                place = text_versions.live(self.story.versions[id_], self.story.graph)[0].place
                if text is not None:
                    found[id_] = (text, place)
        return found

    def _current_id(self, link: str, place: int) -> str:
        names = self.moved[link]
        known = [name for root, name in names.items() if self.story.graph.reaches(root, place)]
        if len(known) == 1:
            return known[0]
        if link in names.values():
            return link
        return names.get(min(names), link)

    def _relink(self, id_: str, text: bytes) -> None:
        if id_ in self.edits:
            self.edits[id_] = msgspec.structs.replace(self.edits[id_], text=text)
            return
        mark = self.ledger.known[id_]
        current = self.snapshot.core(mark.file, id_)
        if current is not None and self._is_by_hand(id_, current):
            # A manual edit stays a manual edit.
            edit = Edit(id_, mark.file, current, after=document.digest(text), after_text=text)
        else:
            edit = Edit(id_, mark.file, text)
        self.edits[id_] = edit

    def _put_in_files(self) -> None:
        """Restore texts that operations of only one branch wrote, if a manual merge left an older text or
        none.
        """
        for id_, found in sorted(self.story.versions.items()):
            if id_ in self.edits or not any(self.story.graph.apart(v.place) for v in found):
                continue
            mark = self.ledger.known[id_]
            current = self.snapshot.core(mark.file, id_)
            digest = None if current is None else document.digest(current)
            if digest == mark.digest or (current is not None and self._is_by_hand(id_, current)):
                continue
            text = self.snapshot.approved_text(id_)
            if text is not None or mark.digest is None:
                self.edits[id_] = Edit(id_, mark.file, text)

    def _take_in_doubled(self) -> None:
        """Make candidates of second texts of an id that no operation recorded. They are manual edits on two
        branches.
        """
        for file, page in self.snapshot.pages.items():
            for id_, core, _, _ in union_cleanup.doubled(page.document.data):
                if self._is_by_hand(id_, core):
                    # This text can't be looked up later, so the candidate gets no field that only a person
                    # decides.
                    self._propose(id_, core, None if file == INBOX else id_, {"pinned": header.DROP})


def _ended(text: bytes) -> bytes:
    return text + b"\n"


def _one_each(entities: Sequence[_Entity]) -> Iterator[_Entity]:
    """Combine entries with one id that came from one candidate. They are one entry that both branches
    changed.
    """
    groups: dict[object, list[_Entity]] = {}
    for entity in entities:
        groups.setdefault(entity.root.was or entity.key, []).append(entity)
    for group in groups.values():
        first = min(group, key=lambda entity: entity.age)
        yield _Entity(first.id, first.root, tuple(tip for entity in group for tip in entity.tips))
