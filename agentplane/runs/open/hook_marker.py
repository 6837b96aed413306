"""Runs of sessions, opened and found by the hooks of tools, with only os and json loaded.

A person waits for each hook, so a hook may take little longer than the start of Python. `open_run.complete`
adds the slower data (Git, environment, masking) in the background. The format of the marker is
`open_run.OpenRun`.

A marker names the process to wait for, the command to restart and the trees to compare. Therefore it carries
a mark that only this user on this machine can make, for exactly this folder. A marker from a clone is
ignored.
"""

import json
import os
import time
from itertools import islice

from agentplane.plane.trust import user_key
from agentplane.system import processes


TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

RUNS, WORK, MARKER = "runs", "work", "open.json"
"""Copies of names in `capsule`, because this module must not import it."""
INDEX = os.path.join("cache", "sessions")
"""Folder with the run of each session, so that a hook doesn't search all runs. It is only a hint. The marker
decides.
"""

_PURPOSE = "open run"
_BEFORE, _BETWEEN, _AFTER = b'{"mark":"', b'","run":', b"}\n"
"""A marker is JSON with the mark and then the bytes that the mark covers."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_LARGEST = 1 << 20
_MOST = 500
"""Maximum number of open runs to search without a hint, newest first."""
_NEAR = 2.0
_SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "mksh", "csh", "tcsh", "busybox", "nu", "pwsh", "xonsh")  # fmt: skip
_LAUNCHERS = ("env", "uv", "uvx", "pipx", "timeout", "nice", "nohup", "setsid", "stdbuf", "direnv", "mise", "sudo")  # fmt: skip
_FIRST = ("systemd", "init", "launchd", "tini", "dumb-init", "docker-init", "catatonit")
_NO_TOOLS = frozenset((*_SHELLS, *_LAUNCHERS, *_FIRST))


class Session:
    """A session from the view of a hook. `pid` and `started_at` describe the tool's own process."""

    __slots__ = ("cwd", "id", "pid", "source", "started_at", "tool", "transcript")

    def __init__(
        self, tool: str, id_: str, pid: int, cwd: str, source: str = "", transcript: str = ""
    ) -> None:
        self.tool, self.id, self.pid, self.cwd = tool, id_, pid, cwd
        self.source, self.transcript = source, transcript
        self.started_at = processes.started_at(pid)

    @property
    def key(self) -> str:
        """Unique name of the session in this plane. It uses the tool's id, or the process id if the tool
        states none.
        """
        import zlib

        name = self.id or str(self.pid)
        plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name[:60])
        return f"{self.tool}-{plain}-{zlib.crc32(name.encode(errors='replace')):08x}"

    def has(self, marker: "dict[str, Any]") -> bool:
        """True if an open run belongs to this session."""
        recorded = marker.get("session")
        if not isinstance(recorded, dict) or marker.get("asked", {}).get("tool") != self.tool:
            return False
        return recorded.get("id", "") == self.id and (bool(self.id) or self.owns(marker))

    def owns(self, marker: "dict[str, Any]") -> bool:
        return int(marker["pid"]) == self.pid and abs(float(marker["born"]) - self.started_at) < _NEAR


def owner(pid: int) -> int:
    """Return the process that a hook works for, which is the nearest ancestor that is not just a launcher."""
    for ancestor in processes.ancestors(pid):
        if processes.name(ancestor) not in _NO_TOOLS:
            return ancestor
    return os.getppid()


def named(root: str, run_id: str) -> "dict[str, Any] | None":
    """Return the marker of an open run, or None if no such run is open."""
    head, dash, tail = run_id.partition("-")
    if not (dash and len(head) == 16 and head.isalnum() and tail.isalnum() and run_id.isascii()):
        return None
    try:
        _must_be_folders(root, RUNS, run_id, WORK)
        work = os.path.join(root, RUNS, run_id, WORK)
        marker = json.loads(believed(work, run_id, read(os.path.join(work, MARKER))) or b"")
        fits = marker["run_id"] == run_id and float(marker["born"]) >= 0 and int(marker["pid"]) >= 0
        return marker if fits and isinstance(marker.get("asked"), dict) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def find(root: str, session: Session, *, new: bool = False) -> "dict[str, Any] | None":
    """Return the open run of a session, or None.

    Pass `new` for a session that just began. Then only the hint is used, without a search.
    """
    try:
        hint = os.fsdecode(read(os.path.join(root, INDEX, session.key)))
    except OSError:
        hint = ""
    marker = named(root, hint)
    if marker is not None and session.has(marker):
        return marker
    for run_id in () if new else _newest(root):
        marker = named(root, run_id)
        if marker is not None and session.has(marker):
            return marker
    return None


