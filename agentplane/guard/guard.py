"""The check for pull requests that operations explain every change to a plane, and that its history only
grew.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from agentplane.errors import BadInput
from agentplane.findings import DOCTOR, Finding, Instruction, Remedy, Severity, Shell
from agentplane.guard import (
    changed_settings,
    confirmed,
    entries,
    ids,
    log,
    op_signatures,
    ops,
    plane_at_commit,
    proven_ops,
    receipts,
    rewritten,
    times,
)
from agentplane.guard.history import Past
from agentplane.guard.plane_at_commit import VIEWS, Side, shown
from agentplane.plane.git import git
from agentplane.plane.git.git import ObjectId
from agentplane.plane.layout import LOG, STATE, Layout
from agentplane.plane.store.store import Clock, utc_now
from agentplane.plane.views import views
from agentplane.text.log import event_line


_ORDER = {"error": 0, "warning": 1, "info": 2}


class Checked(msgspec.Struct, frozen=True):
    """The result of the check."""

    base: str | None
    """The commit that the branch was compared with, or None before the first commit."""
    findings: list[Finding]

    @property
    def passes(self) -> bool:
        return all(finding.severity == "info" for finding in self.findings)


ExtraCheck = Callable[[Side, Side, ObjectId | None], Iterable[Finding]]
"""A check from a higher layer. It gets the base, the checkout, and the commit of the base."""


def check(layout: Layout, rev: str, clock: Clock = utc_now, extra: Sequence[ExtraCheck] = ()) -> Checked:
    """Compare the plane that is checked out with the plane at the commit where this branch left `rev`."""
    prefix = git.prefix(layout.root) if git.top(layout.root) else None
    if prefix is None:
        raise BadInput(
            "this folder isn't in a Git repository that Git can read",
            where=str(layout.root),
            todo="Run the command in a clone. `git status` shows Git's own error.",
        )
    now = plane_at_commit.checked_out(layout, prefix)
    commits = _bases(layout, rev)
    if not commits:
        empty = Side(layout, prefix, {})
        return Checked(
            None, _sorted([*between(empty, now, None, clock), *_extra_findings(extra, empty, now, None)])
        )
    bases = sorted(((_at(layout, prefix, commit), commit) for commit in commits), key=_most_log)
    base, commit = bases[0]
    found = [*between(base, now, commit, clock), *_extra_findings(extra, base, now, commit)]
    found += op_signatures.findings(base, now, rev, _back(base, commit))
    found += _reused_ids(base, now, _tip(layout, prefix, rev, commits), _back(base, commit))
    for other, its_commit in bases[1:]:
        found += log.findings(other, now, _back(other, its_commit))
    return Checked(commit, _sorted(found))


def _tip(layout: Layout, prefix: str, rev: str, commits: Sequence[ObjectId]) -> Side | None:
    """Return the plane at the current tip of `rev`, or None if `rev` has no new commits since this branch
    left it.
    """
    commit = git.commit(layout.root, rev)
    return None if commit is None or commit in commits else _at(layout, prefix, commit)


def _reused_ids(base: Side, now: Side, tip: Side | None, back: Remedy) -> Iterator[Finding]:
    """Yield findings for operations of this branch whose id another operation on `rev` has taken since.

    After a merge, the two operations could not be told apart.
    """
    fresh = [op for op in proven_ops.of(now) if op.line not in base.lines] if tip else []
    there = {op.event.op: op for op in proven_ops.of(tip)} if tip and fresh else {}
    for op in fresh:
        other = there.get(op.event.op)
        if other is not None and other.event.op_sha256 != op.event.op_sha256:
            what = f"{op.name} has the same ID as another operation on the target branch ({other.name})"
            remedies = (Instruction("Remove the operation:"), back)
            yield Finding("op-id-taken", "error", now.where(LOG, op.number), what, remedies, op.event.op)


def _extra_findings(
    extra: Sequence[ExtraCheck], base: Side, now: Side, commit: ObjectId | None
) -> list[Finding]:
    return [finding for check in extra for finding in check(base, now, commit)]


def between(base: Side, now: Side, commit: ObjectId | None, clock: Clock = utc_now) -> Iterator[Finding]:
    """Yield the findings about the change from one state to the other."""
    if base.prefix != now.prefix:
        what = f"the project memory was moved here from {shown(base.prefix, 80)}. The check compared the project memory with that folder"
        nothing = Instruction("If the move was intended, you don't need to do anything.")
        yield Finding("plane-moved", "info", now.where(""), what, (nothing,))
    elif (base.files, base.odd) == (now.files, now.odd):
        return
    now = msgspec.structs.replace(now, like=base)
    back = _back(base, commit)
    done, past = proven_ops.of(now), Past(now)
    yield from entries.findings(base, now, done)
    yield from log.findings(base, now, back)
    yield from ops.findings(base, now, done, past, back)
    yield from receipts.findings(base, now, done)
    yield from confirmed.findings(base, now, done)
    yield from times.findings(base, now, done, clock())
    yield from ids.findings(base, now, done, past)
    yield from rewritten.findings(base, now, done)
    yield from changed_settings.findings(base, now)
    yield from _views(base, now)


def _bases(layout: Layout, rev: str) -> list[ObjectId]:
    """Return the commits where this branch left `rev`, or none before the first commit."""
    wanted, head = git.commit(layout.root, rev), git.commit(layout.root, "HEAD")
    if wanted is None:
        if rev == "HEAD" and git.branch(layout.root):
            return []
        raise BadInput(
            f"Commit not found: `{shown(rev, 60)}`",
            todo=_fetch(layout, "Check the name, or fetch the commit first."),
        )
    if head is None:
        return [wanted]
    found = git.merge_bases(layout.root, wanted, head)
    if not found:
        todo = _fetch(layout, "Set --base to the branch that you created this branch from.")
        raise BadInput(f"This branch has no commit in common with `{shown(rev, 60)}`", todo=todo)
    return found


def _fetch(layout: Layout, otherwise: str) -> str:
    if not git.is_shallow(layout.root):
        return otherwise
    return "This clone is shallow: run `git fetch --unshallow`. In GitHub Actions, set `fetch-depth: 0`."


def _at(layout: Layout, prefix: str, commit: ObjectId) -> Side:
    """Return the plane at a commit. If the plane was moved here since, return it from its old folder."""
    side = plane_at_commit.at_commit(layout, prefix, commit)
    old = None if side.files or side.odd else plane_at_commit.moved_from(layout, prefix, commit)
    return plane_at_commit.at_commit(layout, old, commit) if old else side


def _most_log(base: tuple[Side, str]) -> tuple[int, str]:
    """Sort key that puts the base with the longest log first.

    If histories cross, a branch has several bases. Only the first one gets the full comparison.
    """
    return -len(base[0].log), base[1]


def _back(base: Side, commit: str | None) -> Remedy:
    """Return the command that restores the plane of the base."""
    if commit is None or not base.files:
        return Shell(("agentplane", "init"), "Create the project memory again with ")
    path = shown(base.prefix or ".", 80)
    return Shell(("git", "checkout", commit[:12], "--", path), "", ", then repeat the intended change.")


def _views(base: Side, now: Side) -> Iterator[Finding]:
    """Yield findings for views that differ from the log. A damaged log has no views to compare with."""
    if now.report.faults or now.report.torn or LOG not in now.files:
        return
    made = (
        views.state(now.ledger, now.texts),
        views.artifacts(now.ledger, [line for line in now.log if event_line.has_form(line)]),
    )
    for name, right in zip(VIEWS, made, strict=True):
        there = now.files.get(name)
        if there == right or (there is None and name not in base.files):
            continue
        if (there, now.log) != (base.files.get(name), base.log):
            what = "this file is missing" if there is None else "this file doesn't match the log"
            remedy = Shell((*DOCTOR, "--fix"), "Run ", ", and commit the result.")
            severity: Severity = "error" if name == STATE else "warning"
            yield Finding("view-wrong", severity, now.where(name), what, (remedy,), name)


def _sorted(found: Iterator[Finding] | list[Finding]) -> list[Finding]:
    """Return the findings without duplicates, the most severe first."""
    return sorted(dict.fromkeys(found), key=lambda finding: _ORDER[finding.severity])
