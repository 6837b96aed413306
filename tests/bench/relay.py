"""What the relay costs: `python -m tests.bench.relay [--size BYTES]`, all in one run, each the best of a few.

`terminal`: a command whose output is read from a terminal, as an emulator does: bare, under script(1), under the relay.
`pipe`: the same with pipes: bare, through cat(1), under the relay. `tmux`: a real emulator, until it has drawn all.
`echo`: microseconds from a key to its echo, bare and under the relay. `start`: a command that does nothing.
"""

import argparse
import json
import os
import select
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.runs.screen import Screen


Figures = dict[str, Any]

LIBRARY = Path(os.__file__).parent
RELAY = [sys.executable, "-m", "tests.bench.relay_alone"]


def commands(size: int, folder: Path) -> dict[str, str]:
    """Shell lines that print about so many bytes, and two that work for each line of what they print."""
    data = folder / "data"
    line = b"the quick brown fox jumps over the lazy dog, and back again\n"
    data.write_bytes(line * (size // len(line) + 1))
    return {
        "cat": f"cat {data}",
        "yes": f"yes | head -c {size}",
        "seq": f"seq {max(size // 8, 10)}",
        "ls": f"ls -lR {LIBRARY}",
        "find": f"find {LIBRARY / 'encodings'} -name '*.py' -exec wc -l {{}} \\;",
    }


def ways(line: str) -> dict[str, list[str]]:
    found = {"bare": ["sh", "-c", line], "relay": [*RELAY, "sh", "-c", line]}
    if sys.platform == "linux" and shutil.which("script"):
        found["script"] = ["script", "-qec", line, "/dev/null"]
    return found


def in_terminal(command: list[str]) -> float:
    """Seconds from the first to the last byte that is read from a command's terminal."""
    begin = 0.0
    screen = Screen(command, cwd=Path.cwd())
    os.close(screen.slave)
    try:
        while os.read(screen.master, 1 << 16):
            begin = begin or time.perf_counter()
    except OSError:  # EIO: nobody has it any more
        pass
    taken = time.perf_counter() - begin
    screen.process.wait()
    os.close(screen.master)
    return taken


def to_the_end(command: list[str]) -> float:
    """Seconds that all of a command takes in a terminal."""
    begin = time.perf_counter()
    in_terminal(command)
    return time.perf_counter() - begin


def in_pipe(command: list[str]) -> float:
    begin = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdout
        while os.read(process.stdout.fileno(), 1 << 16):
            begin = begin or time.perf_counter()
    return time.perf_counter() - begin


def until_drawn(line: str, done: Path) -> str:
    """A shell line that prints, asks the terminal where its cursor is, and notes when it began and had the answer."""
    ask = "stty -icanon -echo; printf '\\033[6n'; head -c 1 > /dev/null"
    return f"begin=$(date +%s.%N); {line}; {ask}; echo $begin $(date +%s.%N) > {done}"


def in_tmux(done: Path) -> Callable[[list[str]], float]:
    """Seconds in a real emulator, from the beginning of the command until it has drawn what was printed."""

    def work(command: list[str]) -> float:
        done.unlink(missing_ok=True)
        tmux = ["tmux", "-S", str(done.with_name(f"tmux{time.monotonic_ns()}")), "-f", os.devnull]
        size = ["-x", "120", "-y", "40", "-c", str(Path.cwd())]
        subprocess.run([*tmux, "new-session", "-d", *size, shlex.join(command)], check=True)
        while not (done.exists() and done.read_text().endswith("\n")):
            time.sleep(0.02)
        begin, end = done.read_text().split()
        subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)
        return float(end) - float(begin)

    return work


def compared(work: Callable[[list[str]], float], found: dict[str, list[str]], rounds: int) -> Figures:
    """Taken in turns, so that a disturbance hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds):
        for name, command in found.items():
            times[name].append(work(command))
    best = {name: min(taken) for name, taken in times.items()}
    return {
        **{f"{name}_ms": round(seconds * 1000, 1) for name, seconds in best.items()},
        **{f"x_{name}": round(best["relay"] / best[name], 3) for name in best if name != "relay"},
    }


def echo(command: list[str], keys: int) -> float:
    """Microseconds from a key to its echo, in the middle."""
    screen = Screen(command, cwd=Path.cwd())
    screen.type("ready\n")
    screen.expect("ready\r\nready")
    times = []
    for _ in range(keys):
        begin = time.perf_counter()
        os.write(screen.master, b"x")
        select.select([screen.master], [], [])
        times.append(time.perf_counter() - begin)
        os.read(screen.master, 100)
        if _ % 100 == 99:  # a line has an end
            screen.type("\n")
            screen.expect(r"x\r\n")
    screen.close()
    return statistics.median(times) * 1e6


def figures(size: int, rounds: int, *, tmux: bool) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        lines = commands(size, Path(folder))
        found: Figures = {"size": size}
        for name, line in lines.items():
            found[f"terminal_{name}"] = compared(in_terminal, ways(line), rounds)
            piped = {"bare": ["sh", "-c", line], "relay": [*RELAY, "sh", "-c", line]}
            piped["cat"] = ["sh", "-c", f"{line} | cat"]
            found[f"pipe_{name}"] = compared(in_pipe, piped, rounds)
        for name, line in lines.items() if tmux and shutil.which("tmux") else ():
            done = Path(folder) / "done"
            found[f"tmux_{name}"] = compared(in_tmux(done), ways(until_drawn(line, done)), rounds)
    keys = {name: echo(command, 300) for name, command in ways("exec cat").items()}
    found["echo"] = {f"{name}_us": round(value, 1) for name, value in keys.items()}
    found["start"] = compared(to_the_end, ways("echo"), max(rounds, 5))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.relay")
    parser.add_argument("--size", type=int, default=50_000_000, help="bytes that a command prints")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-tmux", action="store_true", help="leave the real emulator out")
    parser.add_argument("--data", help="taken for the sake of the other benches; this one makes its own data")
    arguments = parser.parse_args()
    made = figures(arguments.size, arguments.rounds, tmux=not arguments.no_tmux)
    for name, row in made.items():
        if isinstance(row, dict):
            print(f"{name:<14}", "  ".join(f"{key} {value}" for key, value in row.items()))
    print(json.dumps(made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
