"""What the checks of the curator look at: the memory, the code, and what was recorded at approvals."""

import re
from datetime import date
from pathlib import Path

import msgspec

from agentplane.curate.recorded import Recorded
from agentplane.jobs import Report, ignore
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import Layout
from agentplane.text import days


class Subject(msgspec.Struct, frozen=True):
    """One look at a memory. Everything in it was read once, so all checks see the same."""

    memory: Memory
    entries: tuple[Entry, ...]
    """The accepted entries to look at. Checks that compare entries compare them with `memory.shelf`."""
    recorded: Recorded
    today: date
    report: Report = ignore

    @property
    def layout(self) -> Layout:
        return self.memory.snapshot.layout

    @property
    def project(self) -> Path:
        """The top of the project's files."""
        return self.layout.project

    def shown(self, entry: Entry) -> str:
        """Return the place of an entry, such as `.agentplane/memory/decisions.md:12`."""
        return f"{self.layout.shown(entry.file)}:{self._in_file(entry).line}"

    def shown_key(self, entry: Entry, key: str) -> str:
        """Return the place of a key in the header of an entry, or the place of the entry if the key is missing."""
        here = self._in_file(entry)
        found = re.search(rb"^[\"']?%s[\"']?[ \t]*:" % re.escape(key.encode()), here.header, re.MULTILINE)
        # The header begins in the line after the ---, which is the line of the entry.
        line = here.line + (1 + here.header.count(b"\n", 0, found.start()) if found else 0)
        return f"{self.layout.shown(entry.file)}:{line}"

    def looked_at(self, entry: Entry) -> date | None:
        """Return the last day on which a person looked at an entry, or None if no date can be read.

        A person looks at an entry when approving, editing or renewing it.
        """
        observed = self.recorded.observed.get(entry.id)
        known = self.memory.known(entry.id)
        found = (
            observed.day if observed else None,
            days.day_of(entry.head.updated) if entry.head.updated else None,
            _day_of_op(known.op) if known and not entry.head.updated else None,
        )
        return max((day for day in found if day is not None), default=None)

    def _in_file(self, entry: Entry) -> Entry:
        """Return the entry as its file has it. After a manual edit, the approved text is in an operation."""
        return self.memory.entries.get(entry.id, entry)


def _day_of_op(op: str) -> date | None:
    """Return the day of an operation. Its id begins with its time in UTC."""
    try:
        return date(int(op[:4]), int(op[4:6]), int(op[6:8]))
    except ValueError:
        return None
