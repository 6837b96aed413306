"""The plane as the screens need it, with its latest view, the results of checks and the execution of
commands.

It doesn't use Textual. Threads call it, and give a `PlaneView` to the screens.
"""

import os
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import msgspec

from agentplane.agents.catalog import tool_in
from agentplane.api import Listeners, Plane, open_plane
from agentplane.commands import (
    Adopt,
    Command,
    DismissFindings,
    Mask,
    MemoryCommand,
    Revert,
    SetSetting,
    ToolCommand,
)
from agentplane.curate.kept import Counts, Mark
from agentplane.errors import AgentplaneError, BadInput, Damaged, PlaneError
from agentplane.memory.entry import Entry
from agentplane.memory.expiry import Expiry
from agentplane.memory.reconcile.settle import Settled
from agentplane.memory.view import HandEdit, Memory
from agentplane.plane import known_projects, layout, settings_files
from agentplane.plane.derived import badge_stamp, cache
from agentplane.plane.git import git
from agentplane.plane.layout import INBOX
from agentplane.plane.settings import Settings, Tui
from agentplane.review import policy, streak
from agentplane.review.attention import Attention
from agentplane.review.conflicts.result_cache import ResultCache
from agentplane.review.inbox import Reviewed, Reviewer
from agentplane.text.numbers import counted
from agentplane.tui.backend.entries import first_rows, inbox_rows
from agentplane.tui.backend.outcome_text import DOING, Outcome, outcome_of


_REASONS = 9
_OPS_SEARCHED = 300

CheckPerson = Callable[[Settings, str], None]


class PlaneView(msgspec.Struct, frozen=True):
    """A snapshot of the plane. Screens read it and never change it."""

    memory: Memory
    today: date
    """The day in UTC on which the plane was read."""
    inbox: tuple[Entry, ...]
    shelf: tuple[Entry, ...]
    hand_edits: tuple[HandEdit, ...]
    broken: int
    """The number of parts of the files that cannot be read."""
    damaged: bool
    revision: str
    project: str
    branch: str | None
    head: str | None
    refusal: str | None
    """Why nothing can be decided here, or None. An example is the shell of a coding tool."""
    settings: Tui
    """The settings of the interface. The person's own settings replace those of the project."""
    reviewed: dict[str, Reviewed]
    """The results of the checks so far, by candidate. A thread adds to them."""
    attention: Attention
    """The candidates that ask for attention today, and the folded ones."""
    expiring: dict[str, Expiry] = {}
    """The entries that expired or soon do, by id."""
    streak: str | None = None
    """A note that many candidates were approved in a row without opening one."""
    settings_problem: str = ""
    """Why the person's own settings can't be used, or empty."""
    findings: Counts | None = None
    """The counts of the curator's last pass, or None if there was none."""
    marks: tuple[Mark, ...] = ()
    """The open findings of that pass, without their proofs."""

    @property
    def waiting(self) -> int:
        """The number of candidates that ask for attention."""
        return len(self.attention.asking)

    @property
    def conflicts(self) -> int:
        asking = self.attention.asking_ids
        return sum(found.contested and id_ in asking for id_, found in list(self.reviewed.items()))

    @property
    def shelf_edits(self) -> tuple[HandEdit, ...]:
        """The manual edits with a decision of their own. An edit of a candidate is a flag of that candidate."""
        return tuple(
            edit for edit in self.hand_edits if edit.file != INBOX or edit.change in ("removed", "broken")
        )


