"""A command whose output goes to pipes or files, and what is half and half."""

import os
import pty
import signal
import subprocess
import time
from typing import Any

import pytest

from tests.runs.conftest import Script, Under
from tests.runs.screen import PATIENCE, alive, until


def run(under: Under, *command: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    options = more.pop("options", {})
    given: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "capture_output": True,
        "timeout": 2 * PATIENCE,
        **more,
    }
    return subprocess.run(under.words(*command), cwd=under.folder, env=under.env(**options), **given)


def start(under: Under, *command: str, **more: Any) -> subprocess.Popen[bytes]:
    options = more.pop("options", {})
    given: dict[str, Any] = {"stdout": subprocess.PIPE, "start_new_session": True, **more}
    return subprocess.Popen(under.words(*command), cwd=under.folder, env=under.env(**options), **given)


def sh(under: Under, line: str) -> subprocess.CompletedProcess[bytes]:
    """A line of bash, in which `under` is the relay."""
    words = " ".join(under.words())
    return subprocess.run(
        ["bash", "-c", f'under() {{ {words} "$@"; }}\n{line}'],
        cwd=under.folder,
        env=under.env(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=2 * PATIENCE,
    )


def test_the_streams_stay_apart_and_nothing_is_a_terminal(under: Under) -> None:
    done = run(under, "sh", "-c", "test -t 1 || test -t 2 || echo out; echo err >&2; exit 3")
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 3)
    assert (under.recorded("stdout"), under.recorded("stderr")) == (b"out\n", b"err\n")


def test_input_is_the_commands_own(under: Under) -> None:
    done = run(under, "tr", "a-z", "A-Z", stdin=None, input=b"some words")
    assert done.stdout == b"SOME WORDS"


def test_input_that_the_command_does_not_read_is_left_for_others(under: Under) -> None:
    """As for the commands after it in a script."""
    done = sh(under, "printf 'one\\ntwo\\n' | { under sh -c 'read a; echo got $a'; cat; }")
    assert done.stdout == b"got one\ntwo\n"


def test_much_output_is_the_same_to_the_byte(under: Under) -> None:
    data = os.urandom(5_000_000)
    (under.folder / "data").write_bytes(data)
    done = run(under, "sh", "-c", "cat data; cat data >&2")
    assert done.stdout == data
    assert done.stderr == data
    assert under.recorded("stdout") == data


