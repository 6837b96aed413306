"""Child process that builds a large index, so that a long-lived server doesn't keep the memory that building
takes.

The child reads the statements from standard input. It writes the index to the project's cache under this
user's mark, and the server reads it from there.
"""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from agentplane.plane.layout import Layout
from agentplane.review.conflicts import embeddings, shortlist
from agentplane.system import programs


LEAST = 2_000
"""With fewer statements, indexing takes less time than starting a process."""
_SECONDS = 120.0


class _Job(msgspec.Struct, frozen=True, array_like=True):
    root: str
    head: str | None
    name: str
    statements: list[str]


def build(vector_cache: "embeddings.VectorCache", name: str, statements: list[str]) -> None:
    """Build an index in a child process. Never raises, because a caller without an index builds it
    instead.
    """
    job = msgspec.msgpack.encode(_Job(str(vector_cache.layout.root), vector_cache.head, name, statements))
    command = programs.python("agentplane.review.conflicts.index_process")
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(command, input=job, capture_output=True, timeout=_SECONDS, check=False)


def main() -> None:
    job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=_Job)
    vector_cache = embeddings.VectorCache(Layout(root=Path(job.root)), job.head)
    shortlist.build(vector_cache, job.name, job.statements)


if __name__ == "__main__":
    main()
