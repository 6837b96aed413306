"""What a proposal costs: a running `agentplane mcp`, and `agentplane propose` as a command, on planes of 100 to 10,000 entries.

The texts are sentences that people wrote: of decision records (`DATA/adr`) and instruction files (`DATA/instructions`), read where
they are. Without them the words are made up, spread as the words of a language are (Zipf).
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from agentplane.api import Plane
from agentplane.plane import create
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.plan import Edit, Plan
from agentplane.plane.store.store import Store
from agentplane.text.markdown import header
from tests.bench.timing import rounds_of


DATA = Path("../shared/data")
SIZES = (100, 1_000, 10_000)
PROPOSALS = 40
MOST_MS = 40
MOST_MB = 150

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*[-*]\s+|\n{2,}|\n#+ ")
_PLAIN = re.compile(r"[\w`'\"(][^\n|<>{}\[\]]{38,218}[.\w)`]")
_SYNTHETIC = 6_000
"""Words of the language that is made up where there are no real texts."""


def sentences(data: Path) -> tuple[list[str], str]:
    """Statements in a fixed random order, each once, and where they come from."""
    found = dict.fromkeys(_real(data))
    if not found:
        print(
            f"no texts in {data}/adr and {data}/instructions: a vocabulary by Zipf's law stands in",
            flush=True,
        )
        return list(made_up()), "made up"
    listed = list(found)
    random.Random(7).shuffle(listed)
    return listed, "adr, instructions"


def _real(data: Path) -> Iterator[str]:
    texts: list[str] = []
    with suppress(OSError):
        lines = (data / "adr" / "adrs.jsonl").read_text().splitlines()
        texts += [json.loads(line)["text"] for line in lines]
    with suppress(OSError):
        files = sorted((data / "instructions").iterdir())
        texts += [path.read_text(errors="replace") for path in files if path.suffix != ".jsonl"]
    for text in texts:
        for piece in _SENTENCE.split(text):
            said = " ".join(piece.split())
            if _PLAIN.fullmatch(said) and said.count(" ") >= 5:
                yield said


@cache
def made_up() -> tuple[str, ...]:
    dice = random.Random(7)
    sounds = ("ba", "ke", "lo", "mi", "ru", "sta", "tri", "ven", "pol", "dar", "nex", "qui", "for", "sel")
    words = ["".join(dice.choices(sounds, k=dice.randint(2, 4))) for _ in range(_SYNTHETIC)]
    weights = list(accumulate(1 / rank for rank in range(1, _SYNTHETIC + 1)))
    said = (" ".join(dice.choices(words, cum_weights=weights, k=dice.randint(7, 24))) for _ in range(30_000))
    return tuple(dict.fromkeys(f"{one[0].upper()}{one[1:]}." for one in said))


def make(folder: Path, size: int, texts: Sequence[str]) -> Plane:
    """A plane with so many approved entries, each a statement and a reason of one to three sentences."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    plane = Plane(Store(Layout(root=folder.resolve() / ".agentplane")), Origin("Bench", "terminal", "bench"))
    create.create(plane.store, plane.origin)
    dice = random.Random(size)
    prefixes = {"decision": "DEC", "invariant": "INV", "fact": "FACT", "assumption": "ASM"}
    files = {"decision": "decisions", "invariant": "invariants", "fact": "facts", "assumption": "assumptions"}
    counts = dict.fromkeys(prefixes, 0)
    edits = []
    for statement in texts[:size]:
        kind = dice.choices([*prefixes], [60, 20, 15, 5])[0]
        counts[kind] += 1
        id_ = f"{prefixes[kind]}-{counts[kind]:03d}"
        fields = {
            "id": id_,
            "type": kind,
            "status": "accepted",
            "tags": dice.sample(statement.lower().split(), 2),
            "source": "20260127T101502Z-k3f9qa",
            "confidence": 0.9,
            "evidence": [f"app/module{dice.randint(1, 99)}.py:{dice.randint(1, 400)}"],
            "proposed_by": "codex",
            "updated": "2026-01-27",
        }
        reasons = " ".join(dice.choices(texts, k=dice.randint(1, 3)))
        body = f"{kind.capitalize()}: {statement}\nRationale: {reasons}"
        edits.append(Edit(id_, f"memory/{files[kind]}.md", header.new_core(fields, body)))
    plane.store.commit(lambda _: Plan("import", edits), plane.origin)
    plane.memory.read()
    return plane


def asked(texts: Sequence[str], size: int, count: int) -> list[str]:
    """What is proposed: by turns a statement that nobody made, and one that nearly repeats an entry."""
    new = iter(texts[-count:])
    dice = random.Random(3)
    found = []
    for number in range(count):
        if number % 2:
            words = texts[dice.randrange(size)].split()
            words[dice.randrange(1, len(words) - 1)] = dice.choice(
                ("nightly", "PostgreSQL", "twice", "never")
            )
            found.append(" ".join(words))
        else:
            found.append(next(new))
    return found


