"""The benches run, on small sizes: figures of the right shape, not how fast."""

import json
import subprocess
import sys

from tests.bench.rows import ROWS
from tests.conftest import ROOT


def test_every_row_prints_its_figures() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "--size", "20", "--rounds", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    table = json.loads(done.stdout.splitlines()[-1])
    assert table.keys() == ROWS.keys()
    for row in table.values():
        assert {"ratio", "limit", "ms", "tenth", "hundredth"} <= row.keys()
        assert row["ratio"] > 0
        assert row["tenth"]["ms"] > 0


def test_the_bench_of_the_relay_prints_its_figures() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.relay", "--size", "20000", "--rounds", "1", "--no-tmux"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    for name in ("terminal_cat", "terminal_yes", "terminal_seq", "pipe_cat", "pipe_yes", "pipe_seq", "start"):
        assert figures[name]["x_bare"] > 0
    assert figures["echo"]["relay_us"] > 0
