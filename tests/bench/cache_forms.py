"""What one marked file costs, and one SQLite file with a mark for each row: `python -m tests.bench.cache_forms`.

Both hold 10,000 vectors of 512 bytes. Processor time, the least of some rounds.
"""

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from agentplane.plane.trust import user_key


ROWS = 10_000
FEW = 40
ROUNDS = 7
_PURPOSE = "bench"
_TABLE = "create table rows(key blob primary key, value blob, mark blob) without rowid"

Rows = list[tuple[bytes, bytes]]


def mark(*parts: bytes | memoryview) -> bytes:
    made = user_key.mark(_PURPOSE, *parts)
    assert made is not None, "no key can be kept for this user"
    return made


def write_file(path: Path, rows: Rows) -> None:
    data = b"".join(part for row in rows for part in row)
    new = path.with_suffix(".new")
    new.write_bytes(mark(data) + data)
    new.replace(path)


def read_file(path: Path) -> None:
    found = memoryview(path.read_bytes())
    assert bytes(found[: user_key.MARK_LENGTH]) == mark(found[user_key.MARK_LENGTH :])


def write_rows(path: Path, rows: Rows) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("pragma synchronous=off")
        database.executemany("replace into rows values (?, ?, ?)", ((*row, mark(*row)) for row in rows))


def read_rows(path: Path, keys: list[bytes] | None) -> None:
    with closing(sqlite3.connect(path)) as database:
        if keys is None:
            found = database.execute("select * from rows").fetchall()
        else:
            found = [
                row for key in keys for row in database.execute("select * from rows where key = ?", (key,))
            ]
    assert all(made == mark(key, value) for key, value, made in found)
    assert len(found) == (ROWS if keys is None else len(keys))


def least(work: Callable[[], None]) -> float:
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times) * 1000


def main() -> None:
    rows = [(os.urandom(16), os.urandom(512)) for _ in range(ROWS)]
    few = [key for key, _ in rows[:FEW]]
    with tempfile.TemporaryDirectory() as folder:
        file, database = Path(folder) / "file", Path(folder) / "rows.db"
        write_file(file, rows)
        with closing(sqlite3.connect(database)) as made, made:
            made.execute(_TABLE)
        write_rows(database, rows)
        for said, work in (
            ("one file, read all", lambda: read_file(file)),
            ("SQLite, read all", lambda: read_rows(database, None)),
            (f"SQLite, read {FEW}", lambda: read_rows(database, few)),
            ("one file, change one", lambda: write_file(file, rows)),
            ("SQLite, change one", lambda: write_rows(database, rows[:1])),
        ):
            print(f"{said:<24}{least(work):>8.2f} ms")


if __name__ == "__main__":
    main()