def test_output_comes_at_once(under: Under) -> None:
    process = start(under, "sh", "-c", "echo first; read x; echo second", stdin=subprocess.PIPE)
    assert process.stdout
    assert process.stdin
    assert process.stdout.readline() == b"first\n"
    process.stdin.write(b"\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"second\n"
    process.communicate()


def test_two_streams_in_one_pipe_keep_their_order(under: Under) -> None:
    line = "for i in $(seq 300); do echo $i; echo $i >&2; done"
    done = run(
        under, "sh", "-c", line, capture_output=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.stdout.split() == [str(i).encode() for i in range(1, 301) for _ in range(2)]


def test_output_into_a_file_and_at_its_end(under: Under) -> None:
    sh(
        under,
        "echo before > file; under echo one >> file; under sh -c 'echo two; echo three >&2' >> file 2>&1",
    )
    assert (under.folder / "file").read_text() == "before\none\ntwo\nthree\n"


def test_a_reader_that_stops_ends_the_command_as_without_us(under: Under) -> None:
    done = sh(under, "under yes | head -1; echo ${PIPESTATUS[@]}")
    assert done.stdout == b"y\n141 0\n"
    assert done.stderr == b""


def test_a_reader_that_stops_is_noticed_by_a_command_that_only_watches(under: Under, script: Script) -> None:
    command = script(
        "import os, select\nos.write(1, b'first\\n')\np = select.poll()\np.register(1, 0)\n"
        "open('seen', 'w').write(str(bool(p.poll(60_000))))\n"
    )
    process = start(under, *command)
    assert process.stdout
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
    assert (under.folder / "seen").read_text() == "True"


def test_a_stream_that_the_command_closes_has_ended_for_its_reader(under: Under) -> None:
    process = start(under, "sh", "-c", "echo out; exec >&-; read x", stdin=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.read() == b"out\n"
    assert process.poll() is None
    process.communicate(b"\n")
    assert process.returncode == 0


def test_a_slow_reader_gets_all_of_a_stream_that_was_closed_and_then_its_end(under: Under) -> None:
    """More than the pipes on both sides hold, so that some of it still waits when the end has been seen."""
    process = start(under, "sh", "-c", "head -c 150000 /dev/zero; exec >&-; read x", stdin=subprocess.PIPE)
    assert process.stdout
    assert process.stdin
    until(lambda: len(under.recorded("stdout")) >= 1 << 16)
    time.sleep(0.3)
    assert len(process.stdout.read()) == 150_000
    assert process.poll() is None
    process.communicate(b"\n")
    assert process.returncode == 0


@pytest.mark.parametrize("way", [">&-", "<&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", ">/dev/null 2>&1"])
def test_streams_that_are_closed_or_take_nothing(under: Under, way: str) -> None:
    """The other stream, the record and the exit code are as ever. What cannot be written ends the command."""
    sh(under, f"under sh -c 'echo out; echo err >&2; exit 4' {way}")
    assert under.ending()["code"] in ((4, 141) if "full" in way else (4,))
    assert under.recorded("stdout").startswith(b"out\n")


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGKILL]
)
def test_a_command_that_a_signal_ends(under: Under, number: int) -> None:
    done = run(under, "sh", "-c", f"kill -{number} $$")
    assert done.returncode == 128 + number
    assert under.ending()["signal"] == number


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1]
)
def test_signals_to_us_reach_the_command(under: Under, script: Script, number: int) -> None:
    command = script(
        "import os, signal, time\n"
        f"signal.signal({int(number)}, lambda *_: (os.write(1, b'got it'), os._exit(6)))\n"
        "os.write(1, b'ready\\n')\nwhile True: time.sleep(0.05)\n"
    )
    process = start(under, *command)
    assert process.stdout
    process.stdout.readline()
    process.send_signal(number)
    assert process.communicate(timeout=PATIENCE)[0] == b"got it"
    assert process.returncode == 6
    assert under.ending()["end_signal"] == (number if number in (signal.SIGTERM, signal.SIGHUP) else None)


def test_a_command_that_ignores_sigterm_is_killed(under: Under) -> None:
    command = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
    process = start(under, "bash", "-c", command, options={"grace": 0.2})
    assert process.stdout
    process.stdout.readline()
    process.terminate()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 137
    assert not alive(under.pid())


def test_ctrl_c_in_a_pipeline_reaches_the_command_once(under: Under, script: Script) -> None:
    command = script(
        "import os, signal, time\ncaught = []\n"
        "signal.signal(signal.SIGINT, lambda *_: (os.write(2, b'caught'), caught.append(1)))\n"
        "os.write(2, b'ready')\nwhile not caught: time.sleep(0.01)\ntime.sleep(0.5)\n"
    )
    screen = under.shell()
    screen.type(f"./under {' '.join(command)} 2>&1 | (trap '' INT; exec cat)\n")
    screen.expect("ready")
    screen.type("\x03")
    under.ending()
    assert under.recorded().count(b"caught") == 1


def test_ctrl_z_in_a_pipeline_stops_all_of_it(under: Under) -> None:
    screen = under.shell()
    screen.type("./under sh -c 'sleep 300' 2>&1 | cat\n")
    pid = under.pid()
    until(lambda: screen.in_front() != screen.process.pid)
    screen.type("\x1a")
    screen.expect("Stopped")
    screen.type("kill %1; fg\n")
    until(lambda: not alive(pid))


def test_a_daemon_that_keeps_the_pipe_open_is_not_waited_for(under: Under) -> None:
    done = run(under, "sh", "-c", "sleep 100 & echo $!")
    os.kill(int(done.stdout), signal.SIGKILL)


def test_a_slow_reader_gets_all_of_it(under: Under) -> None:
    process = start(under, "head", "-c", "400000", "/dev/zero")
    assert process.stdout
    until(under.recorded)
    time.sleep(0.1)  # so that all there is to fill is full
    assert len(process.stdout.read()) == 400_000
    process.communicate()


