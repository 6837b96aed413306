"""Reads and writes of a plane's files.

A write happens completely or not at all, reaches the disk, and never goes through a link. Only calls of `os`
touch the disk, so that a test can fail or kill at each of them. The plane's lock keeps two writers apart.
This module only keeps the bytes of one call together.
"""

import errno
import fcntl
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from agentplane.errors import Damaged


StrPath = str | os.PathLike[str]
Stamp = tuple[int, int, int, int]

_NEVER_A_LINK = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""Flags for every open. Without O_NONBLOCK, opening a FIFO in place of a file would hang."""

_CHUNK = 1 << 20
_PIECE = 120 << 10
"""Small enough that freed memory is reused. The system may fetch and clear blocks over 128 KiB each time."""
_LARGEST = 2 << 30
"""Maximum bytes of a file that is read completely."""
_TEMP = re.compile(r"\..+\.\d+-[0-9a-f]{12}\.tmp", re.DOTALL)
_TEMP_PARTS = re.compile(r"\.(.+)\.(\d{1,10})-[0-9a-f]{12}\.tmp", re.DOTALL)
_LONGEST_IN_TEMP = 200
"""Maximum bytes of a file's name that its temporary name repeats. Both must fit into 255."""

_WORDS = {
    errno.ENOSPC: ("no space is left on the disk", "Free some space, then try again."),
    errno.EDQUOT: ("your disk quota is used up", "Free some space, then try again."),
    errno.EFBIG: ("the file would exceed the file size limit", "Raise the file size limit."),
    errno.EROFS: ("the disk is read-only", "Make the disk writable, then try again."),
    errno.EACCES: ("permission denied", "Check the owner and the permissions of the file."),
    errno.EPERM: (
        "the operating system doesn't permit this operation",
        "Check who owns the file and whether it is protected.",
    ),
    errno.ENOENT: ("the file or its folder doesn't exist", "Check the path."),
    errno.ENOTDIR: (
        "part of the path is a file instead of a folder",
        "Move that file, or use a different path.",
    ),
    errno.EISDIR: ("this is a folder, not a file", "Move the folder somewhere else."),
    errno.ELOOP: ("this is a symbolic link", "Replace the link with the real file."),
    errno.ENAMETOOLONG: ("the name is too long", "Choose a shorter name."),
    errno.EMFILE: ("too many files are open", "Close some programs, then try again."),
    errno.ENFILE: ("too many files are open", "Close some programs, then try again."),
    errno.EIO: (
        "the disk reported an error",
        "Check the disk for errors, and make sure that you have a backup.",
    ),
}


def read(path: StrPath, most: int | None = None) -> bytes:
    """Return the bytes of a file. With `most`, return at most this many bytes from its beginning."""
    with _opened(path, os.O_RDONLY) as fd:
        size = os.fstat(fd).st_size
        if most is not None:
            return _first(fd, most)
        if size > _LARGEST:
            # A file with a hole can have any size and cost its author nothing.
            todo = "Restore the correct version of this file."
            raise Damaged(f"this file is larger than {_LARGEST >> 30} GiB", where=str(path), todo=todo)
        whole = os.read(fd, size)
        # The system may return less at once, and the file may have grown since.
        rest = iter(lambda: os.read(fd, _PIECE), b"")
        return b"".join([whole, *rest])


def pieces(path: StrPath, begin: int) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces, starting at an offset.

    Use it to copy files that are too large for memory.
    """
    with _opened(path, os.O_RDONLY) as fd:
        os.lseek(fd, begin, os.SEEK_SET)
        while piece := os.read(fd, _PIECE):
            yield piece


def stamp(path: StrPath) -> Stamp | None:
    """Return the times, the size and the number of a file, or None if it can't be read. They change with its bytes."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def holds(path: StrPath, data: bytes) -> bool:
    """True if a file has exactly these bytes. The file is compared in pieces. False if it doesn't exist."""
    try:
        with _opened(path, os.O_RDONLY) as fd:
            if os.fstat(fd).st_size != len(data):
                return False
            rest, piece = memoryview(data), bytearray(min(_PIECE, len(data) + 1))
            while count := os.readv(fd, [piece]):
                # A bytearray compares all bytes at once. A view would compare each byte separately.
                if (piece if count == len(piece) else piece[:count]) != rest[:count]:
                    return False
                rest = rest[count:]
            return not rest
    except Damaged:
        return False


def read_if(path: StrPath, most: int | None = None) -> bytes | None:
    """Return the bytes of a file, or None if it doesn't exist."""
    with _explained(path):
        try:
            os.lstat(_usable(path))
        except FileNotFoundError:
            return None
    return read(path, most)


