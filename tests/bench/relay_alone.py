"""`python -m tests.bench.relay_alone COMMAND…`: the relay with a sink that only counts: what a record costs is its own."""

import os
import sys
from pathlib import Path

from agentplane.runs.terminal.relay import run


def main() -> int:
    sizes: list[int] = []
    done = run(sys.argv[1:], env=os.environ, cwd=Path.cwd(), sink=lambda _, data: sizes.append(len(data)))
    return done.code


if __name__ == "__main__":
    sys.exit(main())