def test_a_reader_that_never_reads_does_not_keep_us_from_ending(under: Under) -> None:
    process = start(under, "yes", options={"grace": 2.0})
    under.pid()
    until(under.recorded)
    process.terminate()
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    process.communicate()


def test_a_sink_that_fails(under: Under) -> None:
    done = run(under, "sh", "-c", "echo one; sleep 0.1; echo two", options={"sink_fails": True})
    assert done.stdout == b"one\ntwo\n"
    assert "no space left" in under.ending()["sink_error"]


@pytest.mark.parametrize(
    ("command", "code"), [("no-such", 127), ("./no/such", 127), ("/etc/passwd", 126), ("/", 126)]
)
def test_a_command_that_cannot_be_started(under: Under, command: str, code: int) -> None:
    done = run(under, command)
    assert done.returncode == code
    assert done.stdout == b""
    assert command.encode() in done.stderr
    assert b"Traceback" not in done.stderr


def test_output_into_a_pipe_with_the_rest_at_a_terminal(under: Under) -> None:
    """Errors have a terminal, as do keys; the neighbour in the pipeline may use the keyboard meanwhile."""
    screen = under.shell()
    screen.type(
        "./under sh -c 'test -t 1 || echo no; test -t 2 && echo yes >&2; read a; echo $a' | tr a-z A-Z\n"
    )
    screen.expect(r"[\r\n]yes")
    until(lambda: under.recorded("stderr"))
    screen.type("word\n")
    screen.expect("WORD")
    under.ending()
    assert under.recorded("stdout") == b"no\nword\n"
    assert under.recorded("stderr").startswith(b"yes\r\n")


def test_a_neighbour_in_the_pipeline_gets_the_keys(under: Under) -> None:
    screen = under.shell()
    screen.type(
        "./under sh -c 'echo out; sleep 300' | sh -c 'cat >/dev/null & read a </dev/tty; echo key $a.'\n"
    )
    under.pid()
    screen.type("word\n")
    screen.expect(r"key word\.")


def test_input_from_a_pipe_with_a_terminal_for_the_rest(under: Under, script: Script) -> None:
    """As a pager has it: text from the pipe, keys from the terminal."""
    command = script(
        "import os, sys, tty\nassert os.isatty(1)\ntext = sys.stdin.read()\nkeys = os.open('/dev/tty', os.O_RDWR)\n"
        "tty.setraw(keys)\nos.write(1, b'text ' + text.encode())\nkey = os.read(keys, 1)\nos.write(1, b'key ' + key)\n"
    )
    screen = under.shell()
    screen.type(f"echo piped | ./under {' '.join(command)}\n")
    screen.expect("text piped")
    screen.type("q")
    screen.expect("key q")
    assert under.ending()["code"] == 0


def test_errors_into_a_file_with_a_terminal_for_the_rest(under: Under) -> None:
    with (under.folder / "errors").open("wb") as errors:
        screen = under.screen("sh", "-c", "test -t 1 && echo yes; echo oh >&2", stderr=errors.fileno())
    screen.expect("yes")
    assert screen.ended() == 0
    assert (under.folder / "errors").read_bytes() == b"oh\n"
    assert under.recorded("stderr") == b"oh\n"


def test_only_input_is_a_terminal(under: Under) -> None:
    master, slave = pty.openpty()
    done = run(under, "sh", "-c", "test -t 0 && echo yes", stdin=slave)
    os.close(master)
    os.close(slave)
    assert done.stdout == b"yes\n"


def test_the_relay_leaves_no_descriptor_without_waiting(under: Under) -> None:
    """What is shared with the shell is as it was: a shell whose input does not block would end."""
    master, slave = pty.openpty()
    run(under, "echo", "hi", stdin=slave, stdout=slave, stderr=slave, capture_output=False)
    assert os.get_blocking(slave)
    os.close(master)
    os.close(slave)
    done = sh(under, "under echo hi | { sleep 0.1; cat; }")
    assert done.stdout == b"hi\n"
