"""Reads and writes: whole or not at all, whatever the system does in between."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
from contextlib import suppress

import pytest

from agentplane.errors import Damaged
from agentplane.text import files


CALLS = (
    "open",
    "write",
    "fsync",
    "replace",
    "ftruncate",
    "unlink",
    "mkdir",
    "fchmod",
    "close",
    "lstat",
    "fstat",
)
WRITERS = {
    "append": lambda path: files.append(path, b"new line\n"),
    "write_atomic": lambda path: files.write_atomic(path, b"all new\n"),
    "truncate": lambda path: files.truncate(path, 4),
}
AFTER = {"append": b"old\nold\nnew line\n", "write_atomic": b"all new\n", "truncate": b"old\n"}
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


class Failing:
    """Lets the n-th call of the functions of `os` fail."""

    def __init__(self, monkeypatch, n, code=errno.ENOSPC):
        self.left, self.code, self.failed = n, code, None
        for name in CALLS:
            monkeypatch.setattr(os, name, self.wrapped(name, getattr(os, name)))

    def wrapped(self, name, call):
        def instead(*args, **kwargs):
            self.left -= 1
            if self.left == 0:
                self.failed = name
                if name == "close":
                    call(*args, **kwargs)
                raise OSError(self.code, os.strerror(self.code))
            return call(*args, **kwargs)

        return instead


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"old\nold\n")
    return path


def leftovers(folder):
    return [name for name in os.listdir(folder) if files.is_temp(name)]


def test_read(path):
    assert files.read(path) == files.read(str(path)) == files.read_if(path) == b"old\nold\n"
    assert files.read_if(path.with_name("none")) is None
    with files.reading(path) as stream:
        assert list(stream) == [b"old\n", b"old\n"]
    with pytest.raises(Damaged, match="doesn't exist"):
        files.read(path.with_name("none"))


@pytest.mark.parametrize("most", [1, 3, 8, 100])
def test_short_reads(path, most, monkeypatch):
    read = os.read
    monkeypatch.setattr(os, "read", lambda fd, size: read(fd, min(size, most)))
    assert files.read(path) == b"old\nold\n"


def test_a_file_that_changes_size_while_it_is_read(path, monkeypatch):
    fstat = os.fstat

    def grown(fd):
        status = fstat(fd)
        path.write_bytes(b"much longer than it was\n")
        return status

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", grown)
        assert files.read(path) == b"much longer than it was\n"

    def cut(fd):
        status = fstat(fd)
        path.write_bytes(b"cut")
        return status

    monkeypatch.setattr(os, "fstat", cut)
    assert files.read(path) == b"cut"


def test_append_gives_the_offset(path):
    assert files.append(path, b"a\n") == 8
    assert files.append(path, b"b\n") == 10
    assert files.append(path.with_name("new"), b"") == files.append(path.with_name("new"), b"c\n") == 0
    assert path.read_bytes() == b"old\nold\na\nb\n"


def test_truncate_never_grows(path):
    files.truncate(path, 4)
    with pytest.raises(Damaged, match="shorter than the expected 5 bytes"):
        files.truncate(path, 5)
    assert path.read_bytes() == b"old\n"


def test_make_folder(tmp_path):
    files.make_folder(tmp_path / "a")
    files.make_folder(tmp_path / "a")
    assert (tmp_path / "a").is_dir()
    with pytest.raises(Damaged, match="doesn't exist"):
        files.make_folder(tmp_path / "b" / "c")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with pytest.raises(Damaged, match="symbolic link, not a real folder"):
        files.make_folder(tmp_path / "link")


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("bits", [0o600, 0o640, 0o755, 0o444])
def test_write_atomic_keeps_the_permission_bits(path, bits, durable):
    path.chmod(bits)
    files.write_atomic(path, b"new", durable=durable)
    assert stat.S_IMODE(path.stat().st_mode) == bits
    assert path.read_bytes() == b"new"


def test_a_new_file_has_the_bits_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        files.write_atomic(tmp_path / "a", b"")
        files.append(tmp_path / "b", b"")
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"] == [0o640, 0o640]


def test_temp_names(tmp_path):
    seen = []
    replace = os.replace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", lambda old, new: (seen.append(old.name), replace(old, new)))
        for name in ("facts.md", "x" * 255, "ü" * 127):
            files.write_atomic(tmp_path / name, b"")
    assert all(files.is_temp(name) for name in seen)
    assert not any(map(files.is_temp, ("facts.md", ".facts.md", "facts.md.12-0123456789ab.tmp", ".a.tmp")))


@pytest.mark.parametrize("most", [1, 2, 3, 7])
@pytest.mark.parametrize("writer", ["append", "write_atomic"])
def test_short_writes(path, writer, most, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:most]))
    WRITERS[writer](path)
    assert path.read_bytes() == AFTER[writer]


def test_a_write_that_never_gets_on_is_an_error(path, monkeypatch):
    monkeypatch.setattr(os, "write", lambda fd, data: 0)
    with pytest.raises(Damaged, match="reported an error"):
        files.append(path, b"x")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EACCES])
@pytest.mark.parametrize("writer", WRITERS)
def test_every_call_may_fail(path, writer, code):
    """The old bytes, or once the new ones stand in the file, the new ones; nothing is left over."""
    failed = []
    for n in range(1, 100):
        path.write_bytes(b"old\nold\n")
        with pytest.MonkeyPatch.context() as patch:
            failing = Failing(patch, n, code)
            with suppress(Damaged):
                WRITERS[writer](path)
                assert failing.failed in {None, "close"}
        if failing.failed is None:
            break
        failed.append(failing.failed)
        assert path.read_bytes() in {b"old\nold\n", AFTER[writer]}
        if failing.failed in {"write", "fchmod", "replace"}:
            assert path.read_bytes() == b"old\nold\n"
        assert leftovers(path.parent) == []
    assert path.read_bytes() == AFTER[writer]
    assert "fsync" in failed


@pytest.mark.parametrize("writer", ["append", "write_atomic"])
def test_an_interrupt_leaves_the_old_bytes(path, writer, monkeypatch):
    def interrupted(fd):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        WRITERS[writer](path)
    assert path.read_bytes() == b"old\nold\n"
    assert leftovers(path.parent) == []


def test_a_half_written_append_is_cut_back(path, monkeypatch):
    write = os.write
    pieces = iter([3, 2])

    def until_full(fd, data):
        piece = next(pieces, None)
        if piece is None:
            raise OSError(errno.ENOSPC, "full")
        return write(fd, data[:piece])

    monkeypatch.setattr(os, "write", until_full)
    with pytest.raises(Damaged, match="no space is left") as caught:
        files.append(path, b"0123456789")
    assert caught.value.where == str(path)
    assert caught.value.todo
    assert path.read_bytes() == b"old\nold\n"


KILLED = """
import os, signal, sys
from agentplane.text import files
left = int(sys.argv[3])
def wrapped(call):
    def instead(*args, **kwargs):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return instead
