"""Files that cost more than they are worth: what a prompt and a session start may spend on them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from agentplane.api import Plane
from tests.attack.test_shadowed import PROGRAM
from tests.cases import some
from tests.conftest import decision, plane_in


MEBIBYTE = 1 << 20
SECONDS = 9.0
"""The budget of the badge is 5 s, that of a hook 4 s; the rest is for a machine that is busy."""
MEMORY = 1300 * MEBIBYTE

DOTS = b"a" + b".a" * 30_000
BOMB = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (name, name, b", ".join([b"*%c" % (name - 1)] * 9)) for name in range(ord("b"), ord("k"))
)  # fmt: skip


def entry(header: bytes) -> bytes:
    return b"---\nid: DEC-900\ntype: decision\nstatus: accepted\n" + header + b"---\nDecision: x\n\n"


def nested(size: int = MEBIBYTE) -> bytes:
    return b"[" * (size // 2) + b"]" * (size // 2)


CONTENTS: dict[str, Callable[[], bytes]] = {
    "dots": lambda: DOTS + b" = 1\n",
    "dots in a header": lambda: b"[" + DOTS + b"]\n",
    "many keys": lambda: b"".join(b"k%d = 1\n" % number for number in range(200_000)),
    "nested": nested,
    "nested objects": lambda: b'{"a":' * 200_000,
    "one long line": lambda: b"x" * (16 * MEBIBYTE),
    "long lines": lambda: (b"x" * 100_000 + b"\n") * 100,
    "binary": lambda: bytes(range(256)) * 4096,
    "spaces": lambda: b" " * MEBIBYTE,
    "newlines": lambda: b"\n" * MEBIBYTE,
    "rules": lambda: b"---\n" * 250_000,
    "quotes": lambda: b'"' * MEBIBYTE,
    "alias bombs": lambda: entry(BOMB) * 2000,
    "flow": lambda: entry(b"x: " + b"[" * 10_000 + b"]" * 10_000 + b"\n") * 50,
    "many small headers": lambda: b"".join(
        b"---\nid: DEC-%d\ntype: decision\nstatus: accepted\n---\nDecision: x\n\n" % number for number in range(20_000)
    ),
    "many fields": lambda: entry(b"".join(b"k%d: v\n" % number for number in range(5000))) * 30,
    "fences": lambda: b"```\n~~~\n" * 130_000,
    "chained lines": lambda: b'{"hash_prev":"%s","hash_self":"%s"}\n' % (b"0" * 64, b"1" * 64) * 5000,
}  # fmt: skip
QUICK = {
    ("config.toml", "dots"),
    ("config.toml", "nested"),
    ("memory/decisions.md", "alias bombs"),
    ("memory/decisions.md", "binary"),
    ("memory/log.jsonl", "dots"),
    ("memory/log.jsonl", "nested"),
}

FILES = (
    "config.toml",
    "memory/decisions.md",
    "memory/candidates.md",
    "memory/log.jsonl",
    "memory/state.json",
    "memory/artifacts.json",
    "ops/MONTH",
    "cache/badge",
    "cache/contested",
    "cache/ledger.mp",
    "cache/owner",
    "cache/pages/decisions.mp",
    "cache/given-up",
)


@pytest.fixture
def hostile(project: Path) -> Plane:
    made = plane_in(project)
    made.inbox.approve([made.propose(decision("Use Textual."))])
    made.propose(decision("Webhooks carry a signature."))
    made.inbox.badge()
    return made


def place(plane: Plane, name: str) -> Path:
    if name == "ops/MONTH":
        (found,) = plane.layout.ops.glob("*.jsonl")
        return found
    return plane.layout.root / name


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)


class Spent(msgspec.Struct, frozen=True):
    code: int
    out: str
    err: str
    seconds: float
    """Of processor time, which other work on the machine does not change."""
    memory: int


def spent(folder: Path, *words: str, piped: str = "") -> Spent:
    """Runs the program below a process that knows what its children took at most."""
    script = (
        "import json, resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True, errors='replace', input=sys.stdin.read())\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "taken = used.ru_utime + used.ru_stime\n"
        "most = used.ru_maxrss * (1 if sys.platform == 'darwin' else 1024)\n"
        "print(json.dumps([done.returncode, done.stdout, done.stderr, taken, most]))\n"
    )
    done = subprocess.run(
        (sys.executable, "-I", "-c", script, PROGRAM, *words),
        cwd=folder,
        input=piped,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return Spent(*json.loads(done.stdout))


def cheap(plane: Plane) -> None:
    """Two prompts and a session's start keep to their budgets; the second prompt is spared what the first one found."""
    folder = plane.layout.project
    for _ in range(2):
        found = spent(folder, "badge")
        assert found.code in (0, 2, 4)
        assert found.err == ""
        assert len(found.out) < 40
        assert found.seconds < SECONDS
        assert found.memory < MEMORY
    call = json.dumps({"session_id": "s", "cwd": str(folder), "source": "startup"})
    found = spent(folder, "hook", "session-start", "--tool", "claude-code", piped=call)
    assert (found.code, found.err) == (0, "")
    assert isinstance(json.loads(found.out), dict)
    assert found.seconds < SECONDS
    assert found.memory < MEMORY


def cases() -> Iterator[object]:
    for file in FILES:
        for name in CONTENTS:
            marks = () if (file, name) in QUICK else (pytest.mark.full,)
            yield pytest.param(file, name, marks=marks, id=f"{file}-{name}")


@pytest.mark.parametrize(("file", "name"), list(cases()))
def test_a_hostile_file(hostile: Plane, file: str, name: str) -> None:
    put(place(hostile, file), CONTENTS[name]())
    cheap(hostile)


@pytest.mark.parametrize("file", some(FILES, 5))
def test_a_pipe_a_folder_and_a_file_with_a_hole(hostile: Plane, file: str) -> None:
    path = place(hostile, file)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    cheap(hostile)
    path.unlink()
    path.write_bytes(b"")
    os.truncate(path, 1 << 40)
    cheap(hostile)
