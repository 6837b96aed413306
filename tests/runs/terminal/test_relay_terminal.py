"""A command in a terminal of its own: what passes, sizes, modes, and how it ends."""

import os
import signal
import sys
import time

import pytest

from tests.runs.conftest import Script, Under
from tests.runs.screen import alive, until


def test_the_command_has_a_terminal_on_all_three_streams(under: Under) -> None:
    screen = under.screen("sh", "-c", "test -t 0 && test -t 1 && test -t 2 && echo yes; tty; exit 7")
    screen.expect("yes")
    mine = screen.expect(r"/dev/\S+").group().decode()
    assert screen.ended() == 7
    assert mine != os.ttyname(screen.slave)
    assert under.ending() == {
        "code": 7,
        "signal": None,
        "end_signal": None,
        "left_running": False,
        "sink_error": None,
    }


def test_every_byte_of_output_passes_and_is_recorded(under: Under, script: Script) -> None:
    everything = bytes(range(256)) * 300
    screen = under.screen(
        *script(
            "import os, sys, tty\ntty.setraw(1)\ndata = bytes(range(256)) * 300\n"
            "while data: data = data[os.write(1, data):]\n"
        )
    )
    assert screen.rest() == everything
    assert under.recorded() == everything


def test_every_byte_of_input_passes(under: Under, script: Script) -> None:
    command = script(
        "import os, tty\ntty.setraw(0)\nos.write(1, b'ready')\ndata = b''\n"
        "while len(data) < 2560: data += os.read(0, 4096)\n"
        "os.write(1, b'same' if data == bytes(range(256)) * 10 else b'other')\n"
    )
    screen = under.screen(*command)
    screen.expect("ready")
    screen.type(bytes(range(256)) * 10)
    assert screen.rest() == b"same"


def test_more_than_a_terminal_holds_can_be_pasted(under: Under, script: Script) -> None:
    command = script(
        "import os, tty, hashlib\ntty.setraw(0)\nos.write(1, b'ready')\nsize = 0\n"
        "while size < 300_000: size += len(os.read(0, 1000))\n"
        "os.write(1, b'all %d' % size)\n"
    )
    screen = under.screen(*command)
    screen.expect("ready")
    screen.type(b"x" * 300_000)
    screen.expect("all 300000")
    assert screen.ended() == 0


def test_sequences_for_and_from_the_terminal_are_left_alone(under: Under, script: Script) -> None:
    """The alternate screen, bracketed paste, the mouse, the title, and a question with its answer."""
    sequences = "\x1b[?1049h\x1b[?2004h\x1b[?1000h\x1b]2;title\x07\x1b[31mred\x1b[0m\x1b[6n"
    command = script(
        f"import os, tty\ntty.setraw(0)\nos.write(1, {sequences!r}.encode())\nanswer = b''\n"
        "while not answer.endswith(b'R'): answer += os.read(0, 100)\nos.write(1, repr(answer).encode())\n"
    )
    screen = under.screen(*command)
    screen.expect(r"\x1b\[6n")
    assert screen.seen == sequences.encode()
    screen.type("\x1b[12;34R")
    assert screen.rest() == rb"b'\x1b[12;34R'"


def test_the_size_is_passed_on_and_follows(under: Under, script: Script) -> None:
    command = script(
        "import os, signal, time\ndef say(*_): os.write(1, b'%d %d' % tuple(reversed(os.get_terminal_size(1))))\n"
        "signal.signal(signal.SIGWINCH, say)\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nsay()\n"
        "while True: time.sleep(0.05)\n"
    )
    screen = under.screen(*command, size=(31, 97))
    screen.expect("31 97")
    screen.resize(40, 120)
    screen.expect("40 120")
    screen.type("\x03")
    assert screen.ended() == 130


def test_the_modes_of_our_terminal_are_those_of_the_command(under: Under) -> None:
    screen = under.shell("sh")
    screen.type("stty erase ^X -echoe; ./under stty -a | cat; ./under stty -a\n")
    screen.expect(r"erase = \^X")
    screen.expect("-echoe")