for name in {calls!r}:
    setattr(os, name, wrapped(getattr(os, name)))
if sys.argv[1] == "append":
    files.append(sys.argv[2], b"new line\\n")
else:
    files.write_atomic(sys.argv[2], b"all new\\n")
"""


@pytest.mark.slow
@pytest.mark.parametrize("writer", ["append", "write_atomic"])
def test_killed_at_every_call(path, writer):
    for n in range(1, 60):
        path.write_bytes(b"old\nold\n")
        program = KILLED.format(calls=("open", "write", "fsync", "replace", "fchmod", "close"))
        command = [sys.executable, "-c", program, writer, str(path), str(n)]
        done = subprocess.run(command, check=False)
        assert path.read_bytes() in {b"old\nold\n", AFTER[writer]}
        others = set(os.listdir(path.parent)) - {path.name}
        assert all(files.is_temp(name) for name in others)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == AFTER[writer]


LIMITED = """
import resource, signal, sys
from agentplane.errors import Damaged
from agentplane.text import files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    getattr(files, sys.argv[1])(sys.argv[2], b"x" * 20_000)
except Damaged as error:
    print(error.what)
"""


@pytest.mark.parametrize("writer", ["append", "write_atomic"])
def test_a_file_that_may_not_grow(path, writer):
    """The system writes the first part, then refuses."""
    done = subprocess.run([sys.executable, "-c", LIMITED, writer, str(path)], capture_output=True, text=True)
    assert done.stdout == "the file would exceed the file size limit\n", done.stderr
    assert path.read_bytes() == b"old\nold\n"
    assert leftovers(path.parent) == []


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("cannot mount here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@as_root
@pytest.mark.parametrize("writer", ["append", "write_atomic"])
def test_full_disk(small_disk, writer):
    path = small_disk / "log"
    path.write_bytes(b"old\n")
    with pytest.raises(Damaged, match="no space is left"):
        getattr(files, writer)(path, b"x" * 100_000)
    assert path.read_bytes() == b"old\n"
    assert os.listdir(small_disk) == ["log"]
    getattr(files, writer)(path, b"fits\n")


@as_root
def test_read_only_disk(small_disk):
    path = small_disk / "log"
    path.write_bytes(b"old\nold\n")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for write in (*WRITERS.values(), lambda path: files.make_folder(path.with_name("folder"))):
        with pytest.raises(Damaged, match="the disk is read-only"):
            write(path)
    assert files.read(path) == b"old\nold\n"


@pytest.fixture
def mere_user():
    """Root may write anywhere, so it becomes nobody for the while."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    yield
    os.seteuid(before)