@contextmanager
def reading(path: StrPath) -> Iterator[BinaryIO]:
    """Yield a file as a stream, for files that are too large for memory."""
    with _opened(path, os.O_RDONLY) as fd, os.fdopen(fd, "rb", _CHUNK, closefd=False) as stream:
        yield stream


def append(path: StrPath, data: bytes) -> int:
    """Append data and return its offset in the file.

    The data is then on the disk. If this fails, the file keeps its length.
    """
    with _opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as fd, ExitStack() as unless_done:
        _wait_for_appenders(fd)
        begin = os.fstat(fd).st_size
        unless_done.callback(_cut_back, fd, begin)
        _write(fd, data)
        _sync(fd)
        if begin == 0:
            _sync_folder(path)
        unless_done.pop_all()
        return begin


def _cut_back(fd: int, size: int) -> None:
    """Cut a file back to its earlier size after a failed append.

    Errors are ignored here, because the error of the append is the one to report.
    """
    with suppress(OSError):
        os.ftruncate(fd, size)
        _sync(fd)


def write_atomic(
    path: StrPath,
    data: bytes | Iterable[bytes],
    *,
    durable: bool = True,
    only_if: Callable[[], bool] | None = None,
) -> bool:
    """Replace a file, and return True if it was written.

    The file has its old or its new bytes, even after a power failure.

    `data` has all bytes, or pieces in order.

    `only_if` is called at the last moment, when the new bytes are ready and the file still has the old ones.

    `durable=False` is for files that can be derived again. Other processes still see complete files, but the
    call doesn't wait for the disk.
    """
    with _explained(path):
        target = Path(_usable(path))
        bits = _permission_bits(target)
        temp = _temp_beside(target)
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NEVER_A_LINK, 0o666)
        with ExitStack() as unless_done:
            unless_done.callback(_drop, temp)
            _fill(fd, data, bits, durable=durable)
            if only_if is not None and not only_if():
                return False
            os.replace(temp, target)
            unless_done.pop_all()
        if durable:
            _sync_folder(target)
        return True


def replace(path: StrPath, before: bytes | None, after: bytes) -> bool:
    """Replace a file only if it still has the bytes `before`, or still doesn't exist if `before` is None.

    Return True if it was written.
    """
    return write_atomic(path, after, only_if=lambda: read_if(path) == before)


def overwrite_start(path: StrPath, old: bytes, new: bytes, decisive: int) -> bool:
    """Replace the first bytes of a file in place, for a large file that can be derived again. Return True on success.

    Do nothing if the file doesn't start with `old`, or has another name, or if the two starts differ in length.

    The byte at `decisive` is replaced by `-` first, and written last. So if a process ends in between, the file has
    neither start.
    """
    if len(old) != len(new):
        return False
    try:
        with _opened(path, os.O_RDWR) as fd:
            if os.fstat(fd).st_nlink != 1 or os.pread(fd, len(old), 0) != old:
                return False
            _write_at(fd, decisive, b"-")
            _write_at(fd, 0, new[:decisive] + b"-" + new[decisive + 1 :])
            _write_at(fd, decisive, new[decisive : decisive + 1])
    except Damaged:
        return False
    return True


def _write_at(fd: int, place: int, data: bytes) -> None:
    os.lseek(fd, place, os.SEEK_SET)
    _write(fd, data)


def _drop(temp: StrPath) -> None:
    """Delete a temporary file that didn't replace its target. A later write deletes it if this fails."""
    with suppress(OSError):
        os.unlink(temp)


def truncate(path: StrPath, size: int) -> None:
    """Cut a file to a size. Raise Damaged if it is shorter."""
    with _opened(path, os.O_WRONLY) as fd:
        if size > os.fstat(fd).st_size:
            raise Damaged(
                f"this file is shorter than the expected {size} bytes",
                where=str(path),
                todo="Run `agentplane doctor`.",
                sees_doctor=True,
            )
        os.ftruncate(fd, size)
        _sync(fd)


def remove(path: StrPath) -> None:
    """Delete a file or a link. Do nothing if it doesn't exist."""
    with _explained(path), suppress(FileNotFoundError):
        os.unlink(_usable(path))


def make_folder(path: StrPath) -> None:
    """Create a folder inside an existing folder. Do nothing if it already exists."""
    with _explained(path):
        target = _usable(path)
        try:
            os.mkdir(target)
        except FileExistsError:
            _must_be_folder(target)
            return
        _sync_folder(target)