def of_process(root: str, session: Session) -> "dict[str, Any] | None":
    """Return the open run of the process that this session runs in, under any session id."""
    mine = [found for run_id in _indexed(root) if (found := named(root, run_id)) and session.owns(found)]
    mine = [found for found in mine if found["asked"].get("tool") == session.tool and "session" in found]
    return max(mine, key=lambda found: str(found.get("started")), default=None)


def around(root: str, pid: int) -> str | None:
    """Return the id of the run of another tool that started this process."""
    ancestors = set(processes.ancestors(pid))
    for run_id in _indexed(root):
        found = named(root, run_id)
        if (
            found
            and found["pid"] in ancestors
            and abs(processes.started_at(found["pid"]) - found["born"]) < _NEAR
        ):
            return run_id
    return None


def encloses(root: str, run_id: str) -> bool:
    """True if this process is part of an open run.

    A server that a tool left running keeps the id of an earlier run in its environment.
    """
    marker = named(root, run_id)
    return marker is not None and marker["pid"] in processes.ancestors(os.getpid()) and not is_gone(marker)


def adopt(root: str, run_id: str, session: Session, given: "dict[str, str] | None") -> bool:
    """Record the session of the command in a run that `agentplane run` opened. Return False for a foreign
    session.

    These sessions are foreign:

    - a session of another tool
    - a session of a tool that this tool started
    - a session of a server that outlives the run
    """
    marker = named(root, run_id)
    if marker is None or marker["asked"].get("tool") != session.tool:
        return False
    recorded, above = marker.get("session"), set(processes.ancestors(session.pid))
    known = recorded.get("pid") if isinstance(recorded, dict) else None
    if marker["pid"] not in above or known in above:
        return False
    fields = {"id": session.id, "transcript": session.transcript, "source": session.source, "given": given}
    found = {key: value for key, value in fields.items() if value}
    change(root, run_id, session=found | {"pid": session.pid})
    return True


def is_of(root: str, run_id: str, session: Session) -> bool:
    """True if a run that `agentplane run` opened belongs to this session. A run without a session can adopt
    it.
    """
    recorded = (named(root, run_id) or {}).get("session")
    known = recorded.get("id") if isinstance(recorded, dict) else None
    return adopt(root, run_id, session, None) if known is None else known == session.id


def begin(root: str, session: Session, given: "dict[str, str] | None", task: str | None) -> str:
    """Open a run for a session and return its id."""
    now = time.time()
    tail = "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(6))
    run_id = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(now))}-{tail}"
    asked = {
        "cwd": session.cwd,
        "tool": session.tool,
        "task": task,
        "parent_run_id": around(root, session.pid),
    }
    described = {"id": session.id, "transcript": session.transcript, "source": session.source, "given": given}
    marker = {
        "run_id": run_id,
        "started": instant(now),
        "pid": session.pid,
        "born": session.started_at,
        "asked": {key: value for key, value in asked.items() if value},
        "actor": session.tool,
        "revision": given["revision"] if given else "",
        "environment": {},
        "session": {key: value for key, value in described.items() if value},
    }
    if user_key.mark(_PURPOSE) is None:
        raise PermissionError(
            13, "the run was not opened, because the key that signs runs can't be stored", user_key.folder()
        )
    _must_be_folders(root)
    for part in (RUNS, f"{RUNS}/{run_id}", f"{RUNS}/{run_id}/{WORK}"):
        try:
            os.mkdir(os.path.join(root, part))
        except FileExistsError:
            _must_be_folders(root, part)
    work = os.path.join(root, RUNS, run_id, WORK)
    write(os.path.join(work, MARKER), marked(work, run_id, _encoded(marker)))
    point(root, session, run_id)
    return run_id


def marked(work: str, run_id: str, data: bytes) -> bytes:
    """Return the bytes of a marker with this content. Without a key, the marker is never accepted."""
    mark = user_key.mark(_PURPOSE, *_parts(work, run_id, data)) or b""
    return b"".join((_BEFORE, mark, _BETWEEN, data, _AFTER))