@pytest.fixture
def closed(path):
    path.parent.chmod(0o500)
    yield path
    path.parent.chmod(0o700)


def test_read_only_folder(closed, mere_user):
    for write in (files.write_atomic, files.append):
        with pytest.raises(Damaged, match="permission denied"):
            write(closed.with_name("other"), b"new")
    with pytest.raises(Damaged, match="permission denied"):
        files.write_atomic(closed, b"new")
    with pytest.raises(Damaged, match="permission denied"):
        files.make_folder(closed.with_name("folder"))


EVERY = {**WRITERS, "read": files.read, "read_if": files.read_if}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("dangling", [True, False])
def test_never_through_a_link(path, name, dangling):
    link = path.with_name("link")
    link.symlink_to(path.with_name("none") if dangling else path)
    with pytest.raises(Damaged, match="is a symbolic link"):
        EVERY[name](link)
    assert link.is_symlink()
    assert path.read_bytes() == b"old\nold\n"
    assert not path.with_name("none").exists()


@pytest.mark.parametrize("name", ["append", "truncate", "read"])
def test_a_link_that_comes_up_after_the_look(path, name, monkeypatch):
    link = path.with_name("link")
    link.symlink_to(path)
    plain = os.lstat(path)
    monkeypatch.setattr(os, "lstat", lambda _: plain)
    with pytest.raises(Damaged, match="is a symbolic link"):
        EVERY[name](link)


@pytest.mark.parametrize("name", EVERY)
def test_what_is_no_plain_file(tmp_path, name):
    """Refused at once: opening a FIFO would wait for somebody at its other end."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for odd, what in (
        (tmp_path / "fifo", "named pipe"),
        (tmp_path / "folder", "folder"),
        ("/dev/null", "device"),
    ):
        with pytest.raises(Damaged, match=f"is a {what}, not a regular file"):
            EVERY[name](odd)


@pytest.mark.parametrize("name", ["append", "truncate", "read"])
def test_a_fifo_that_comes_up_after_the_look(path, name, monkeypatch):
    fifo = path.with_name("fifo")
    os.mkfifo(fifo)
    plain = os.lstat(path)
    monkeypatch.setattr(os, "lstat", lambda _: plain)
    with pytest.raises(Damaged):
        EVERY[name](fifo)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("odd", ["", "a\0b", "a\ud800b", "x" * 5000])
def test_unusable_paths(tmp_path, name, odd):
    with pytest.raises(Damaged):
        EVERY[name](str(tmp_path / odd) if odd else odd)


def test_plain_folder(tmp_path):
    root = tmp_path / "plane"
    inner = root / "runs" / "one"
    inner.mkdir(parents=True)
    files.plain_folder(inner, root)
    files.plain_folder(root, root)
    with pytest.raises(Damaged, match="is outside"):
        files.plain_folder(tmp_path, root)
    with pytest.raises(Damaged, match=r"contains `\.\.`"):
        files.plain_folder(root / ".." / "plane", root)
    with pytest.raises(Damaged, match="doesn't exist"):
        files.plain_folder(root / "none", root)
    (root / "file").touch()
    with pytest.raises(Damaged, match="is a file, not a real folder"):
        files.plain_folder(root / "file", root)


def test_plain_folder_sees_a_link_anywhere(tmp_path):
    real = tmp_path / "real"
    (real / "runs" / "one").mkdir(parents=True)
    (tmp_path / "plane").symlink_to(real)
    with pytest.raises(Damaged, match="symbolic link"):
        files.plain_folder(tmp_path / "plane" / "runs", tmp_path / "plane")
    (real / "ops").symlink_to(real / "runs")
    with pytest.raises(Damaged, match="symbolic link"):
        files.plain_folder(real / "ops" / "one", real)


APPENDER = """
import os, sys
from agentplane.text import files
who = sys.argv[2].encode()
write = os.write
os.write = lambda fd, data: write(fd, data[:7])
for n in range(50):
    line = b"%s:%d:%s\\n" % (who, n, who * 20)
    offset = files.append(sys.argv[1], line)
    with open(sys.argv[1], "rb") as file:
        file.seek(offset)
        assert file.read(len(line)) == line
