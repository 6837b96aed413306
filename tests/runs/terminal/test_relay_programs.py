"""Real programs under the relay, as people use them."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runs.conftest import Under
from tests.runs.screen import until


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(program), reason=f"there is no {program}")


@needs("vim")
def test_vim_edits_a_file_and_is_suspended_meanwhile(under: Under) -> None:
    screen = under.shell()
    screen.type("./under vim -u NONE -i NONE text\n")
    screen.expect(r"\x1b\[\?1049h")
    screen.type("ihello\x1b")
    screen.expect("hello")
    screen.type("\x1a")
    screen.expect(r"\x1b\[\?1049l")
    screen.expect("Stopped")
    screen.type("fg\n")
    screen.expect(r"\x1b\[\?1049h")
    screen.type("A there\x1b:wq\n")
    assert under.ending()["code"] == 0
    assert (under.folder / "text").read_text() == "hello there\n"


@needs("less")
def test_less_pages_what_comes_through_a_pipe(under: Under) -> None:
    screen = under.shell()
    screen.type("seq 1000 | ./under less\n")
    screen.expect("\r\n23")
    screen.type("G")
    screen.expect("1000")
    screen.type("q")
    assert under.ending()["code"] == 0
    screen.type("echo shell $((40+2))\n")
    screen.expect("shell 42")


@needs("htop")
def test_htop_draws_and_quits(under: Under) -> None:
    screen = under.screen("htop")
    screen.expect("Help")
    screen.resize(30, 100)
    screen.type("q")
    assert screen.ended() == 0
    assert screen.is_as_before()


def test_the_python_prompt(under: Under) -> None:
    screen = under.screen(sys.executable, "-I", "-q", size=(24, 101))
    screen.expect(">>> ")
    screen.type("import os; os.get_terminal_size().columns\n")
    screen.expect("101")
    # A signal just before a long sleep would be heard only after it.
    screen.type("import time; [print('be' + 'gun')] + [time.sleep(0.05) for _ in iter(int, 1)]\n")
    screen.expect("begun")
    screen.type("\x03")
    screen.expect("KeyboardInterrupt")
    screen.type("exit(3)\n")
    assert screen.ended() == 3


@needs("stty")
def test_stty_sees_a_new_size(under: Under) -> None:
    screen = under.screen("sh")
    screen.expect(r"\$ ")
    screen.resize(44, 111)
    # The new size is handed on by a signal, which can come after what is typed.
    screen.type("until [ \"$(stty size)\" = '44 111' ]; do sleep 0.1; done; echo the size is $(stty size)\n")
    screen.expect("the size is 44 111")
    screen.type("exit\n")
    assert screen.ended() == 0


@needs("ssh-keygen")
def test_a_question_on_the_terminal_itself(under: Under) -> None:
    """Asked on /dev/tty, without echo."""
    screen = under.screen("ssh-keygen", "-q", "-t", "ed25519", "-f", str(under.folder / "key"))
    for _ in range(2):
        screen.expect("passphrase.*: ")
        screen.type("secret\n")
    assert screen.ended() == 0
    assert b"secret" not in under.recorded()


class Tmux:
    """A real terminal emulator."""

    def __init__(self, folder: Path) -> None:
        self._tmux = ["tmux", "-S", str(folder / "socket"), "-f", "/dev/null"]

    def __call__(self, *words: str) -> str:
        return subprocess.run([*self._tmux, *words], capture_output=True, text=True).stdout

    def expect(self, text: str) -> None:
        until(lambda: text in self("capture-pane", "-p"), text)


@pytest.fixture
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tmux]:
    made = Tmux(tmp_path_factory.mktemp("t"))
    yield made
    made("kill-server")


@needs("tmux")
def test_in_tmux_panes_are_split_and_closed(under: Under, tmux: Tmux) -> None:
    (under.folder / "under").write_text(f'#!/bin/sh\nexec {" ".join(under.words())} "$@"\n')
    (under.folder / "under").chmod(0o755)
    variables = [f"-e{name}={under.env()[name]}" for name in ("PYTHONPATH", "PS1")]
    shell = ["bash", "--norc", "--noprofile", "-i"]
    tmux("new-session", "-d", "-x", "100", "-y", "30", *variables, "-c", str(under.folder), *shell)
    tmux.expect("$")
    tmux("send-keys", "./under bash --norc --noprofile -i", "Enter")
    under.pid()
    tmux("send-keys", "stty size; echo $((40+2))", "Enter")
    tmux.expect("42")
    tmux.expect("30 100")
    tmux("split-window", "-h", "-l", "40", "sleep 300")
    tmux("select-pane", "-L")
    # As with stty: the new size can come after the keys.
    tmux("send-keys", "until [ \"$(stty size)\" = '30 59' ]; do sleep 0.1; done; echo $((40+3))", "Enter")
    tmux.expect("43")
    tmux("kill-server")
    assert under.ending()["end_signal"] == signal.SIGHUP
