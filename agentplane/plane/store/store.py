"""The write path. Every change of a plane goes through `Store.commit`, from every interface.

A commit works under the lock. It reads the current bytes, appends the operation's record, and appends the
event with fsync, which is the commit point. Then it replaces the Markdown files and refreshes the views.
`recovery` repairs the results of a crash when the plane is opened again.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec

from agentplane.errors import AgentplaneError, Damaged, Locked
from agentplane.plane import settings_read
from agentplane.plane.derived import cache
from agentplane.plane.git.lost_events import Lost, Standing
from agentplane.plane.layout import CONFIG, INBOX, Layout
from agentplane.plane.ledger import ledger as ledgers
from agentplane.plane.ledger import ledger_cache, summing, union_cleanup
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.origin import Origin
from agentplane.plane.settings import Settings
from agentplane.plane.store import lock, pages, records, recovery
from agentplane.plane.store.edited_pages import EditedPages
from agentplane.plane.store.pages import Page
from agentplane.plane.store.plan import Done, Plan
from agentplane.plane.store.records import Record, Stored
from agentplane.plane.store.snapshot import Snapshot, deliverable, settings_changed
from agentplane.plane.trust import rules
from agentplane.plane.views import views
from agentplane.text import files
from agentplane.text.gc_pause import uncollected
from agentplane.text.json import canonical, decode
from agentplane.text.log import chain
from agentplane.text.markdown import document


_SNAPSHOT_TRIES = 4
_PATIENCE_OF_READERS = 1.0
"""Seconds that a reader waits for the lock."""
_EDITOR_TRIES = 20
_EDITOR_SECONDS = 0.05
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"

Clock = Callable[[], datetime]
Token = Callable[[int], str]


def utc_now() -> datetime:
    return datetime.now(UTC)


def random_token(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


class _Timed(msgspec.Struct, frozen=True):
    ts: str = ""


_timed = decode.Json(_Timed)


class _Work(msgspec.Struct, frozen=True):
    """A plan with its final bytes, before anything is written."""

    record: Record
    texts: dict[str, Any]
    pages: dict[str, Page]


class Store:
    """One plane on disk. It stores no state in memory, so every call reads the current files."""

    def __init__(self, layout: Layout, clock: Clock = utc_now, token: Token = random_token) -> None:
        self.layout = layout
        self.clock = clock
        self.token = token
        self.on_writing: Callable[[], None] | None = None
        """Callback for a reader that meets another process's incomplete change."""

    def today(self) -> date:
        """Return the current day in UTC. The dates of entries are compared with it."""
        return self.clock().astimezone(UTC).date()

    def settings(self) -> Settings:
        return settings_read.load(self.layout.file(CONFIG), self.layout.shown(CONFIG))

    def snapshot(self) -> Snapshot:
        """Return files and ledger that belong together. First repair the results of a crash.

        Readers don't wait for writers. If a writer was at work in between, they read again. If one has the
        lock and an incomplete change, they work out the state that it committed.
        """
        recovery.check_log(self.layout)
        for _ in range(_SNAPSHOT_TRIES):
            if recovery.needed(self.layout):
                break
            before = chain.tail(self.layout.log)
            snapshot = self._read()
            if chain.tail(self.layout.log) == before and not recovery.needed(self.layout):
                return snapshot
        return self._mended()

    def _mended(self) -> Snapshot:
        for _ in range(_SNAPSHOT_TRIES):
            try:
                with self._locked(patience=0):
                    return self._read()
            except Locked:
                before = recovery.progress(self.layout)
                snapshot = self._committed(writing=True)
                if recovery.progress(self.layout) == before:
                    self._report_writing()
                    return snapshot
            except Damaged:  # on a read-only disk, or if the log lost lines
                return self._committed(writing=False)
        with self._locked():  # writers take turns, so there is progress and it is worth waiting
            return self._read()

    def _committed(self, *, writing: bool) -> Snapshot:
        found = self._read()
        try:
            pages_then = recovery.completed(self.layout, found.ledger, found.pages)
        except AgentplaneError:  # the operation's record can't be read, and doctor explains why
            return found
        return msgspec.structs.replace(found, pages=pages_then, writing=writing)

    def _report_writing(self) -> None:
        if self.on_writing is not None:
            self.on_writing()

    def commit(self, plan: Callable[[Snapshot], Plan | None], origin: Origin) -> Done | None:
        """Write the operation that `plan` derives from the plane under the lock.

        Return None if there is none.
        """
        with self._locked():
            snapshot = self._with_settings_noted(self._read(), origin)
            planned = plan(snapshot)
            if planned is None:
                return None
            work = self._prepare(planned, snapshot, origin)
            ledger = self._append(work, snapshot)
            try:
                return self._complete(work, snapshot, ledger)
            except Damaged as error:
                raise Damaged(
                    f"The change was recorded ({work.record.op}), but some files couldn't be written: {error.what}",
                    where=error.where,
                    todo="Fix that problem. Then run any command to complete the change.",
                ) from None

    def preview(self, plan: Plan, snapshot: Snapshot) -> dict[str, bytes]:
        """Return the files that a plan would write, with their new contents."""
        edited = EditedPages(snapshot)
        for edit in plan.edits:
            edited.apply(edit, {})
        return {file: page.document.data for file, page in edited.pages().items()}

    def note_settings(self, origin: Origin, snapshot: Snapshot | None = None) -> bool:
        """Record a change of the trust settings before its effect reaches a tool.

        Return True if it was recorded. Readers call this, so it waits only a moment for a writer. It
        continues if the log can't be written. It checks again under the lock. `snapshot` is the plane, if the
        caller has read it already.
        """
        current, ledger = (
            (snapshot.settings, snapshot.ledger)
            if snapshot
            else (self.settings(), ledger_cache.read(self.layout))
        )
        if not settings_changed(current, ledger):
            return False
        try:
            with self._locked(_PATIENCE_OF_READERS):
                now = self._read()
                return self._with_settings_noted(now, origin) is not now
        except AgentplaneError:
            return False

    def require_noted(self, origin: Origin) -> None:
        """Record a change of the trust settings. Raise Locked if that can't be done now."""
        if not self.note_settings(origin) and settings_changed(
            self.settings(), ledger_cache.read(self.layout)
        ):
            raise Locked(
                "The trust settings changed, but the change can't be logged while another process is writing.",
                where=self.layout.shown(CONFIG),
                todo="Try again in a moment.",
            )

    def for_delivery(self, origin: Origin) -> Snapshot:
        """Return the plane as tools may be given it, after a change of the trust settings is recorded."""
        snapshot = self.snapshot()
        return deliverable(self.snapshot() if self.note_settings(origin, snapshot) else snapshot)

    def append_event(
        self, event: Mapping[str, Any], only_if: Callable[[], bool] | None = None
    ) -> bytes | None:
        """Append a run's event to the log, if `only_if` returns True under the lock. Return its line."""
        with self._locked():
            if only_if is not None and not only_if():
                return None
            ledger = ledger_cache.read(self.layout)
            # Only the operation that settles branches joins them, because it is the same in every clone.
            line = chain.link(event, ledger.heads[0] if ledger.heads else chain.GENESIS)
            files.append(self.layout.log, line)
            views.follow(self.layout, ledger, summing.advance(ledger, self.layout))
            return line

    def put_in_order(self) -> None:
        """Give the log and operation records the order of every clone after Git's union, with each line once."""
        with self._locked():
            views.refresh(self.layout, union_cleanup.log(self.layout))

    def bring_back(self, lost: Lost) -> None:
        """Append missing events and records to their files."""
        with self._locked():
            union_cleanup.add(self.layout, lost.events, lost.records)
            views.refresh(self.layout, union_cleanup.log(self.layout))

    def join(self) -> None:
        """Append the event that joins the heads of branches, if they need no operation to settle them."""
        with self._locked():
            views.refresh(self.layout, self._joined(ledger_cache.read(self.layout)))

    def cut_doubled(self, may_go: Callable[[str, str, bytes], bool]) -> list[str]:
        """Remove repeated entries of an id if their text is stored elsewhere. Return the changed files.

        A merge may restore an older text of an entry. A text that is stored only in this entry stays.
        Otherwise the entry that counts stays.
        """
        changed = []
        with self._locked():
            known = ledger_cache.read(self.layout).known
            for file in self.layout.memory_files():

                def rank(id_: str, core: bytes, file: str = file) -> int:
                    mark = known.get(id_)
                    counts = mark and (mark.file, mark.digest) == (file, document.digest(core))
                    return 2 if not may_go(file, id_, core) else int(bool(counts))

                path = self.layout.file(file)
                data = files.read(path)
                spans = [
                    (a, b) for id_, core, a, b in union_cleanup.spare(data, rank) if may_go(file, id_, core)
                ]
                if spans:
                    files.replace(path, data, union_cleanup.without(data, spans))
                    changed.append(file)
        return changed

    def cut(self, wanted: Sequence[Standing]) -> None:
        """Remove texts from files if an operation already removed them. A text that was changed since stays."""
        with self._locked():
            for file in dict.fromkeys(one.file for one in wanted):
                path = self.layout.file(file)
                data = files.read(path)
                digests = {one.id: one.digest for one in wanted if one.file == file}
                blocks = document.parse(data).blocks
                spans = [(b.start, b.end) for b in blocks if digests.get(b.id) == b.digest]
                files.replace(path, data, union_cleanup.without(data, spans))

    def mend(self) -> list[str]:
        """Repair the results of a crash. Return the repairs."""
        with lock.held(self.layout, self.settings().write.lock_timeout):
            return recovery.repair(self.layout, whole=True)

    def _with_settings_noted(self, snapshot: Snapshot, origin: Origin) -> Snapshot:
        """Return the plane after an operation for changed trust settings, if there is one to write.

        Called under the lock.
        """
        if not settings_changed(snapshot.settings, snapshot.ledger):
            return snapshot
        before, now = snapshot.ledger.settings, rules.differing(snapshot.settings)
        plan = Plan(rules.VERB, (), why=rules.changes_text(before, now), settings=now)
        work = self._prepare(plan, snapshot, origin)
        return self._complete(work, snapshot, self._append(work, snapshot)).snapshot

    @contextmanager
    def _locked(self, patience: float | None = None) -> Iterator[None]:
        most = self.settings().write.lock_timeout
        with lock.held(self.layout, most if patience is None else min(most, patience)):
            recovery.check_log(self.layout)
            if recovery.needed(self.layout):
                recovery.repair(self.layout)
            yield

    def _read(self) -> Snapshot:
        with uncollected():
            ledger = ledger_cache.read(self.layout)
            cache.forget(self.layout, ledger.pruned)
            return Snapshot(self.layout, self.settings(), ledger, pages.read_all(self.layout))

    def _prepare(self, plan: Plan, snapshot: Snapshot, origin: Origin) -> _Work:
        edited = EditedPages(snapshot)
        texts: dict[str, Any] = {}
        changes = [edited.apply(edit, texts) for edit in plan.edits]
        now = self.clock()
        why = None if plan.why is None else document.digest(plan.why.encode())
        if plan.why is not None and why is not None:
            texts[why] = plan.why
        record = Record(
            op=f"{now:%Y%m%dT%H%M%SZ}-{self.token(6)}",
            ts=timestamp(now),
            verb=plan.verb,
            actor=origin.actor,
            channel=origin.channel,
            program=origin.program,
            changes=changes,
            why=why,
            undoes=plan.undoes,
            prunes=list(plan.prunes),
            redacted=dict(plan.redacted),
            settings=dict(plan.settings),
            rejected=list(plan.rejected),
            confirmed=list(plan.confirmed),
            observed={id_: list(found) for id_, found in plan.observed.items()},
            commit=plan.commit,
            dismissed=dict(plan.dismissed),
        )
        return _Work(record, texts, edited.pages())

    def _append(self, work: _Work, snapshot: Snapshot) -> Ledger:
        """Append the record, then the event, which is the commit point."""
        from agentplane.plane.trust import signatures  # readers and hooks don't need it

        ledger = snapshot.ledger
        joint = self._joint(ledger)
        prev = chain.hash_of(joint) if joint else ledger.head or chain.GENESIS
        line, sha256 = records.line_of(work.record, work.texts)
        event = {
            "kind": "op",
            "ts": work.record.ts,
            "op": work.record.op,
            "verb": work.record.verb,
            "actor": work.record.actor,
            "channel": work.record.channel,
            "ids": work.record.ids,
            "op_sha256": sha256,
            "revision": ledgers.revision_after(ledger, work.record),
        }
        linked = chain.link(signatures.signed_event(event, prev, snapshot.settings, self.layout), prev)
        if joint:
            files.append(self.layout.log, joint)
        files.make_folder(self.layout.ops)
        path = records.month_file(self.layout, work.record.op)
        recovery.end_records(path)
        offset = files.append(path, line)
        try:
            files.append(self.layout.log, linked)
        except AgentplaneError:
            files.truncate(path, offset)
            raise
        return summing.advance(ledger, self.layout)

    def _joint(self, ledger: Ledger) -> bytes:
        """Return the event that joins the heads after a merge and comes first.

        Empty if there is only one head.
        """
        if len(ledger.heads) < 2:
            return b""
        return chain.join(ledger.heads, latest(self.layout, set(ledger.heads)))

    def _joined(self, ledger: Ledger) -> Ledger:
        joint = self._joint(ledger)
        if not joint:
            return ledger
        files.append(self.layout.log, joint)
        return summing.advance(ledger, self.layout)

    def _complete(self, work: _Work, snapshot: Snapshot, ledger: Ledger) -> Done:
        """Write everything that comes after the commit point.

        The memory is written before the inbox, so a reader in between sees an entry twice rather than never.
        """
        found = dict(snapshot.pages)
        for file in sorted(work.pages, key=lambda name: name == INBOX):
            found[file] = self._write_file(file, work, snapshot.pages.get(file))
        if work.record.prunes:
            recovery.prune_texts(self.layout, work.record.prunes)
        before = snapshot.ledger
        same_shelf = len(before.heads) < 2 and not ledgers.touches_shelf(before.known, work.record)
        if same_shelf and not work.record.prunes:
            views.follow(self.layout, before, ledger, same_shelf=True)
        else:
            views.refresh(self.layout, ledger, found)
        return Done(
            op=work.record.op,
            verb=work.record.verb,
            of=ledger.roots()[work.record.op].verb if work.record.undoes else work.record.verb,
            ids=work.record.ids,
            renamed={change.was: change.id for change in work.record.changes if change.was},
            revision=ledger.revision(),
            snapshot=Snapshot(self.layout, snapshot.settings, ledger, found),
            rejected=work.record.rejected,
        )

    def _write_file(self, file: str, work: _Work, old: Page | None) -> Page:
        """Write a page.

        If somebody saved the file since, apply the changes to the saved version. Return the page.
        """
        path, page = self.layout.file(file), work.pages[file]
        read_sha256 = old.sha256 if old else None

        def unchanged() -> bool:
            return _sha256_of(path) == read_sha256

        if old and page.document.data == old.document.data and unchanged():
            return page
        if unchanged() and files.write_atomic(path, page.document.data, only_if=unchanged):
            pages.keep(self.layout, page)
            return page
        _wait_for_an_editor(path, old)
        recovery.write_changes(self.layout, file, Stored(work.record, work.texts, ""))
        return pages.read(self.layout, file)


