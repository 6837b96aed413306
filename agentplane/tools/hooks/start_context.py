"""The memory that a session gets when it starts, cached until something changes.

agentplane trusts a cached text under two conditions. The file has this user's mark, and the files that the
text was made from have the same times, sizes and inodes. Reading the cache only loads os, json and the key.
"""

import json
import os
import time

from agentplane.plane.derived import badge_stamp, cache_file
from agentplane.plane.git import git_files


TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from agentplane.agents.model import Tool
    from agentplane.context.choose import Ask
    from agentplane.context.pack import Pack
    from agentplane.plane.origin import Origin
    from agentplane.plane.store.snapshot import Snapshot
    from agentplane.plane.store.store import Store
    from agentplane.tools.memory_file.repeats import OwnLines

_FOLDER = "packs"
_FINDINGS = "curator-marks"
"""The name of the cache file, because this module may not import `curate.kept`."""
_LARGEST = 1 << 20
_MOST = 40
_NAMED = 100
"""Maximum number of entry ids in a receipt. The receipt also has the total number."""


class Answer:
    """The memory as text, and its receipt."""

    __slots__ = ("receipt", "text")

    def __init__(self, text: str, receipt: "dict[str, Any]") -> None:
        self.text, self.receipt = text, receipt

    @property
    def given(self) -> dict[str, str]:
        """The fields about this memory in the marker of an open run."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return {"revision": self.receipt["revision"], "at": now, "sha256": self.receipt["sha256"]}


def cached(root: str, tool: "Tool", task: str | None) -> Answer | None:
    """Return the cached answer if it is current, or None."""
    try:
        found = json.loads(
            cache_file.read(root, f"{_FOLDER}/{_name(tool, task)}", _version(), _LARGEST) or b"{}"
        )
        is_for_this = found["for"] == _request(tool, task) and found["stamp"] == badge_stamp.of(root)
        if is_for_this and _is_here(root, found):
            return Answer(str(found["text"]), dict(found["receipt"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


_TROUBLE = "trouble"
_RESERVED = {"characters": 200, "tokens": 60}
"""Space reserved for the line that says that the memory is incomplete."""


def written(answer: Answer) -> bytes:
    return json.dumps([answer.text, answer.receipt], ensure_ascii=False).encode(errors="replace")


def trouble(line: str) -> bytes:
    """Return the data that replaces an answer if the memory can't be read."""
    return json.dumps({_TROUBLE: line}, ensure_ascii=False).encode(errors="replace")


def read(data: bytes) -> Answer | str | None:
    """Return the answer that `written` wrote, the line of `trouble`, or None if there is neither."""
    try:
        found = json.loads(data)
        if isinstance(found, dict):
            return str(found[_TROUBLE])
        text, receipt = found
        return Answer(text, receipt)
    except (ValueError, TypeError, KeyError):
        return None


def make(store: "Store", by: "Origin", tool: "Tool", task: str | None) -> Answer:
    """Make the answer and cache it, unless a file changed meanwhile. Log changed trust settings first."""
    from agentplane.context.choose import Ask
    from agentplane.plane.derived import cache
    from agentplane.plane.store import recovery
    from agentplane.plane.store.snapshot import deliverable, settings_changed

    root, project = str(store.layout.root), str(store.layout.project)
    store.note_settings(by)
    if recovery.lost_tail(store.layout):
        return _incomplete(store, tool, task)
    before = badge_stamp.of(root)
    snapshot = deliverable(store.snapshot())
    here, tip = git_files.head_of(project), git_files.tip_of(project)
    ask = Ask(task, budget=tool.budget, measure=tool.measure, reader=tool.name)
    own = _own_lines(store, tool)
    read = _stamps(root, (*own.read, _doubts(root)))
    made, by_history = _pack(store, snapshot, ask, own)
    receipt = _receipt(made, tool)
    answer = Answer(made.text, receipt)
    if badge_stamp.of(root) == before and not settings_changed(store.settings(), snapshot.ledger):
        data: dict[str, Any] = {"for": _request(tool, task), "stamp": before, "text": answer.text}
        data |= {"receipt": receipt, "read": read, "checked_out": here, "tip": tip if by_history else None}
        folder = store.layout.cache / _FOLDER
        links = store.layout.cache.is_symlink() or folder.is_symlink()
        if folder.is_dir() and not links and len(names := os.listdir(folder)) >= _MOST:
            os.unlink(folder / names[0])
        file = cache.CacheFile(f"{_FOLDER}/{_name(tool, task)}", _version())
        cache.save_as_of(store.layout, snapshot.ledger.head, file, json.dumps(data).encode())
    return answer


def _incomplete(store: "Store", tool: "Tool", task: str | None) -> Answer:
    """Return the rest of a memory that lost entries, with a line that says so. It isn't cached."""
    from agentplane.context.choose import Ask
    from agentplane.plane.store.snapshot import deliverable
    from agentplane.tools.hooks import unreadable

    reserved = _RESERVED[tool.measure]
    ask = Ask(task, budget=tool.budget - reserved, measure=tool.measure, reader=tool.name)
    made, _ = _pack(store, deliverable(store.snapshot()), ask, _own_lines(store, tool))
    return Answer(f"{unreadable.incomplete()}\n\n{made.text}", _receipt(made, tool))