"""


@pytest.mark.slow
def test_concurrent_appends_interleave_by_whole_lines(tmp_path):
    """Even when the system takes each line in pieces; and each writer knows where its line is."""
    path = tmp_path / "log"
    command = [sys.executable, "-c", APPENDER, str(path)]
    running = [subprocess.Popen([*command, who]) for who in "abcdefgh"]
    assert [process.wait() for process in running] == [0] * 8
    expected = {f"{who}:{n}:{who * 20}" for who in "abcdefgh" for n in range(50)}
    lines = path.read_text().splitlines()
    assert len(lines) == 400
    assert set(lines) == expected


def test_no_descriptor_is_left_open(path):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    first = os.open(path, os.O_RDONLY)
    os.close(first)
    for _ in range(min(limit, 50)):
        files.append(path, b"x\n")
        files.write_atomic(path, b"x\n")
        with suppress(Damaged):
            files.read(path.parent)
    last = os.open(path, os.O_RDONLY)
    os.close(last)
    assert last == first


def test_the_start_of_a_file_is_replaced_in_place(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old start and the rest")
    before = path.stat().st_ino
    assert files.overwrite_start(path, b"old start", b"new start", 4)
    assert path.read_bytes() == b"new start and the rest"
    assert path.stat().st_ino == before


@pytest.mark.parametrize("old", [b"another", b"old starting"])
def test_another_start_stays(tmp_path, old):
    path = tmp_path / "file"
    path.write_bytes(b"old start and the rest")
    assert not files.overwrite_start(path, old, b"new start", 4)
    assert path.read_bytes() == b"old start and the rest"


def test_a_file_with_two_names_or_a_link_is_not_overwritten(tmp_path):
    path, other = tmp_path / "file", tmp_path / "other"
    path.write_bytes(b"old")
    os.link(path, other)
    assert not files.overwrite_start(path, b"old", b"new", 0)
    other.unlink()
    other.symlink_to(path)
    assert not files.overwrite_start(other, b"old", b"new", 0)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("call", range(1, 7))
def test_a_start_that_is_half_written_is_neither_of_the_two(tmp_path, monkeypatch, call):
    path = tmp_path / "file"
    path.write_bytes(b"aaaaaaaa and the rest")
    real, left = os.write, [call]

    def half(fd, data):
        left[0] -= 1
        if left[0] == 0:
            real(fd, bytes(data)[: len(data) // 2])
        if left[0] <= 0:
            raise OSError(errno.EIO, "error")
        return real(fd, data)

    monkeypatch.setattr(os, "write", half)
    done = files.overwrite_start(path, b"aaaaaaaa", b"bbbbbbbb", 2)
    start = path.read_bytes()[:8]
    assert path.read_bytes()[8:] == b" and the rest"
    assert done == (start == b"bbbbbbbb") == (call > 3)
    assert done or call == 1 or start[2:3] == b"-"


def test_a_stamp_changes_with_the_bytes(tmp_path):
    path = tmp_path / "file"
    assert files.stamp(path) is None
    path.write_bytes(b"one")
    before = files.stamp(path)
    assert files.stamp(path) == before
    files.write_atomic(path, b"two")
    assert files.stamp(path) != before


@pytest.mark.parametrize("before", [None, b"", b"old"])
def test_replace_writes_only_over_the_expected_bytes(tmp_path, before):
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)
    for other in {None, b"", b"old"} - {before}:
        assert not files.replace(path, other, b"new")
    assert files.read_if(path) == before
    assert files.replace(path, before, b"new")
    assert path.read_bytes() == b"new"
