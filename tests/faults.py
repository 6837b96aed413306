"""A process whose n-th file operation fails, or is its last.

Every call that changes something on disk is counted. `kill` ends the process by SIGKILL at that call, for a write after half
of the bytes; `stop` stops it there by SIGSTOP, until somebody sends SIGCONT; `enospc` and `erofs` let that call and all later
ones fail. With 0 nothing fails. The number of calls is printed as the last line.

An action is the `main` of a module that reads `sys.argv`. One process has everything loaded and forks once for each action
(`python -m tests.faults`), because starting an interpreter takes a hundred times as long as most actions.
"""

import atexit
import errno
import gc
import importlib
import json
import os
import pkgutil
import random
import select
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest


ROOT = Path(__file__).parents[1]
WATCHED = ("write", "fsync", "replace", "ftruncate", "unlink", "mkdir", "rename")
PATIENCE = 60.0


some_or_every = pytest.mark.parametrize(
    "step", [pytest.param(4, id="some"), pytest.param(1, id="every", marks=pytest.mark.full)]
)
"""For tests that fail each file operation of an action: `make test` takes every fourth."""


def points(count: int, step: int, start: int = 1) -> list[int]:
    """The operations that fail, one after another. The last is always among them."""
    return sorted({*range(start, count + 1, step), count})


class Request(msgspec.Struct, frozen=True):
    """One action in a process of its own."""

    mode: str
    at: int
    script: str
    words: list[str]
    environment: dict[str, str]
    output: str
    errors: str


class Answer(msgspec.Struct, frozen=True):
    pid: int
    status: int
    """As `os.waitpid` has it."""


class Parent:
    """The process that forks, as the tests see it."""

    def __init__(self) -> None:
        words = [sys.executable, "-m", "tests.faults"]
        self._process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, request: Request) -> Answer:
        """Starts the action, and waits until its process has ended or stands still."""
        return self._exchange({"start": msgspec.to_builtins(request)})

    def wait(self, pid: int) -> Answer:
        """Waits for the end of a process that stood still."""
        return self._exchange({"wait": pid})

    def close(self) -> None:
        self._process.communicate()

    def _exchange(self, message: dict[str, object]) -> Answer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        if not ready:
            _parent.cache_clear()
            self._process.kill()
            raise AssertionError(f"no end after {PATIENCE:.0f} seconds: {message}")
        return msgspec.json.decode(self._process.stdout.readline(), type=Answer)


@cache
def _parent() -> Parent:
    made = Parent()
    atexit.register(made.close)
    return made


def run_child(mode: str, at: int, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Carries out an action whose n-th file operation fails."""
    with _asked(mode, at, script, words) as (answer, output, errors):
        code = os.waitstatus_to_exitcode(answer.status)
        return subprocess.CompletedProcess([script, *words], code, output.read_text(), errors.read_text())


def calls_of(done: subprocess.CompletedProcess[str]) -> int:
    """How many file operations an action took that nothing disturbed."""
    assert done.returncode == 0, done.stderr
    return int(done.stdout.rpartition("calls ")[2])


@contextmanager
def stopped(at: int, script: str, *words: str) -> Iterator[int | None]:
    """The id of a process that stands still at its n-th file operation; None if it has fewer."""
    with _asked("stop", at, script, words) as (answer, _, errors):
        if not os.WIFSTOPPED(answer.status):
            yield None
            assert answer.status == 0, errors.read_text()
            return
        try:
            yield answer.pid
        finally:
            os.kill(answer.pid, signal.SIGCONT)
            assert _parent().wait(answer.pid).status == 0, errors.read_text()


@contextmanager
def _asked(mode: str, at: int, script: str, words: tuple[str, ...]) -> Iterator[tuple[Answer, Path, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        output, errors = Path(folder, "output"), Path(folder, "errors")
        request = Request(mode, at, script, list(words), dict(os.environ), str(output), str(errors))
        yield _parent().ask(request), output, errors


class Faults:
    def __init__(self, mode: str, at: int) -> None:
        self.mode = mode
        self.at = at
        self.count = 0

    def install(self) -> None:
        for name in WATCHED:
            setattr(os, name, self.watched(name, getattr(os, name)))
        os.open = self.watched_open(os.open)  # type: ignore[assignment]

    def watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            if name == "write" and (arguments[0] <= 2 or not stat.S_ISREG(os.fstat(arguments[0]).st_mode)):
                return real(*arguments, **more)  # what is printed, and a pipe or a terminal, is on no disk
            self.count += 1
            if self.hit():
                done = self.fail(name, real, arguments)
                if done is not None:
                    return done
            return real(*arguments, **more)

        return call

    def watched_open(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, *arguments: Any, **more: Any) -> int:
            if flags & os.O_CREAT and not os.path.exists(path):
                self.count += 1
                if self.hit():
                    self.fail("open", real, (path, flags, *arguments))
            return real(path, flags, *arguments, **more)

        return call

    def hit(self) -> bool:
        if self.mode in ("kill", "stop"):
            return self.count == self.at
        return 0 < self.at <= self.count

    def fail(self, name: str, real: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What the call returns, where it was begun here."""
        if self.mode in ("kill", "stop"):
            done = None
            if name == "write":
                data = bytes(arguments[1])
                done = real(arguments[0], data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL if self.mode == "kill" else signal.SIGSTOP)
            return done
        number = errno.ENOSPC if self.mode == "enospc" else errno.EROFS
        if self.mode == "enospc" and name in ("unlink", "ftruncate"):
            return None
        raise OSError(number, os.strerror(number))


def _preload() -> None:
    """Imports what actions use, so that no action has to."""
    import agentplane

    for found in pkgutil.walk_packages(agentplane.__path__, "agentplane."):
        if not found.name.startswith(_NOT_USED):
            importlib.import_module(found.name)
    for script in ("tests.actor", "tests.runs.actor"):
        importlib.import_module(script)


_NOT_USED = ("agentplane.__main__", "agentplane.cli", "agentplane.mcp", "agentplane.tui")


def _act(request: Request) -> int:
    """The action, in the process that was forked for it. Its exit code."""
    for number, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, request.output, os.O_WRONLY | os.O_CREAT),
        (2, request.errors, os.O_WRONLY | os.O_CREAT),
    ):
        os.dup2(os.open(path, flags), number)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.argv = [request.script, *request.words]
    random.seed()
    action = importlib.import_module(request.script).main
    faults = Faults(request.mode, request.at)
    faults.install()
    code = action() or 0
    print(f"\ncalls {faults.count}", flush=True)
    return int(code)


def main() -> int:
    _preload()
    gc.freeze()
    requests, answers = os.dup(0), os.dup(1)
    with os.fdopen(requests, "rb") as lines:
        for line in lines:
            message = json.loads(line)
            pid = message["wait"] if "wait" in message else os.fork()
            if pid == 0:
                return _act(msgspec.convert(message["start"], Request))
            _, status = os.waitpid(pid, os.WUNTRACED)
            os.write(answers, msgspec.json.encode(Answer(pid, status)) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
