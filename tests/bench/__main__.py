"""`make bench`: the speed table as text, and as one JSON object on the last line."""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from tests.bench import timing
from tests.bench.rows import ROWS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument(
        "--size", type=int, default=10_000, help="entries; the log has a hundred times as many events"
    )
    parser.add_argument(
        "--only", action="append", choices=list(ROWS), help="only this row; can be given several times"
    )
    parser.add_argument(
        "--data", help="taken for the sake of the other benches; these rows make their own data"
    )
    parser.add_argument("--rounds", type=int, help="at most so many: to see that the rows work")
    arguments = parser.parse_args()
    # What pip installs is compiled, and so is what is measured, whatever the shell says.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if arguments.rounds:
        timing.at_most(arguments.rounds)
    table = {}
    for name in arguments.only or ROWS:
        sizes = [arguments.size, arguments.size // 10, arguments.size // 100]
        with tempfile.TemporaryDirectory() as folder:
            full, tenth, hundredth = (ROWS[name](max(size, 10), Path(folder) / str(size)) for size in sizes)
        table[name] = {**full, "tenth": tenth, "hundredth": hundredth}
        held = "holds" if full["ratio"] <= full["limit"] else "MISSED"
        print(
            f"{name:<14} {full['ratio']:>8.3f} of {full['limit']:<5} {held:<7} {full['ms']:>10.2f} ms"
            f"   a tenth {tenth['ms']:.2f} ms, a hundredth {hundredth['ms']:.2f} ms",
            flush=True,
        )
    print(json.dumps(table))
    return 0 if all(row["ratio"] <= row["limit"] for row in table.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