class PlaneModel:
    """A plane while its screens are open. One thread calls `load` and `look`, and another one calls `do`."""

    def __init__(self, plane: Plane, check_person: CheckPerson | None = None) -> None:
        self.plane = plane
        self._check_person = check_person or policy.check_person
        self._reviewer: Reviewer | None = None
        self._results = ResultCache(plane.layout)
        """The cache of check results. It outlives a reload of the plane."""
        self._fresh: set[str] = set()
        self.touched: tuple[str, ...] = ()
        """The candidates whose results may be outdated since the plane was last read."""
        self._before: PlaneView | None = None
        """The view before the last one."""
        self._mark_read: str | None = None
        """The fingerprint of the files that `shown` was read from."""
        self.shown: PlaneView | None = None
        self.reasons: tuple[str, ...] = ()
        """The reasons of past rejections, latest first."""

    @property
    def mark(self) -> str:
        """A fingerprint that changes with every file of the plane, with the checked-out branch, with the person's
        settings and with the day.

        On a new day, other candidates are folded and other entries have expired.
        """
        head = _time_of(self.plane.layout.project / ".git" / "HEAD")
        return f"{self.plane.today()} {head} {_time_of(settings_files.of_person().path)} {self._stamp()}"

    def _stamp(self) -> str:
        try:
            return badge_stamp.of(str(self.plane.layout.root))
        except OSError:
            return ""

    def load(self) -> PlaneView:
        """Read the plane and return the new view. Results about unchanged texts are kept until the next check."""
        root = self.plane.layout.root
        if not layout.is_plane(root):
            raise Damaged(
                "The folder with the project memory no longer exists.",
                where=str(root),
                todo="Restore the folder to continue.",
            )
        mark = self._stamp()
        memory = self.plane.memory.read()
        old = self.shown.reviewed if self.shown else {}
        inbox = tuple(memory.inbox)
        settings, settings_problem = _interface(memory.snapshot.settings.tui)
        kept = {entry.id: old[entry.id] for entry in inbox if _still_holds(old.get(entry.id), entry, memory)}
        project = self.plane.layout.project
        shown = PlaneView(
            memory=memory,
            today=self.plane.today(),
            inbox=inbox,
            shelf=tuple(memory.shelf),
            hand_edits=tuple(memory.hand_edits),
            broken=memory.broken,
            damaged=self.plane.is_damaged(),
            revision=memory.snapshot.ledger.revision(),
            project=project.name,
            branch=git.branch(project),
            head=git.head(project),
            refusal=self._refusal(memory.snapshot.settings),
            settings=settings,
            settings_problem=settings_problem,
            reviewed=kept,
            attention=self.plane.inbox.attention(memory),
            expiring=self.plane.memory.expiring(memory),
            streak=streak.notice(self.plane.layout),
            findings=self.plane.curator.kept(),
            marks=self.plane.curator.marks(),
        )
        self._reviewer = None
        if self.shown and self.shown.memory.snapshot.ledger.pruned != memory.snapshot.ledger.pruned:
            # The cached results may quote texts that were removed from history.
            self._results = ResultCache(self.plane.layout)
        self._fresh = set()
        self._before = self.shown
        self._mark_read = mark
        self.shown = shown
        return shown

    def to_look_at(self, first: Sequence[str] = ()) -> list[str]:
        """Return the candidates without a current check, in the order in which to check them.

        Urgent candidates in `first` come first. Then come candidates with outdated marks, the rest of
        `first`, candidates that were never checked, and all others.
        """
        if self.shown is None:
            return []
        if self._reviewer is None:
            self._begin(self.shown)
        shown, fresh = self.shown, self._fresh
        left = [entry.id for entry in shown.inbox if entry.id not in fresh]
        wanted = set(first)

        def rank(id_: str) -> int:
            urgent = self.is_urgent(id_)
            if id_ in wanted:
                return 0 if urgent else 2
            return 3 if id_ not in shown.reviewed else 1 if urgent else 4

        return sorted(left, key=rank)

    def is_urgent(self, id_: str) -> bool:
        """True if the marks of a candidate may be wrong. It was never checked, or a change affected its results."""
        found = self.shown.reviewed.get(id_) if self.shown else None
        return found is None or not found.checked

    def _begin(self, shown: PlaneView) -> Reviewer:
        """Create the reviewer, and find the candidates that a change has affected. All other results are current."""
        today = self.plane.today()
        reviewer = Reviewer(shown.memory, today, cache=self._results, in_parts=True)
        touched = reviewer.touched()
        self.touched = tuple(touched & shown.reviewed.keys())
        for id_ in self.touched:
            shown.reviewed[id_] = msgspec.structs.replace(shown.reviewed[id_], checked=False)
        before = self._before
        if before is not None and (before.head, before.branch) == (shown.head, shown.branch):
            edits = {(edit.id, edit.change) for edit in before.hand_edits}
            edits ^= {(edit.id, edit.change) for edit in shown.hand_edits}
            self._fresh = shown.reviewed.keys() - touched - {id_ for id_, _ in edits}
        self._reviewer = reviewer
        return reviewer

    def look(self, ids: Sequence[str]) -> None:
        """Check these candidates for conflicts and flags, and add the results to the view."""
        shown = self.shown
        if shown is None:
            return
        reviewer = self._reviewer or self._begin(shown)
        for found in reviewer.look(ids):
            shown.reviewed[found.entry.id] = found
            self._fresh.add(found.entry.id)

    def save_results(self) -> None:
        """Save the results of checks, if all are there or the last save is long ago."""
        shown, reviewer = self.shown, self._reviewer
        if shown is None or reviewer is None:
            return
        if len(self._fresh) == len(shown.inbox):
            reviewer.save()
        else:
            reviewer.save_now_and_then()

    def keep_glimpse(self) -> None:
        """Save the first rows. The next start shows them if nothing has changed."""
        shown = self.shown
        if shown is None:
            return
        place = inbox_rows.Place("run", self.plane.store.clock(), shown.settings.ascii)
        made = inbox_rows.rows(shown, place)
        counts = [shown.waiting, shown.conflicts, len(shown.hand_edits)]
        more = {"project": shown.project, "theme": shown.settings.theme, "ascii": shown.settings.ascii}
        if self._mark_read is not None:
            data = first_rows.packed(made, shown.waiting, counts, self._mark_read, more)
            head = shown.memory.snapshot.ledger.head
            kept = cache.CacheFile(first_rows.KEPT, first_rows.VERSION)
            cache.save_as_of(self.plane.layout, head, kept, data)

    def learn_reasons(self) -> None:
        """Collect the reasons of past rejections from the history."""
        found = (op.why for op in self.plane.history.ops(_OPS_SEARCHED) if op.verb == "reject" and op.why)
        self.reasons = tuple(dict.fromkeys([*self.reasons, *found]))[:_REASONS]

    def remember_reason(self, why: str) -> None:
        self.reasons = tuple(dict.fromkeys([why, *self.reasons]))[:_REASONS]

    def do(self, command: Command) -> Outcome:
        """Carry out a command and return its outcome. Raise an error if the plane refuses the command."""
        if isinstance(command, ToolCommand):
            from agentplane.tui.backend import tools_model

            return tools_model.do(self.plane, command)
        if isinstance(command, SetSetting):
            return self._set(command)
        self.check_person(DOING[command.verb])
        settled: list[Settled] = []
        plane = self.plane.with_listeners(Listeners(settled=settled.append))
        return msgspec.structs.replace(_do(plane, command), settled=_settled_text(settled))

    def _set(self, command: SetSetting) -> Outcome:
        """Change a setting. Only a person may change one that everyone in the project shares."""
        from agentplane.tui.backend import settings_model

        if not settings_model.is_personal(command):
            self.check_person(DOING[command.verb])
        return settings_model.do(self.plane, command)

    def check_person(self, doing: str) -> None:
        """Raise an error unless a person may do this from here."""
        self._check_person(self.plane.store.settings(), doing)

    def _refusal(self, settings: Settings) -> str | None:
        try:
            self._check_person(settings, "deciding")
        except AgentplaneError as error:
            return error.what
        return None


