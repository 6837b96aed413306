"""Where output goes and input comes from: pipes that close, streams that are not there, other encodings, signals."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from tests.conftest import plane_in
from tests.e2e.conftest import proposed, started


def shell(folder: Path, line: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of bash in which `agentplane` is this program."""
    return subprocess.run(
        ["bash", "-c", f'agentplane() {{ "{sys.executable}" -m agentplane "$@"; }}\n{line}'],
        cwd=folder,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("words", ["history {} --texts", "list --json", "--help", "inbox", "history"])
def test_a_reader_that_leaves_is_no_error(repository: Path, words: str) -> None:
    """`| true` closes the pipe before anything is written; 1 would mean findings."""
    id_ = proposed(repository)
    done = shell(repository, f"(sleep 0.2; agentplane {words.format(id_)}; echo code $? >&2) | true")
    assert done.stderr in ("code 0\n", "code 141\n")


def test_head_gets_its_line(repository: Path) -> None:
    for count in range(3):
        proposed(repository, f"Number {count}.")
    done = shell(repository, "set -o pipefail; agentplane inbox --json | head -1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


@pytest.mark.parametrize("words", ["status", "badge", "propose x", "inbox --json", "doctor"])
def test_without_standard_input(repository: Path, words: str) -> None:
    """As a daemon or a cron job starts it."""
    proposed(repository)
    badge = shell(repository, "agentplane badge; agentplane badge")
    assert badge.returncode == 0
    done = shell(repository, f"agentplane {words} <&-")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


def test_without_standard_input_nobody_decides(repository: Path) -> None:
    done = shell(repository, f"agentplane approve {proposed(repository)} <&-")
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 2


def test_a_statement_from_standard_input_that_is_closed(repository: Path) -> None:
    done = shell(repository, "agentplane propose - <&-")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) <= 2


@pytest.mark.parametrize("words", ["status", "badge", "propose x", "inbox --json", "--help"])
def test_without_standard_output(repository: Path, words: str) -> None:
    proposed(repository)
    done = shell(repository, f"agentplane badge >/dev/null; agentplane {words} >&-")
    assert "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("words", ["status", "badge", "list --json", "--help"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_behind_standard_output(repository: Path, words: str) -> None:
    proposed(repository)
    done = shell(repository, f"agentplane badge >/dev/null; agentplane {words} >/dev/full")
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode not in (0, 3)
    assert 1 <= len(done.stderr.splitlines()) <= 2


def test_without_standard_error_data_still_comes(repository: Path) -> None:
    done = shell(repository, "agentplane propose x 2>&-")
    assert done.returncode == 0
    assert done.stdout.startswith("CAND-")


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("latin-1", marks=pytest.mark.full)])
@pytest.mark.parametrize(
    "words", ["inbox", "show {}", "history {} --texts", "propose --help", "inbox --json"]
)
def test_every_encoding_can_be_printed_to(repository: Path, encoding: str, words: str) -> None:
    id_ = proposed(repository, "漢字 ✓ ünïcode 🚀", tags=["ü"])
    done = subprocess.run(
        [sys.executable, "-m", "agentplane", *words.format(id_).split()],
        cwd=repository,
        env={
            **os.environ,
            "PYTHONIOENCODING": encoding,
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
        },
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_a_statement_is_utf8_whatever_the_locale(repository: Path) -> None:
    done = shell(repository, "echo 'ünïcode ✓' | agentplane propose -", LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert plane_in(repository).memory.read().inbox[0].statement == "ünïcode ✓"


def test_standard_input_that_is_not_utf8(repository: Path) -> None:
    done = shell(repository, r"printf 'a\xff\xfeb' | agentplane propose -")
    assert done.returncode == 2
    assert "UTF-8" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_data_and_notes_are_kept_apart(repository: Path) -> None:
    done = started(["propose", "x"], repository)
    assert done.stdout.startswith("CAND-")
    assert done.stdout.count("\n") == 1
    assert done.stderr
    refused = started(["approve", "x", "--json"], repository)
    assert refused.stdout == "" or "refused" in json.loads(refused.stdout)


@pytest.fixture
def held(repository: Path):
    """The plane's lock, held by another process."""
    holder = subprocess.Popen(
        [sys.executable, "-m", "tests.actor", "hold", str(repository), "60"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "held\n"
    yield holder
    holder.kill()
    holder.wait()
    holder.stdout.close()


def test_a_locked_plane_can_be_read_and_says_who_holds_it(repository: Path, held) -> None:
    (repository / ".agentplane" / "config.toml").write_text("[write]\nlock_timeout = 0.2\n")

    done = started(["propose", "x"], repository)

    assert done.returncode == 4
    assert f"pid {held.pid}" in done.stderr
    assert len(done.stderr.splitlines()) == 2
    for words in (["status"], ["inbox"], ["list"], ["history"], ["badge"]):
        assert started(words, repository).returncode == 0


def test_a_lock_whose_owner_died_is_free(repository: Path, held) -> None:
    held.kill()
    held.wait()
    assert started(["propose", "x"], repository).returncode == 0


def silent(stream: IO[bytes], seconds: float = 1.0) -> bytes:
    """What a stream says until it says nothing for so long."""
    said = b""
    while select.select([stream], [], [], seconds)[0]:
        if not (piece := os.read(stream.fileno(), 1 << 16)):
            break
        said += piece
    return said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_waits_for_the_lock_can_be_stopped(
    repository: Path, held, number: signal.Signals
) -> None:
    before = (repository / ".agentplane" / "memory" / "log.jsonl").read_bytes()
    waiting = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "agentplane", "propose", "x"],
        cwd=repository,
        stderr=subprocess.PIPE,
    )
    # It loads this before it begins to wait, and then it says nothing more.
    loaded = b""
    while b" filelock" not in loaded:
        assert waiting.poll() is None
        loaded += silent(waiting.stderr)
    waiting.send_signal(number)
    _, said = waiting.communicate(timeout=60)
    assert waiting.returncode in (130, -number, 128 + number)
    assert b"Traceback" not in said
    assert (repository / ".agentplane" / "memory" / "log.jsonl").read_bytes() == before