def plain_folder(path: StrPath, root: StrPath) -> None:
    """Raise Damaged for a folder outside root, or one that is reached through a link or `..`."""
    # This runs for every file that is read or written, so it creates no object for each part of the path.
    top, folder = _plain_name(root), _plain_name(path)
    if folder == top or folder.startswith(f"{top.rstrip('/')}/"):
        below: Sequence[str] = [part for part in folder[len(top) :].split("/") if part]
    elif Path(folder).is_relative_to(top):
        below = Path(folder).relative_to(top).parts
    else:
        raise Damaged(f"this path is outside {top}", where=str(path), todo=f"Use a path inside {top}.")
    if ".." in below:
        raise Damaged("this path contains `..`", where=str(path), todo="Use a path without `..`.")
    step = top
    try:
        _must_be_folder(step)
        for part in below:
            step = os.path.join(step, part)
            _must_be_folder(step)
    except OSError as error:
        raise _in_words(error, step) from error


def without_odd_bytes(path: str) -> str:
    """Return a path without bytes that JSON cannot represent."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


def _plain_name(path: StrPath) -> str:
    """Return a path in the form that `Path` writes."""
    name = _usable(path)
    return name if isinstance(path, Path) else str(Path(name))


def is_temp(name: str) -> bool:
    """True for the name of a temporary file that a killed `write_atomic` left behind."""
    return _TEMP.fullmatch(name) is not None


def temp_of(name: str) -> tuple[str, int] | None:
    """Return the target of a temporary name and the process that created it. Return None for other names."""
    found = _TEMP_PARTS.fullmatch(name)
    return (found[1], int(found[2])) if found else None


@contextmanager
def _opened(path: StrPath, flags: int) -> Iterator[int]:
    with _explained(path):
        name = _usable(path)
        # Opening a device can have effects, so the file type is checked before and after.
        with suppress(FileNotFoundError):
            _must_be_file(os.lstat(name).st_mode, name)
        fd = os.open(name, flags | _NEVER_A_LINK, 0o666)
        try:
            _must_be_file(os.fstat(fd).st_mode, name)
            yield fd
        finally:
            os.close(fd)


@contextmanager
def _explained(path: StrPath) -> Iterator[None]:
    """Raise system errors as Damaged, with words instead of numbers."""
    try:
        yield
    except OSError as error:
        raise _in_words(error, path) from error


def _in_words(error: OSError, path: StrPath) -> Damaged:
    known = _WORDS.get(error.errno or 0)
    if known is None:
        what = os.strerror(error.errno or 0).lower()
        return Damaged(what, where=str(path), todo="Run `agentplane doctor`.", sees_doctor=True)
    what, todo = known
    return Damaged(what, where=str(path), todo=todo)


def _first(fd: int, most: int) -> bytes:
    pieces: list[bytes] = []
    while most > 0 and (piece := os.read(fd, min(most, _CHUNK))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def _usable(path: StrPath) -> str:
    name = os.fspath(path)
    try:
        usable = name != "" and b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise Damaged(
            "this isn't a valid path", where=ascii(name), todo="Choose a name without control characters."
        )
    return name


def _must_be_file(mode: int, path: StrPath) -> None:
    if not stat.S_ISREG(mode):
        todo = "Replace this with a regular file."
        raise Damaged(f"this is {_kind_name(mode)}, not a regular file", where=str(path), todo=todo)


def _must_be_folder(path: str) -> None:
    mode = os.lstat(path).st_mode
    if not stat.S_ISDIR(mode):
        todo = "Replace this with a real folder."
        raise Damaged(f"this is {_kind_name(mode)}, not a real folder", where=path, todo=todo)


def _kind_name(mode: int) -> str:
    kinds = (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISREG, "a file"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((name for holds, name in kinds if holds(mode)), "a device")


def _permission_bits(path: Path) -> int | None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    _must_be_file(mode, path)
    return mode & 0o777


def _temp_beside(path: Path) -> Path:
    name = os.fsdecode(os.fsencode(path.name)[:_LONGEST_IN_TEMP])
    return path.with_name(f".{name}.{os.getpid()}-{os.urandom(6).hex()}.tmp")


def _fill(fd: int, data: bytes | Iterable[bytes], bits: int | None, *, durable: bool) -> None:
    """Write the data, and close the descriptor."""
    try:
        if bits is not None:
            os.fchmod(fd, bits)
        for piece in (data,) if isinstance(data, bytes) else data:
            _write(fd, piece)
        if durable:
            _sync(fd)
    finally:
        os.close(fd)


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = os.write(fd, rest)
        if written <= 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]


def _wait_for_appenders(fd: int) -> None:
    """Wait until no other process appends.

    The system may split a write, and a failed write is cut back, so appends must not overlap.
    """
    # Some network file systems can't lock. There only the plane's lock keeps writers apart.
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_EX)


def _sync(fd: int) -> None:
    if sys.platform == "darwin":
        # macOS returns from fsync before the drive has written. Some file systems support only fsync.
        with suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)


def _sync_folder(path: StrPath) -> None:
    """Make the name of a new file as durable as its bytes."""
    fd = os.open(Path(path).parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        # File systems that have nothing to sync in a folder return these errors.
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(fd)
