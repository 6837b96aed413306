"""`plane.curator`, which finds approved entries that may no longer be true, and carries out remedies."""

import shlex
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, date
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import msgspec

from agentplane.api.committer import Committer, required
from agentplane.api.results import Committed
from agentplane.commands import (
    Adopt,
    Approve,
    ChangeKind,
    Decision,
    Deprecate,
    DismissFindings,
    MergeEntries,
    Renew,
    Revert,
    SetFields,
    Supersede,
)
from agentplane.curate import changed_entries, curator, kept, recorded, remedies
from agentplane.curate.changed_entries import Seen
from agentplane.curate.curator import Curation
from agentplane.curate.finding import Finding
from agentplane.curate.kept import Counts, Mark, Point
from agentplane.curate.kinds import Kind
from agentplane.curate.remedies import Remedy
from agentplane.curate.subject import Subject
from agentplane.errors import BadInput
from agentplane.memory import evidence
from agentplane.memory.entry import Entry
from agentplane.memory.entry_changes import FieldChanges, accepted
from agentplane.memory.view import Memory
from agentplane.plane.git import git
from agentplane.text import globs
from agentplane.text.visible import one_line
from agentplane.tools.foreign_file import Change


if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentplane.curate.conditions.commands.run import Ran


class Look(msgspec.Struct, frozen=True):
    """The result of a pass over all entries, and the state of the entries at that time."""

    made: Curation
    seen: Seen


