"""The benches run, on small sizes: figures of the right shape, not how fast."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import reads
from tests.bench.rows import ROWS
from tests.conftest import ROOT


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(("badge", "conflict"), id="some"),
        pytest.param(tuple(ROWS), id="every", marks=pytest.mark.full),
    ],
)
def test_the_rows_print_their_figures(rows: tuple[str, ...]) -> None:
    only = [word for row in rows for word in ("--only", row)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "--size", "20", "--rounds", "1", *only],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    table = json.loads(done.stdout.splitlines()[-1])
    assert table.keys() == set(rows)
    for row in table.values():
        assert {"ratio", "limit", "ms", "tenth", "hundredth"} <= row.keys()
        assert row["ratio"] > 0
        assert row["tenth"]["ms"] > 0


@pytest.mark.full
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


def test_the_bench_of_a_proposal_prints_its_figures(tmp_path: Path) -> None:
    """Without real texts it says so and makes some up."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.bench.propose",
            "--size",
            "60",
            "--count",
            "3",
            "--data",
            str(tmp_path),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Zipf" in done.stdout
    (row,) = json.loads(done.stdout.splitlines()[-1])["rows"]
    assert row["entries"] == 60
    assert min(row[name] for name in ("median_ms", "worst_ms", "cli_ms", "rss_mb", "peak_mb", "x_bare")) > 0


@pytest.mark.full
def test_the_bench_of_the_curator_prints_its_figures() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.curator", "--only", "side_by_side"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["right"] + figures["wrong"] == 28
    assert figures["findings"].keys() >= {"evidence-changed", "evidence-gone", "evidence-moved"}


@pytest.mark.slow
def test_a_proposal_and_an_approval_read_the_plane_twice(tmp_path: Path) -> None:
    found = reads.measured(ROOT, tmp_path)
    assert list(found) == ["propose", "approve", "run"]
    assert found["propose"]["planes"] == 2
    assert found["propose"]["settings"] == 3
    assert found["approve"]["planes"] == 2
    assert found["approve"]["settings"] == 4
