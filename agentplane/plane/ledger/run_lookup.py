"""A lookup of runs in the bytes of the log, which doesn't read all of it."""

import mmap
import os
import re
from pathlib import Path

from agentplane.plane.ledger import log_events
from agentplane.text import files


_RUN_ID = re.compile(r"[0-9]{8}T[0-9]{6}Z-[a-z0-9]{4,16}")
_RUN_FIELD = re.compile(rb'[,{]"run_id":"([0-9]{8}T[0-9]{6}Z-[a-z0-9]{4,16})"')


def is_run_id(text: str) -> bool:
    return _RUN_ID.fullmatch(text) is not None


def run_ids_in(text: str) -> list[str]:
    return _RUN_ID.findall(text)


def run_ids(log: Path) -> set[str]:
    """Return the ids of all runs that the log mentions, in one pass. It can include a run that isn't logged."""
    with files.reading(log) as stream:
        if not stream.seek(0, os.SEEK_END):
            return set()
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return {found[1].decode() for found in _RUN_FIELD.finditer(data)}


def has_run(log: Path, run_id: str | None) -> bool:
    """True if the log has an event of this run."""
    if run_id is None or not is_run_id(run_id):
        return False
    mark = f'"run_id":"{run_id}"'.encode()
    with files.reading(log) as stream:
        if not stream.seek(0, os.SEEK_END):
            return False
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.find(mark)
            while at >= 0:
                # An operation, or a run with this one as its parent, can also name it.
                if data[at - 1 : at] in (b",", b"{"):
                    event = log_events.RESULTS.read(_line_around(data, at))
                    if event is not None and event.run_id == run_id:
                        return True
                at = data.find(mark, at + 1)
    return False


def _line_around(log: mmap.mmap, at: int) -> bytes:
    end = log.find(b"\n", at)
    return log[log.rfind(b"\n", 0, at) + 1 : end if end >= 0 else len(log)]
