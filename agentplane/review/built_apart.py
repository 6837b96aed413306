"""Building a large index in a process of its own: what only the building needs is no burden to one that serves for long.

The statements come on standard input, the index goes into the plane's cache under this user's mark, where the server reads it.
"""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from agentplane.plane import programs
from agentplane.plane.layout import Layout
from agentplane.review import neighbours


LEAST = 2_000
"""So few statements take less time to index than a process takes to start."""
_SECONDS = 120.0


class _Job(msgspec.Struct, frozen=True, array_like=True):
    root: str
    head: str | None
    name: str
    statements: list[str]


def build(kept: "neighbours.Kept", name: str, statements: list[str]) -> None:
    """Never raises: who finds nothing in the cache builds it in its own process."""
    job = msgspec.msgpack.encode(_Job(str(kept.layout.root), kept.head, name, statements))
    command = programs.python("agentplane.review.built_apart")
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(command, input=job, capture_output=True, timeout=_SECONDS, check=False)


def main() -> None:
    job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=_Job)
    kept = neighbours.Kept(Layout(root=Path(job.root)), job.head)
    neighbours.build(kept, job.name, job.statements)


if __name__ == "__main__":
    main()
