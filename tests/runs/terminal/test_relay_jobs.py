"""Job control: in a shell, in the front and in the back, and with a shell as the command."""

import os
import re
import shutil
import signal
import subprocess

import pytest

from tests.runs.conftest import Script, Under
from tests.runs.screen import Screen, in_foreground, state, until


def _shell_in_front(screen: Screen) -> bool:
    return screen.in_front() == screen.process.pid


def _jobs(screen: Screen) -> bytes:
    """The jobs that the shell lists right now."""
    screen.type("jobs; echo end $((40+2))\n")
    return screen.expect(r"(?s).*?end 42").group()


def test_ctrl_z_stops_the_command_and_us_and_fg_continues_both(under: Under, script: Script) -> None:
    command = script("import os\nos.write(1, b'ready')\nwhile True: print('got', input())\n")
    screen = under.shell()
    screen.type(f"./under {' '.join(command)}\n")
    screen.expect("ready")
    until(lambda: not _shell_in_front(screen))
    screen.type("\x1a")
    screen.expect("Stopped")
    assert state(under.pid()) == "T"
    until(lambda: _shell_in_front(screen))
    screen.type("jobs\n")
    screen.expect(r"\[1\]\+\s+Stopped")
    screen.resize(33, 77)
    screen.type("fg\n")
    screen.expect("under")
    until(lambda: state(under.pid()) == "S")
    screen.type("word\n")
    screen.expect("got word")
    screen.type("\x03")
    screen.expect(r"\$ ")
    screen.type("echo code $?\n")
    screen.expect(r"code 1\r\n|code 130")


def test_the_size_is_new_after_fg(under: Under, script: Script) -> None:
    command = script("import os\nwhile True: print(os.get_terminal_size(1).columns, 'wide'); input()\n")
    screen = under.shell()
    screen.type(f"./under {' '.join(command)}\n")
    screen.expect("80 wide")
    screen.type("\x1a")
    screen.expect("Stopped")
    screen.resize(30, 133)
    screen.type("fg\n")
    until(lambda: state(under.pid()) == "S")
    screen.type("\n")
    screen.expect("133 wide")


def test_the_shell_has_its_terminal_back_while_we_are_stopped(under: Under) -> None:
    """In bash this would not be seen: it puts the modes back itself."""
    if not shutil.which("dash"):
        pytest.skip("there is no dash")
    screen = under.shell("dash", "-i")
    screen.type("./under cat\n")
    under.pid()
    until(lambda: not _shell_in_front(screen))
    screen.type("a line\n")
    screen.expect("a line\r\na line\r\n")
    screen.type("\x1a")
    screen.expect("Stopped")
    screen.type("stty -a\n")
    modes = screen.expect(r"(?s)speed.*?\$ ").group()
    assert not re.search(rb"-(opost|icanon|isig|icrnl|echo)\b", modes)


def test_what_was_printed_before_the_stop_is_on_the_screen_before_it(under: Under, script: Script) -> None:
    """As programs leave the alternate screen."""
    command = script(
        "import os, signal\nos.write(1, b'x' * 200_000 + b'last'); os.kill(0, signal.SIGTSTP)\nprint('on')\n"
    )
    screen = under.shell()
    screen.type(f"./under {' '.join(command)}\n")
    screen.expect("last")
    screen.expect("Stopped")
    screen.type("fg\n")
    screen.expect(r"on\r\n")


def test_bg_lets_it_run_on_without_the_terminal(under: Under, script: Script) -> None:
    command = script(
        "import os, signal\nos.write(1, b'ready')\nprint('got', input(), flush=True)\nsignal.pause()\n"
    )
    screen = under.shell()
    screen.type(f"./under {' '.join(command)}\n")
    screen.expect("ready")
    screen.type("\x1a")
    screen.expect("Stopped")
    screen.type("bg\n")
    screen.expect(r"\.py &")
    until(lambda: b"Stopped" in _jobs(screen))  # it wants to read
    screen.type("fg\n")
    until(lambda: not _shell_in_front(screen) and state(under.pid()) == "S")
    screen.type("word\n")
    screen.expect("got word")
    screen.type("\x1a")
    screen.expect("Stopped")
    screen.type("bg\n")
    until(lambda: state(under.pid()) == "S")
    assert _shell_in_front(screen)
    screen.type("echo shell $((40+2))\n")
    screen.expect("shell 42")
    os.kill(under.pid(), signal.SIGTERM)
    assert under.ending()["signal"] == signal.SIGTERM


def test_started_in_the_back_it_leaves_the_terminal_alone(under: Under) -> None:
    screen = under.shell()
    screen.type("./under sh -c 'sleep 0.2; echo from the back; exit 5' &\n")
    screen.expect(r"\n.*from the back")
    assert under.ending()["code"] == 5
    screen.type("wait $!; echo code $?\n")
    screen.expect("code 5")