class Server:
    """`agentplane mcp` over standard input and output, asked one line at a time."""

    def __init__(self, plane: Plane) -> None:
        words = [sys.executable, "-m", "agentplane", "mcp"]
        self._process = subprocess.Popen(
            words, cwd=plane.layout.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()
        )
        self.pid = self._process.pid
        self._id = 0
        about = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "codex", "version": "1"},
        }
        self.ask("initialize", about)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._write({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self._process.stdout
        while line := self._process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._id:
                return answer
        raise AssertionError("the server ended")

    def propose(self, statement: str) -> dict[str, Any]:
        answer = self.ask(
            "tools/call", {"name": "propose", "arguments": {"type": "decision", "statement": statement}}
        )
        found: dict[str, Any] = answer["result"]
        return found

    def send(self, statement: str) -> None:
        """Proposes and does not wait for the answer."""
        arguments = {"type": "decision", "statement": statement}
        params = {"name": "propose", "arguments": arguments}
        self._write({"jsonrpc": "2.0", "id": "unread", "method": "tools/call", "params": params})

    def kill(self, number: int) -> None:
        self._process.send_signal(number)
        self._close()

    def _close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        with suppress(OSError):
            self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def seconds(self) -> float:
        """Processor time of the process, and of its children that have ended."""
        stat = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        children = (int(stat[13]) + int(stat[14])) / os.sysconf("SC_CLK_TCK")
        # The clock of another process: in nanoseconds, where its stat counts in ticks of 10 ms.
        return time.clock_gettime((~self.pid << 3) | 2) + children

    def megabytes(self) -> tuple[float, float]:
        """Resident now, and at most so far."""
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{self.pid}/status").read_text().splitlines()
        )
        return int(status["VmRSS"].split()[0]) / 1024, int(status["VmHWM"].split()[0]) / 1024

    def end(self) -> None:
        self._close()


@contextmanager
def serving(plane: Plane) -> Iterator[Server]:
    server = Server(plane)
    try:
        yield server
    finally:
        server.end()


def _environment() -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return env | {"AGENTPLANE_BACKGROUND": "0"}


def processor_time(words: Sequence[str], folder: Path, rounds: int = 5) -> float:
    """Of a command, the least of some runs."""
    times = []
    for _ in rounds_of(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, cwd=folder, env=_environment(), capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return max(min(times), 0.001)


def measured(size: int, folder: Path, texts: Sequence[str], count: int = PROPOSALS) -> dict[str, Any]:
    plane = make(folder, size, texts)
    statements = asked(texts, size, count + 3)
    first, *others = statements[:-2]
    times, refused, met = [], 0, 0
    with serving(plane) as server:
        begin = server.seconds()
        server.propose(first)
        start = server.seconds() - begin
        idle = server.megabytes()[0]
        for statement in others:
            begin = server.seconds()
            result = server.propose(statement)
            times.append((server.seconds() - begin) * 1000)
            refused += bool(result.get("isError"))
            met += bool(result.get("structuredContent", {}).get("conflicts"))
        resident, peak = server.megabytes()
    bare = processor_time((sys.executable, "-c", "pass"), folder) * 1000
    command = (sys.executable, "-m", "agentplane", "propose", "--type", "decision")
    cold = min(processor_time((*command, one), folder, 1) for one in statements[-2:]) * 1000
    median = statistics.median(times)
    return {
        "entries": size,
        "median_ms": round(median, 1),
        "worst_ms": round(max(times), 1),
        "first_ms": round(start * 1000, 1),
        "x_bare": round(median / bare, 2),
        "bare_ms": round(bare, 1),
        "cli_ms": round(cold, 1),
        "rss_mb": round(resident, 1),
        "peak_mb": round(peak, 1),
        "after_first_mb": round(idle, 1),
        "refused": refused,
        "with_conflicts": met,
    }


def propose(size: int, folder: Path) -> dict[str, Any]:
    """The processor time of a proposal in a running server with `size` entries, against a Python that does nothing."""
    texts, _ = sentences(DATA)
    found = measured(min(size, len(texts) // 2), folder, texts, len(rounds_of(PROPOSALS)))
    return {
        "ratio": found["x_bare"],
        "limit": 6,
        "ms": found["median_ms"],
        "mb": found["peak_mb"],
        "cli_ms": found["cli_ms"],
    }


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.propose")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--size", type=int, action="append", help="entries; can be given several times")
    parser.add_argument("--count", type=int, default=PROPOSALS, help="proposals for each size")
    arguments = parser.parse_args(words)
    texts, source = sentences(arguments.data)
    rows = []
    for size in arguments.size or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            row = measured(min(size, len(texts) // 2), Path(folder) / "plane", texts, arguments.count)
        rows.append(row)
        print(
            f"{row['entries']:>7,} entries  {row['median_ms']:>7.1f} ms, worst {row['worst_ms']:.1f}, first {row['first_ms']:.0f}"
            f"  ({row['x_bare']} x a bare Python)  cli {row['cli_ms']:.0f} ms  {row['rss_mb']:.0f} MB, peak {row['peak_mb']:.0f}",
            flush=True,
        )
    print(json.dumps({"texts": source, "limit_ms": MOST_MS, "limit_mb": MOST_MB, "rows": rows}))
    return 0 if all(row["median_ms"] <= MOST_MS and row["peak_mb"] <= MOST_MB for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