class Curator:
    """The curator of one plane."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer

    def collect(
        self, wanted: Sequence[str] = (), *, only: Collection[Kind] = (), since: str | None = None
    ) -> Curation:
        """Run the checks and return the findings. Store the result for `status` and for contexts.

        `wanted` limits the pass to entries, `only` to kinds of findings, and `since` to entries that changed
        since a Git revision, or whose evidence or scope did.
        """
        memory = self._committer.read()
        named = self._named(memory, wanted, since)
        subject = self._subject(memory, named)
        made = curator.collect(subject, only=only, named=named)
        if not only:
            self._keep(subject, made, named)
        return made

    def look(self, before: Look | None = None) -> Look:
        """Check all entries. With `before`, check only the entries that changed since then.

        Changes to the code since then aren't noticed.
        """
        memory = self._committer.read()
        subject = self._subject(memory, None)
        seen = changed_entries.seen(memory, subject.recorded)
        if before is None:
            made = curator.collect(subject)
            self._keep(subject, made, None)
            return Look(made, seen)
        changed = changed_entries.between(before.seen, seen)
        if not changed:
            return before
        ids = changed | {id_ for about in before.made.about if not changed.isdisjoint(about) for id_ in about}
        limited = _limited(subject, ids)
        part = curator.collect(limited, named=ids)
        kept.keep_part(limited, part, ids, kept.state_of(memory.snapshot.ledger))
        return Look(curator.with_part(before.made, part, ids, subject), seen)

    def kept(self) -> Counts | None:
        """Return the counts of the last pass without running a check, or None if there was none."""
        return kept.counts(self._committer.layout)

    def marks(self) -> tuple[Mark, ...]:
        """Return the open findings of the last pass without their proofs."""
        return kept.marks(self._committer.layout)

    def course(self) -> tuple[Point, ...]:
        """Return the health figure over time, one point for each day with a whole pass."""
        return kept.course(self._committer.layout)

    def is_current(self, counts: Counts) -> bool:
        """True if the memory is the one that the last pass saw."""
        return counts.state == kept.state_of(self._committer.read().snapshot.ledger)

    def apply(self, findings: Sequence[Finding]) -> list[Committed]:
        """Apply the first remedy of each finding, in as few operations as possible."""
        chosen = combined(first_remedy(finding) for finding in findings)
        was_current = self._is_kept_current()
        memory = self._committer.read()
        for remedy in chosen:
            command_of(remedy, memory)  # nothing is written if one of them needs a person
        done = [required(self._committer.do(command_of(one, self._committer.read()))) for one in chosen]
        self._look_again({id_ for finding in findings for id_ in finding.ids}, was_current=was_current)
        return done

    def dismiss(self, keys: Sequence[str], why: str | None = None, until: date | None = None) -> Committed:
        """Dismiss findings, or snooze them until a day. They return earlier if their proof changes."""
        was_current = self._is_kept_current()
        about = self._ids_of(keys)
        command = DismissFindings(tuple((key, about[key]) for key in keys), why, until)
        done = required(self._committer.do(command))
        self._look_again(set(command.ids), was_current=was_current)
        return done

    def preview(self, remedy: Remedy) -> tuple[Change, ...] | None:
        """Return the files that a remedy would change, or None if a person has to choose something first."""
        try:
            return self._committer.preview(command_of(remedy, self._committer.read()))
        except NeedsPerson:
            return None

    def unapproved_commands(self, wanted: Sequence[str] = ()) -> "Mapping[str, tuple[str, ...]]":
        """Return the commands of checks without an approval on this machine, each with the ids of its entries."""
        from agentplane.curate.conditions.commands import results

        return results.unapproved(self._committer.layout, self._entries(wanted))

    def approve_commands(self, commands: Iterable[str]) -> None:
        """Allow commands of checks on this machine. A person must have read their texts."""
        from agentplane.curate.conditions.commands import approvals

        approvals.approve(self._committer.layout, commands)

    def run_checks(self, wanted: Sequence[str] = ()) -> "Sequence[Ran]":
        """Run the approved commands of checks, because a person asked for it. The next pass uses their results."""
        from agentplane.curate.conditions.commands import results

        committer = self._committer
        now, report = committer.store.clock, committer.listeners.progress
        seconds = committer.store.settings().curate.check_seconds
        return results.run_approved(committer.layout, self._entries(wanted), now, seconds, report)

    def _entries(self, wanted: Sequence[str]) -> tuple[Entry, ...]:
        memory = self._committer.read()
        return self._subject(memory, self._named(memory, wanted, None)).entries

    def _ids_of(self, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the entries that findings are about, by the keys of the findings."""
        about = {mark.key: mark.ids for mark in self.marks()}
        if not about.keys() >= set(keys):
            made = self.collect()
            about = {
                one.key: one.ids for one in (*made.findings, *(aside.finding for aside in made.put_aside))
            }
        for key in keys:
            if key not in about:
                what = f"No finding has the key {one_line(key, 40)}."
                raise BadInput(what, todo="Run `agentplane curate` to list findings with their keys.")
        return about

    def _is_kept_current(self) -> bool:
        found = self.kept()
        return found is not None and self.is_current(found)

    def _look_again(self, ids: Collection[str], *, was_current: bool) -> None:
        """Check some entries again after an operation on them."""
        memory = self._committer.read()
        named = frozenset(id_ for id_ in ids if id_ in memory.entries)
        subject = self._subject(memory, named)
        made = curator.collect(subject, named=named)
        state = kept.state_of(memory.snapshot.ledger) if was_current else None
        kept.keep_part(subject, made, ids, state)

    def _keep(self, subject: Subject, made: Curation, named: frozenset[str] | None) -> None:
        if named is None:
            kept.keep(subject, made, self._committer.store.clock().astimezone(UTC))
        else:
            kept.keep_part(subject, made, named)

    def _subject(self, memory: Memory, named: frozenset[str] | None) -> Subject:
        entries = (entry for entry in memory.approved() if entry.head.status == "accepted")
        wanted = tuple(entry for entry in entries if named is None or entry.id in named)
        progress = self._committer.listeners.progress
        return Subject(memory, wanted, recorded.of(memory), self._committer.today(), progress)

    def _named(self, memory: Memory, wanted: Sequence[str], since: str | None) -> frozenset[str] | None:
        """Return the ids of the entries to check, or None for all entries."""
        if since is not None:
            changed = self._changed(memory, since)
            return changed & {memory.get(id_).id for id_ in wanted} if wanted else changed
        return frozenset(memory.get(id_).id for id_ in wanted) if wanted else None

    def _changed(self, memory: Memory, since: str) -> frozenset[str]:
        """Return the entries that changed since a revision, or that cite or cover a file that changed."""
        from agentplane.api import memory_diff

        project = self._committer.layout.project
        commit = git.commit(project, since)
        if commit is None:
            what = f"Git revision not found: {one_line(since, 60)}."
            raise BadInput(what, todo="Use a commit, a branch or a tag, such as HEAD~1.")
        # On a branch, only its own changes count, and not those of the branch that it comes from.
        head = git.commit(project, "HEAD")
        base = next(iter(git.merge_bases(project, head, commit) if head else ()), commit)
        names = {*git.changed_since(project, base), *git.uncommitted(project), *git.untracked(project)}
        changed = memory_diff.between(memory, base, self._committer.store.clock).entries
        return frozenset(
            _about(memory.shelf, names, project) | {one.id for one in changed if one.id in memory.entries}
        )