def _receipt(made: "Pack", tool: "Tool") -> "dict[str, Any]":
    pack_receipt = made.receipt
    reasons = [_REASONS.get(cut.kind, cut.why) for cut in pack_receipt.cut]
    receipt: dict[str, Any] = {
        "kind": "pack",
        "revision": pack_receipt.revision,
        "sha256": pack_receipt.sha256,
        "budget": f"{pack_receipt.budget} {tool.measure}",
        "given": [given.id for given in pack_receipt.given][:_NAMED],
        "given_in_all": len(pack_receipt.given),
        "cut": {why: reasons.count(why) for why in sorted(set(reasons))},
    }
    if pinned := [given.id for given in pack_receipt.given if given.pinned]:
        receipt["pinned"] = pinned[:_NAMED]
    if pack_receipt.withheld:
        receipt["withheld"] = list(pack_receipt.withheld[:_NAMED])
    return receipt


def wrong(store: "Store") -> "Iterator[str]":
    """Yield the cache files that a session would use now, but whose text differs from that of `store`."""
    from agentplane.agents.catalog import BY_NAME
    from agentplane.context.choose import Ask

    root = str(store.layout.root)
    folder = os.path.join(root, cache_file.FOLDER, _FOLDER)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        try:
            found = json.loads(cache_file.read(root, f"{_FOLDER}/{name}", _version(), _LARGEST) or b"{}")
            day, tool, budget, measure, task = found["for"]
            is_current = day == _today() and found["stamp"] == badge_stamp.of(root)
            is_current = is_current and _is_here(root, found)
            text, reader = found["text"], BY_NAME.get(tool)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue  # no hook would use it
        ask = Ask(task, budget=budget, measure=measure, reader=tool)
        if is_current and text != _pack(store, store.snapshot(), ask, _own_lines(store, reader))[0].text:
            yield f"{_FOLDER}/{name}"


def _is_here(root: str, found: "dict[str, Any]") -> bool:
    """True if a text was made for the checked-out branch and the current state of the tool's own files.

    If Git's history decided which run was the last, a new commit counts as a change.
    """
    project = os.path.dirname(root)
    is_same = found["checked_out"] == git_files.head_of(project) and found["tip"] in (
        None,
        git_files.tip_of(project),
    )
    return is_same and bool(found["read"] == _stamps(root, list(found["read"])))


_REASONS = {"said": "already in its own files", "expired": "expired"}
"""The reasons that a receipt counts together, by kind. The full reasons name a place or a day."""


def _pack(store: "Store", snapshot: "Snapshot", ask: "Ask", own: "OwnLines") -> "tuple[Pack, bool]":
    """Return the context pack, and whether it depends on the history of the checked-out commit."""
    from agentplane.context import active, pack
    from agentplane.memory.view import Memory

    sources = active.sources(Memory(snapshot), ask, store.today())
    return pack.make(sources, ask, repeated=own.of(sources.entries)), sources.by_history


def _own_lines(store: "Store", tool: "Tool | None") -> "OwnLines":
    """Return the lines that the tool reads from its own files, so that the answer doesn't repeat them."""
    from agentplane.tools.memory_file import repeats

    return repeats.read(store.layout.project, [tool]) if tool else repeats.NOTHING


def _stamps(root: str, paths: "Iterable[str]") -> "dict[str, list[int] | None]":
    """Return times, sizes and inodes of project files, or None for a missing file."""
    found: dict[str, list[int] | None] = {}
    for path in paths:
        try:
            one = os.stat(os.path.join(os.path.dirname(root), path))
            found[path] = [one.st_mtime_ns, one.st_ctime_ns, one.st_size, one.st_ino]
        except (OSError, ValueError):
            found[path] = None
    return found


def _doubts(root: str) -> str:
    """Return the file with the curator's findings, which a new pass replaces."""
    return f"{os.path.basename(root)}/{cache_file.FOLDER}/{_FINDINGS}"


def _request(tool: "Tool", task: str | None) -> list[object]:
    """Return the other values that the text depends on. Entries expire on a day."""
    return [_today(), tool.name, tool.budget, tool.measure, task]


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())


def _version() -> str:
    """Return the version of the text and of the checks that withhold entries from it."""
    from agentplane.review import result_versions

    return result_versions.mark(
        result_versions.CONTEXT, result_versions.CONFLICTS, result_versions.GATE, result_versions.SECRETS
    )


def _name(tool: "Tool", task: str | None) -> str:
    import zlib

    name = f"{tool.name}-{tool.measure}-{tool.budget}"
    return name if task is None else f"{name}-{zlib.crc32(task.encode(errors='replace')):08x}"