@pytest.mark.parametrize(
    ("key", "number"), [("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)], ids=["ctrl-c", "ctrl-backslash"]
)
def test_keys_that_are_signals_reach_the_command_alone(under: Under, key: str, number: int) -> None:
    screen = under.screen("sh", "-c", "ulimit -c 0; echo ready; exec sleep 100")
    screen.expect("ready")
    under.pid()
    screen.type(key)
    assert screen.ended() == 128 + number
    assert under.ending()["signal"] == number
    assert screen.is_as_before()


def test_a_command_that_catches_ctrl_c_goes_on(under: Under, script: Script) -> None:
    command = script(
        "import os, signal, sys\nsignal.signal(signal.SIGINT, lambda *_: os.write(1, b'caught'))\n"
        "os.write(1, b'ready')\nprint('got', os.read(0, 100).decode())\n"
    )
    screen = under.screen(*command)
    screen.expect("ready")
    screen.type("\x03")
    screen.expect("caught")
    assert screen.seen.count(b"caught") == 1
    screen.type("word\n")
    screen.expect("got word")
    assert screen.ended() == 0


def test_the_end_of_input_is_a_key(under: Under) -> None:
    screen = under.screen("cat")
    screen.type("line\n")
    screen.expect("line\r\nline\r\n")
    screen.type("\x04")
    assert screen.ended() == 0


@pytest.mark.parametrize("odd", ["stty raw -echo", "stty -icanon min 0; kill -9 $$"])
def test_our_terminal_is_restored_however_the_command_leaves_its_own(under: Under, odd: str) -> None:
    screen = under.screen("sh", "-c", odd)
    screen.ended()
    assert screen.is_as_before()


def test_our_terminal_is_raw_while_the_command_runs(under: Under) -> None:
    """So the test before would fail if nothing was restored."""
    screen = under.screen("cat")
    under.pid()
    until(lambda: not screen.is_as_before())
    screen.type("\x04")
    screen.ended()
    assert screen.is_as_before()


def test_a_killed_command(under: Under) -> None:
    screen = under.screen("sleep", "100")
    os.kill(under.pid(), signal.SIGKILL)
    assert screen.ended() == 137
    assert under.ending()["signal"] == signal.SIGKILL
    assert screen.is_as_before()


def test_sigterm_is_passed_on_and_the_run_ends(under: Under) -> None:
    screen = under.screen(
        "bash", "-c", "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.05; done"
    )
    screen.expect("ready")
    screen.process.send_signal(signal.SIGTERM)
    screen.expect("bye")
    assert screen.ended() == 9
    assert under.ending()["end_signal"] == signal.SIGTERM
    assert screen.is_as_before()


def test_a_command_that_ignores_sigterm_is_killed_after_a_while(under: Under) -> None:
    command = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
    screen = under.screen("bash", "-c", command, options={"grace": 0.3})
    screen.expect("ready")
    begin = time.monotonic()
    screen.process.send_signal(signal.SIGTERM)
    assert screen.ended() == 137
    assert time.monotonic() - begin > 0.25
    assert under.ending()["end_signal"] == signal.SIGTERM
    assert not alive(under.pid())


def test_a_stopped_command_can_be_told_to_end(under: Under) -> None:
    """Nobody can continue us here, so we are not stopped with it."""
    screen = under.screen("sh", "-c", "echo ready; exec sleep 100")
    screen.expect("ready")
    os.kill(under.pid(), signal.SIGSTOP)
    screen.process.send_signal(signal.SIGTERM)
    assert screen.ended() == 128 + signal.SIGTERM


def test_a_terminal_that_goes_away_hangs_up_on_the_command(under: Under) -> None:
    screen = under.screen(
        "bash", "-c", "trap 'touch hung-up; exit 3' HUP; echo ready; while :; do sleep 0.05; done"
    )
    screen.expect("ready")
    screen.hang_up()
    assert under.ending()["end_signal"] == signal.SIGHUP
    assert under.ending()["code"] == 3
    assert (under.folder / "hung-up").exists()


def test_a_command_may_outlive_its_terminal(under: Under) -> None:
    screen = under.screen("sh", "-c", "trap '' HUP; echo ready; exec sleep 30", options={"grace": 0.2})
    screen.expect("ready")
    screen.hang_up()
    assert under.ending()["left_running"] is True
    assert under.ending()["code"] == 128 + signal.SIGHUP
    assert alive(under.pid())
    os.kill(under.pid(), signal.SIGKILL)


def test_a_killed_relay_hangs_up_on_the_command(under: Under) -> None:
    screen = under.screen("sh", "-c", "echo ready; exec sleep 100")
    screen.expect("ready")
    pid = under.pid()
    screen.process.kill()
    until(lambda: not alive(pid))


def test_a_killed_leader_of_the_session_ends_the_run(under: Under) -> None:
    screen = under.screen("sh", "-c", "echo leader $PPID.; exec sleep 100")
    leader = int(screen.expect(r"leader (\d+)\.").group(1))
    os.kill(leader, signal.SIGKILL)
    assert screen.ended() == 137
    assert screen.is_as_before()
    until(lambda: not alive(under.pid()))


def test_an_error_of_the_caller_restores_the_terminal_and_ends_the_command(under: Under) -> None:
    screen = under.screen("sleep", "100", options={"started_fails": True})
    screen.expect("the log is locked")
    assert screen.ended() == 1
    assert screen.is_as_before()
    pid = under.pid()
    until(lambda: not alive(pid))


def test_a_sink_that_fails_is_remembered_and_disturbs_nothing(under: Under) -> None:
    screen = under.screen("sh", "-c", "echo one; read word; echo $word", options={"sink_fails": True})
    screen.expect("one")
    screen.type("two\n")
    screen.expect("two\r\ntwo")
    assert screen.ended() == 0
    assert "no space left" in under.ending()["sink_error"]


def test_a_daemon_that_keeps_the_terminal_open_is_not_waited_for_nor_hung_up_on(under: Under) -> None:
    screen = under.screen("sh", "-c", "sleep 300 & echo daemon $!.")
    daemon = int(screen.expect(r"daemon (\d+)\.").group(1))
    assert screen.ended() == 0
    try:
        assert alive(daemon)
    finally:
        os.kill(daemon, signal.SIGKILL)


def test_a_daemon_that_never_stops_writing_is_not_waited_for(under: Under) -> None:
    screen = under.screen("sh", "-c", "yes & echo $! > daemon")
    try:
        assert screen.ended() == 0
    finally:
        os.kill(int((under.folder / "daemon").read_text()), signal.SIGKILL)


@pytest.mark.parametrize("size", [10_000, 3_000_000])
def test_nothing_of_the_last_output_is_lost(under: Under, size: int) -> None:
    """Nor when the terminal is slow to take it."""
    screen = under.screen("sh", "-c", f"head -c {size} /dev/zero | tr '\\0' x; printf end")
    under.pid()
    time.sleep(0.1)
    assert screen.rest() == b"x" * size + b"end"
    assert under.recorded() == b"x" * size + b"end"


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [("no-such", 127, "Command not found: no-such"), ("/etc/passwd", 126, "Permission denied")],
)
def test_a_command_that_cannot_be_started(under: Under, command: str, code: int, says: str) -> None:
    screen = under.screen(command)
    screen.expect(says)
    assert screen.ended() == code
    assert screen.is_as_before()


def test_a_script_that_names_no_program_runs_as_in_a_shell(under: Under) -> None:
    (under.folder / "build").write_text("echo built $1\n")
    (under.folder / "build").chmod(0o755)
    screen = under.screen("./build", "here")
    screen.expect("built here")
    assert screen.ended() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_command_has_the_signals_and_files_that_a_shell_gives(under: Under) -> None:
    """Blocked and ignored is what it would be without us; open are the three and what ls(1) opens."""
    line = 'grep -E "Sig(Blk|Ign)" /proc/self/status; ls /proc/self/fd | tr "\\n" ,'
    bare, screen = under.open(["sh", "-c", line], {}), under.screen("sh", "-c", line)
    wanted = [bare.expect(r"Sig...:\s*(\w+)\s").group(1) for _ in range(2)]
    assert [screen.expect(r"Sig...:\s*(\w+)\s").group(1) for _ in range(2)] == wanted
    screen.expect("0,1,2,3,")
    assert screen.rest() == b""


def test_nohup_holds_for_the_command(under: Under) -> None:
    screen = under.open(
        ["sh", "-c", f"trap '' HUP; exec {' '.join(under.words())} sh -c 'kill -HUP $$; echo still here'"], {}
    )
    screen.expect("still here")
    assert screen.ended() == 0