def _limited(subject: Subject, ids: Collection[str]) -> Subject:
    entries = tuple(entry for entry in subject.entries if entry.id in ids)
    return msgspec.structs.replace(subject, entries=entries)


def _about(entries: Sequence[Entry], names: Collection[str], project: Path) -> set[str]:
    """Return the entries that cite one of these files, or whose scope covers one of them, by id."""
    exists = evidence.exists_in(project)
    touched = set(names) | {folder for name in names for folder in _folders(name)}
    scopes = {glob for entry in entries for glob in entry.head.scope}
    hit = {glob for glob in scopes if any(globs.matches(glob, name) for name in names)}

    def cites(entry: Entry) -> bool:
        # The files changed since a revision, so they exist or existed.
        cited = (evidence.parse(text, exists, was_path=True) for text in entry.head.evidence)
        return any(isinstance(one, evidence.Place) and one.path in touched for one in cited)

    return {entry.id for entry in entries if not hit.isdisjoint(entry.head.scope) or cites(entry)}


def _folders(path: str) -> Iterable[str]:
    parts = path.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts)))


class NeedsPerson(BadInput):
    """A remedy can't be applied in bulk, because a person must choose or write something."""


def first_remedy(finding: Finding) -> Remedy:
    """Return the most common remedy for a finding."""
    for remedy in finding.remedies:
        return remedy
    raise NeedsPerson(
        f"The finding about {one_line(finding.id, 40)} has no remedy that a command can carry out."
    )


def combined(chosen: Iterable[Remedy]) -> list[Remedy]:
    """Return the remedies in as few remedies as possible. Remedies that do the same are joined."""
    renewed: list[str] = []
    deprecated: list[str] = []
    dated: dict[str | None, list[str]] = {}
    others: dict[Remedy, None] = {}
    for remedy in chosen:
        match remedy:
            case remedies.Renew(ids=ids):
                renewed += ids
            case remedies.Deprecate(ids=ids):
                deprecated += ids
            case remedies.SetExpiry(ids=ids, day=day):
                dated.setdefault(day, []).extend(ids)
            case _:
                others[remedy] = None
    made: list[Remedy] = [remedies.Renew(_once(renewed))] if renewed else []
    made += [remedies.Deprecate(_once(deprecated))] if deprecated else []
    made += [remedies.SetExpiry(_once(ids), day) for day, ids in dated.items()]
    return [*made, *others]


def _once(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def command_of(remedy: Remedy, memory: Memory) -> Decision:
    """Return the command that carries out a remedy. Raise NeedsPerson if a person has to choose or write something."""
    match remedy:
        case remedies.Renew():
            return Renew(remedy.ids)
        case remedies.Deprecate():
            return Deprecate(remedy.ids)
        case remedies.Supersede():
            return Supersede(remedy.id, remedy.by)
        case remedies.MoveEvidence():
            return SetFields((remedy.id,), FieldChanges(evidence=((remedy.old, remedy.new),)))
        case remedies.SetExpiry(day=str(day)):
            return SetFields(remedy.ids, FieldChanges(expires_at=date.fromisoformat(day)))
        case remedies.SetScope(scope=(_, *_)):
            return SetFields((remedy.id,), FieldChanges(scope=remedy.scope))
        case remedies.SetKind():
            return ChangeKind(remedy.id, remedy.kind)
        case remedies.MergeEntries():
            return _merge(remedy.ids, memory)
        case remedies.ReviewEdit():
            return Adopt((remedy.id,)) if remedy.accept else Revert((remedy.id,))
        case remedies.ApproveInstead():
            from agentplane.review.conflicts.resolve import Choice

            return Approve((remedy.candidate,), Choice(supersede=(remedy.id,)))
        case (
            remedies.EditEntry()
            | remedies.SplitEntry()
            | remedies.ApproveCheck()
            | remedies.SetExpiry()
            | remedies.SetScope()
        ):
            raise NeedsPerson(
                f"A person must carry out this remedy: {remedy.title}.",
                todo=f"Run `{shlex.join(remedy.argv)}`.",
            )
        case _:
            assert_never(remedy)


def _merge(ids: tuple[str, ...], memory: Memory) -> MergeEntries:
    """Return the command that merges entries as the draft that `agentplane merge` shows."""
    from agentplane.curate import merge_draft

    entries = accepted(memory, ids)
    names = _once(entry.id for entry in entries)
    seen = tuple((entry.id, entry.digest) for entry in entries)
    return MergeEntries(names, merge_draft.drafted(memory, names), seen)