def _interface(tui: Tui) -> tuple[Tui, str]:
    """Return the settings of the interface, and the problem with the person's own file."""
    try:
        return settings_files.personal(tui), ""
    except AgentplaneError as error:
        return tui, error.headline


def _time_of(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _do(plane: Plane, command: MemoryCommand) -> Outcome:
    if isinstance(command, Adopt | Revert) and not command.ids:
        # Without ids the plane would take all manual edits, including edits that the person has not seen.
        raise BadInput("No manual edit was selected.")
    done = plane.do(command)
    if done is None:
        return Outcome(command.verb, command.verb, command.ids, None, "")
    return outcome_of(done, _message(command))


def _message(command: MemoryCommand) -> str:
    """Return the message about a command that replaces the usual one, or an empty text."""
    match command:
        case Mask():
            return f"Masked the secret in {command.id}"
        case DismissFindings(until=until):
            what = counted(len(command.findings), "finding")
            return f"Dismissed {what}" if until is None else f"Snoozed {what} until {until}"
        case _:
            return ""


def _settled_text(settled: Sequence[Settled]) -> str:
    """Return a message about merged branches that a command reconciled first, or an empty string."""
    if not settled:
        return ""
    count = len(settled[-1].waiting)
    more = f", {counted(count, 'candidate')} to review" if count else ""
    return f"Reconciled merged branches{more}"


def _still_holds(found: Reviewed | None, entry: Entry, memory: Memory) -> bool:
    """True if a result is about this text and every conflicting entry still exists.

    An approved candidate has a new id, so a conflict with it counts as gone.
    """
    return (
        found is not None
        and found.entry.digest == entry.digest
        and all(met.id in memory.entries for met in found.conflicts)
    )


def open_model(wanted: str | None) -> PlaneModel:
    """Return a model of the plane at `wanted`, or of the plane around the current folder."""
    plane = open_plane(Path(wanted or "."), channel="tui")
    if tool_in(os.environ) is None:
        known_projects.add(str(plane.layout.root))
    return PlaneModel(plane)


def as_error(error: Exception) -> AgentplaneError:
    """Return the error of a thread in the form that is shown to a person."""
    if isinstance(error, AgentplaneError):
        return error
    if isinstance(error, OSError):
        where = str(error.filename) if error.filename is not None else None
        what = (error.strerror or str(error)).lower()
        return PlaneError(
            what,
            where=where,
            todo="Check that the folder exists, that you can write to it, and that the disk isn't full.",
        )
    return PlaneError(
        f"Internal error: {type(error).__name__}: {error}",
        todo="Run `agentplane doctor` to check the project memory. No other changes were made.",
        sees_doctor=True,
    )