def test_started_in_the_back_it_stops_when_it_wants_keys(under: Under) -> None:
    screen = under.shell()
    screen.type("./under sh -c 'read a; echo got $a' &\n")
    under.pid()
    until(lambda: state(under.pid()) == "T")
    screen.type("echo shell $((40+2))\n")
    screen.expect("shell 42")
    until(lambda: b"Stopped" in _jobs(screen))
    screen.type("fg\n")
    until(lambda: not _shell_in_front(screen) and state(under.pid()) == "S")
    screen.type("word\n")
    screen.expect("got word")
    assert under.ending()["code"] == 0


def test_a_running_job_that_is_put_in_front_gets_the_keys(under: Under, script: Script) -> None:
    """The shell does not tell it."""
    command = script(
        "import os, time\nwhile not os.path.exists('go'): time.sleep(0.02)\nprint('got', input())\n"
    )
    screen = under.shell()
    screen.type(f"./under {' '.join(command)} &\n")
    under.pid()
    screen.type("fg\n")
    until(lambda: not _shell_in_front(screen))
    (under.folder / "go").touch()
    screen.type("word\n")
    screen.expect("got word")


def test_a_stopped_group_that_nobody_can_continue_is_continued_at_once(under: Under, script: Script) -> None:
    """Without a shell above us the kernel would not stop the command either."""
    command = script(
        "import os, signal\nos.write(1, b'ready')\nos.kill(0, signal.SIGTSTP)\nprint('got', input())\n"
    )
    screen = under.screen(*command)
    screen.expect("ready")
    screen.type("\x1aword\n")
    screen.expect("got word")
    assert screen.ended() == 0


def test_a_shell_as_the_command_controls_its_own_jobs(under: Under) -> None:
    screen = under.screen("bash", "--norc", "--noprofile", "-i")
    screen.expect(r"\$ ")
    assert b"no job control" not in screen.seen
    screen.type("sleep 300\n")
    screen.expect("sleep 300\r\n")
    until(lambda: _grandchild(under, "sleep") is not None)
    sleep = int(_grandchild(under, "sleep") or 0)
    screen.type("\x1a")
    screen.expect("Stopped")
    screen.type("bg; jobs\n")
    screen.expect("Running")
    screen.type("fg\n")
    screen.expect(r"fg\r\n.*sleep 300\r\n")
    # The shell prints the job before it gives the terminal to it. A ^C in between would end nothing.
    until(lambda: in_foreground(sleep))
    screen.type("\x03")
    screen.expect(r"\$ ")
    screen.type("echo code $?; exit 4\n")
    screen.expect("code 130")
    assert screen.ended() == 4


def test_suspend_in_a_shell_as_the_command_suspends_us(under: Under) -> None:
    screen = under.shell()
    screen.type("./under bash --norc --noprofile -i\n")
    pid = under.pid()
    until(lambda: state(pid) == "S")
    screen.type("echo inner $((40+2)); suspend\n")
    screen.expect("inner 42")
    screen.expect("Stopped")
    screen.type("echo outer $((40+3))\n")
    screen.expect("outer 43")
    screen.type("fg\n")
    screen.expect("under bash")
    screen.type("echo inner $((40+4))\n")
    screen.expect("inner 44")
    screen.type("exit\n")
    assert under.ending()["code"] == 0


def test_sigstop_of_the_relay_and_fg(under: Under) -> None:
    """Nothing can be done before, but afterwards the terminal is raw again."""
    screen = under.shell()
    screen.type("./under cat & echo pid $!. ; fg\n")
    relay = int(screen.expect(r"pid (\d+)\.").group(1))
    under.pid()
    until(lambda: not _shell_in_front(screen))
    os.kill(relay, signal.SIGSTOP)
    screen.expect("Stopped")
    screen.type("fg\n")
    until(lambda: not _shell_in_front(screen))
    screen.type("a line\n")
    screen.expect("a line\r\na line\r\n")
    screen.type("\x04")
    assert under.ending()["code"] == 0


def test_sigtstp_to_the_relay_stops_both(under: Under) -> None:
    screen = under.shell()
    screen.type("./under cat & echo pid $!. ; fg\n")
    relay = int(screen.expect(r"pid (\d+)\.").group(1))
    pid = under.pid()
    until(lambda: not _shell_in_front(screen))
    os.kill(relay, signal.SIGTSTP)
    screen.expect("Stopped")
    assert state(pid) == "T"
    assert state(relay) == "T"


def _grandchild(under: Under, name: str) -> str | None:
    done = subprocess.run(
        ["ps", "-o", "pid=,comm=", "--ppid", str(under.pid())], capture_output=True, text=True
    ).stdout
    found = re.search(rf"(\d+) {name}", done)
    return found and found.group(1)