def believed(work: str, run_id: str, found: bytes) -> bytes | None:
    """Return the content of a marker that this user wrote on this machine for the folder `work`, else
    None.
    """
    start = len(_BEFORE) + user_key.MARK_LENGTH
    mark, data = found[len(_BEFORE) : start], found[start + len(_BETWEEN) : -len(_AFTER)]
    if found != b"".join((_BEFORE, mark, _BETWEEN, data, _AFTER)):
        return None
    return data if user_key.is_marked(mark, _PURPOSE, *_parts(work, run_id, data)) else None


def _parts(work: str, run_id: str, data: bytes) -> tuple[bytes, ...]:
    # The inode makes a copy of the folder invalid. The device is left out because its number may change at
    # each boot.
    return (run_id.encode(), b"%d" % os.lstat(work).st_ino, data)


def change(root: str, run_id: str, **fields: object) -> None:
    """Change fields of an open run's marker, and single fields of `session`. A lock protects concurrent
    changes.
    """
    import fcntl

    work = os.path.join(root, RUNS, run_id, WORK)
    fd = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        marker = named(root, run_id)
        if marker is None:
            return
        changes = fields.pop("session", None)
        if isinstance(changes, dict):
            marker["session"] = {**marker.get("session", {}), **changes}
        write(os.path.join(work, MARKER), marked(work, run_id, _encoded({**marker, **fields})))
    finally:
        os.close(fd)


def point(root: str, session: Session, run_id: str) -> None:
    """Record the run of a session as a hint. Without the hint, finding the run takes longer."""
    try:
        for part in (os.path.dirname(INDEX), INDEX):
            _must_be_folders(root, *_below(os.path.dirname(part)))
            try:
                os.mkdir(os.path.join(root, part))
            except FileExistsError:
                _must_be_folders(root, *_below(part))
        write(os.path.join(root, INDEX, session.key), run_id.encode())
    except OSError:
        pass


def is_gone(marker: "dict[str, Any]") -> bool:
    """True if the process of an open run has ended."""
    return abs(processes.started_at(int(marker["pid"])) - float(marker["born"])) >= _NEAR


def tidy(root: str) -> None:
    """Remove the hints to runs that are no longer open."""
    try:
        _must_be_folders(root, *_below(INDEX))
        for name in os.listdir(os.path.join(root, INDEX)):
            path = os.path.join(root, INDEX, name)
            if named(root, read(path).decode(errors="replace")) is None:
                os.unlink(path)
    except OSError:
        pass


def instant(moment: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))
    return f"{whole}.{int(moment % 1 * 1000):03d}Z"


def read(path: str) -> bytes:
    """Return the content of a small regular file. Without O_NONBLOCK, a FIFO at that path would block the
    tool.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        return file.read(_LARGEST)


def write(path: str, data: bytes) -> None:
    """Write a file atomically. `text.files` recognizes the temporary name if this process is killed."""
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".{name}.{os.getpid()}-{os.urandom(6).hex()}.tmp")
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with open(fd, "wb") as file:
            file.write(data)
        os.replace(temp, path)
    except OSError:
        os.unlink(temp)
        raise


def _encoded(marker: "dict[str, Any]") -> bytes:
    return json.dumps(marker, separators=(",", ":")).encode()


def _must_be_folders(root: str, *below: str) -> None:
    """Raise NotADirectoryError for a link in place of a folder, which could lead out of the plane."""
    import stat

    path = root
    for part in ("", *below):
        path = os.path.join(path, part) if part else path
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise NotADirectoryError(20, "this path is not a regular folder", path)


def _below(path: str) -> "list[str]":
    return [part for part in path.split(os.sep) if part]


def _indexed(root: str) -> "list[str]":
    """Return the run ids in the hints of this plane's sessions."""
    folder = os.path.join(root, INDEX)
    try:
        _must_be_folders(root, *_below(INDEX))
        return [read(os.path.join(folder, name)).decode(errors="replace") for name in os.listdir(folder)]
    except OSError:
        return []


def _newest(root: str) -> "list[str]":
    try:
        names = sorted(os.listdir(os.path.join(root, RUNS)), reverse=True)
    except OSError:
        return []
    markers = ((name, os.path.join(root, RUNS, name, WORK, MARKER)) for name in names)
    return list(islice((name for name, marker in markers if os.path.lexists(marker)), _MOST))
