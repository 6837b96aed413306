"""Commands as real processes: those that hang, fork, flood, escape and kill, and what they can reach."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from agentplane.curate.conditions.commands import environment, isolation
from agentplane.curate.conditions.commands.isolation import Level
from agentplane.curate.conditions.commands.results import result_of
from agentplane.curate.conditions.commands.run import Ran, run
from agentplane.curate.conditions.result import CantTell, Fails, Holds
from agentplane.jobs import Stopped
from agentplane.system import programs


LEVELS: tuple[Level, ...] = ("processes", "bubblewrap", "network", "none")
PYTHON = shlex.quote(sys.executable)


def _works(level: Level) -> bool:
    """True if this machine can isolate a command in this way."""
    return run("true", Path("/"), 30, levels=(level,)).ended is not None


@pytest.fixture(scope="module")
def works() -> dict[Level, bool]:
    return {level: _works(level) for level in LEVELS}


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest, works: dict[Level, bool]) -> Level:
    found: Level = request.param
    if not works[found]:
        pytest.skip(f"this machine can't isolate commands with {found}")
    return found


@pytest.fixture
def name() -> Iterator[str]:
    """A word for command lines. No process with it may be left."""
    word = f"check-{os.urandom(8).hex()}"
    yield word
    until = time.monotonic() + 60
    while (left := _named(word)) and time.monotonic() < until:
        time.sleep(0.05)
    for process in left:
        process.kill()
    assert left == []


def _named(word: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if any(word in part for part in process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return [one for one in found if one.pid != os.getpid()]


def sleeper(name: str, seconds: int = 300) -> str:
    return f"{PYTHON} -c 'import time; time.sleep({seconds})' {name}"


def of(command: str, folder: Path, level: Level, seconds: float = 30) -> Ran:
    return run(command, folder, seconds, levels=(level,))


def test_the_exit_code_and_the_output(tmp_path: Path, level: Level) -> None:
    found = of("echo one; echo two >&2; pwd; exit 3", tmp_path, level)
    assert (found.exit_code, found.ended, found.output) == (3, "itself", f"one\ntwo\n{tmp_path}\n")
    assert isinstance(result_of(found), Fails)
    assert isinstance(result_of(of("true", tmp_path, level)), Holds)


def test_a_command_that_hangs_is_ended(tmp_path: Path, level: Level, name: str) -> None:
    found = of(f"trap '' TERM INT HUP; echo begun; {sleeper(name)} & {sleeper(name)}", tmp_path, level, 2)
    assert (found.exit_code, found.ended, found.output) == (None, "time", "begun\n")
    result = result_of(found)
    assert isinstance(result, CantTell)
    assert "too long" in result.why


def test_a_busy_loop_is_ended(tmp_path: Path, level: Level) -> None:
    assert of("trap '' TERM; while :; do :; done", tmp_path, level, 1).ended == "time"


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in (0, 1, 2):
            os.close(fd)
        os.environ.clear()
        os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", sys.argv[1]], {})
    os._exit(0)
time.sleep(0.3)
"""


def test_a_daemon_doesnt_outlive_the_command(tmp_path: Path, level: Level, name: str) -> None:
    (tmp_path / "daemon.py").write_text(DAEMON)
    found = of(f"{PYTHON} daemon.py {name}; echo done", tmp_path, level)
    assert (found.exit_code, found.output) == (0, "done\n")


def test_a_child_that_keeps_the_output_open_doesnt_keep_the_command(
    tmp_path: Path, level: Level, name: str
) -> None:
    found = of(f"setsid {sleeper(name)} & echo done", tmp_path, level)
    assert (found.exit_code, found.output) == (0, "done\n")


def test_a_command_can_close_its_output(tmp_path: Path, level: Level) -> None:
    found = of("echo one; exec >&- 2>&-; sleep 0.5; exit 4", tmp_path, level)
    assert (found.exit_code, found.output) == (4, "one\n")


def test_a_flood_is_read_and_cut(tmp_path: Path, level: Level) -> None:
    found = of("echo first; head -c 200000000 /dev/zero | tr '\\0' 'x\\n'; echo; echo last", tmp_path, level)
    assert found.exit_code == 0
    assert found.size > 200_000_000
    assert len(found.output) < 70_000
    assert found.output.startswith("first\n")
    assert found.output.endswith("\nlast\n")
    assert "bytes left out]" in found.output


def test_an_endless_flood_is_ended(tmp_path: Path, level: Level) -> None:
    before = psutil.Process().memory_info().rss
    found = of("yes 0123456789", tmp_path, level, 2)
    assert found.ended == "time"
    assert found.size > 1_000_000
    assert psutil.Process().memory_info().rss - before < 50 << 20


def test_a_command_that_kills_its_parent(tmp_path: Path, level: Level, name: str) -> None:
    found = of(f"{sleeper(name)} & kill -9 $PPID; sleep 0.5; echo alive", tmp_path, level)
    # The parent can't be seen from the inside if the command has processes of its own.
    assert found.exit_code == 0 if level == "processes" else found.exit_code in (None, 0)
    assert not isinstance(result_of(found), Fails)


def test_a_command_that_kills_everything_above_it(tmp_path: Path, level: Level, name: str) -> None:
    script = (
        "p=$PPID; for i in 1 2; do q=$(awk '{print $4}' /proc/$p/stat) || break; [ \"$q\" -gt 1 ] || break; "
        f'list="$list $p"; p=$q; done; setsid {sleeper(name)} & sleep 0.3; kill -9 $list; sleep 0.5; echo alive'
    )
    found = of(script, tmp_path, level)
    assert not isinstance(result_of(found), Fails)
    assert psutil.pid_exists(os.getpid())