class Rebuilt(Store):
    """The plane according to its log, records and files, without the cache. It is read once."""

    def __init__(self, layout: Layout, clock: Clock = utc_now, token: Token = random_token) -> None:
        super().__init__(layout, clock, token)
        self._once: Snapshot | None = None

    def _read(self) -> Snapshot:
        if self._once is None:
            with uncollected():
                ledger = summing.advance(Ledger(), self.layout)
                self._once = Snapshot(self.layout, self.settings(), ledger, pages.parse_all(self.layout))
        return self._once


def _sha256_of(path: Path) -> str | None:
    data = files.read_if(path)
    return None if data is None else canonical.sha256(data)


def _wait_for_an_editor(path: Path, old: Page | None) -> None:
    """Wait a moment for an editor that empties a file before it writes the new text."""
    for _ in range(_EDITOR_TRIES):
        if files.read_if(path) or not (old and old.document.data):
            return
        time.sleep(_EDITOR_SECONDS)


def latest(layout: Layout, heads: set[str]) -> str:
    """Return the latest time of the heads.

    It comes from the log, so two clones join the same heads with the same line.
    """
    lines = (line for _, line in chain.lines(layout.log))
    times = [_timed.decode(line).ts for line in lines if chain.hash_of(line) in heads]
    return max(times, default="")


def timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