FORKS = """
import os, time
for _ in range(10):
    try:
        os.fork()
    except OSError:
        pass
time.sleep(60)
"""
"""Makes 1,024 processes, more than a command may have. Without an end, they would stop this machine too."""


def test_a_command_that_forks_too_often(tmp_path: Path, level: Level, name: str) -> None:
    (tmp_path / "forks.py").write_text(FORKS)
    found = of(f"{PYTHON} -S forks.py {name}", tmp_path, level, 50)
    assert found.ended == "processes"
    assert isinstance(result_of(found), CantTell)


def test_a_command_has_no_input_and_no_terminal(tmp_path: Path, level: Level) -> None:
    found = of("cat; tty; echo x > /dev/tty; echo end", tmp_path, level)
    assert "not a tty" in found.output
    assert "/dev/tty" in found.output
    assert found.output.endswith("end\n")


TERMINALS = """
import glob, os
for path in glob.glob("/dev/pts/[0-9]*"):
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NOCTTY)
        os.write(fd, b"HELLO")
        print("wrote")
    except OSError:
        pass
"""


def test_a_command_reaches_no_terminal_of_others(tmp_path: Path, level: Level) -> None:
    if level == "none":
        pytest.skip("without namespaces, the system's own rules apply")
    main, other = os.openpty()
    try:
        (tmp_path / "write.py").write_text(TERMINALS)
        assert of(f"{PYTHON} write.py", tmp_path, level).output == ""
        os.set_blocking(main, False)
        with pytest.raises(BlockingIOError):
            os.read(main, 10)
    finally:
        os.close(main)
        os.close(other)


CONNECT = """
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), 5)
print("own loopback")
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
    print("reached")
except OSError as error:
    print("refused")
"""


def test_the_network(tmp_path: Path, level: Level) -> None:
    import socket

    (tmp_path / "connect.py").write_text(CONNECT)
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = of(f"{PYTHON} connect.py {server.getsockname()[1]}", tmp_path, level)
    assert found.output == f"own loopback\n{'reached' if level == 'none' else 'refused'}\n"
    assert found.has_network == (level == "none")
    failed = result_of(of("exit 1", tmp_path, level))
    assert isinstance(failed, Fails)
    assert ("network: open" if level == "none" else "network: off") in failed.what


def test_without_a_wish_the_strictest_level_is_taken(tmp_path: Path, works: dict[Level, bool]) -> None:
    best = next(level for level in isolation.levels() if works[level])
    assert run("true", tmp_path, 30).has_network == (best == "none")


def test_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (
        "AGENTPLANE_TASK",
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
        "MY_PASSWORD",
        "CLAUDECODE",
        "SSH_AUTH_SOCK",
    ):
        monkeypatch.setenv(variable, "hidden-value")
    monkeypatch.setenv("MY_SETTING", "shown")
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    found = run("env", tmp_path, 30).output
    assert "hidden-value" not in found
    assert "MY_SETTING=shown" in found
    assert f"PATH={programs.path()}" in found
    assert environment.of_command({"AUTHOR": "a", "TOKENIZERS_PARALLELISM": "1"}).keys() >= {"AUTHOR"}


def test_a_program_in_the_project_doesnt_replace_the_shell(tmp_path: Path) -> None:
    for one in ("sh", "python", "json.py", "psutil.py", "msgspec.py", "agentplane.py"):
        (tmp_path / one).write_text("#!/bin/sh\necho replaced\n")
        (tmp_path / one).chmod(0o755)
    assert run("echo real", tmp_path, 30).output == "real\n"


def test_secrets_in_the_output_are_masked(tmp_path: Path) -> None:
    secret = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    (tmp_path / "key").write_text(f"key {secret}\n")
    found = run("cat key; printf '\\033[2J'; exit 1", tmp_path, 30)
    assert secret not in found.output
    assert "masked" in found.output
    assert "\x1b" not in found.output


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("no-such-program-here", "exit code 127"),
        ("kill -SEGV $$", "signal 11"),
        ("sh -c 'kill -KILL $$'", "signal 9"),
    ],
)
def test_what_proves_nothing(tmp_path: Path, command: str, why: str) -> None:
    result = result_of(run(command, tmp_path, 30))
    assert isinstance(result, CantTell)
    assert why in result.why


def test_a_cancelled_command_is_ended(tmp_path: Path, level: Level, name: str) -> None:
    begun = time.monotonic()

    def tick() -> None:
        if time.monotonic() - begun > 1:
            raise Stopped

    with pytest.raises(Stopped):
        run(f"setsid {sleeper(name)} & {sleeper(name)}", tmp_path, 30, tick, (level,))


def test_a_command_doesnt_outlive_a_killed_agentplane(tmp_path: Path, level: Level, name: str) -> None:
    code = (
        "import sys; from pathlib import Path; from agentplane.curate.conditions.commands.run import run; "
        f"run(sys.argv[1], Path('/'), 60, levels=({level!r},))"
    )
    command = f"setsid {sleeper(name)} & {sleeper(name)}"
    process = subprocess.Popen([sys.executable, "-c", code, command], cwd=Path(__file__).parents[3])
    until = time.monotonic() + 60
    while len(_named(name)) < 4 and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_commands_run_in_a_thread(tmp_path: Path) -> None:
    found: list[Ran] = []
    thread = threading.Thread(target=lambda: found.append(run("echo hi", tmp_path, 30)))
    thread.start()
    thread.join()
    assert [one.output for one in found] == ["hi\n"]
