"""One pass over all statements, what the next pass compares, and what a cancelled one keeps."""

import random
import subprocess
import sys
from collections.abc import Iterable

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.curate.pairs import candidates, relations
from agentplane.curate.pairs.compared import Compared, Judged, Related
from agentplane.curate.pairs.relations import Relations, among, key_of
from agentplane.jobs import Progress, Report, Stopped, ignore
from agentplane.plane.derived import cache
from agentplane.plane.store.snapshot import Snapshot
from agentplane.review import result_versions
from tests.conftest import UNLIKE
from tests.curate.checks.test_contradictions import CONTRADICTIONS
from tests.curate.checks.test_duplicates import SAME
from tests.curate.pairs.shelves import accept, ids


TIMEOUTS = tuple(f"The timeout of the {name} service is {number} seconds." for name, number in (
    ("search", 10), ("search", 20), ("invoice", 10), ("invoice", 30), ("mail", 10), ("mail", 40),
))  # fmt: skip


def kinds(found: Relations) -> set[tuple[bytes, bytes, str]]:
    return {(one, other, judged.kind) for one, rows in found.by_key.items() for other, judged in rows.items()}


def pass_over(plane: Plane, *statements: str) -> Relations:
    return among(plane.memory.read().snapshot, statements, ignore)


def contradictions(*pairs: tuple[str, str]) -> set[tuple[bytes, bytes, str]]:
    both = {(key_of(one), key_of(other), "contradiction") for one, other in pairs}
    return both | {(other, one, kind) for one, other, kind in both}


EXPECTED = contradictions(*((TIMEOUTS[at], TIMEOUTS[at + 1]) for at in (0, 2, 4)))


def test_a_second_pass_compares_nothing(plane: Plane) -> None:
    first = pass_over(plane, *TIMEOUTS)
    assert kinds(first) == EXPECTED
    assert first.pairs > 0
    second = pass_over(plane, *reversed(TIMEOUTS))
    assert kinds(second) == EXPECTED
    assert second.pairs == 0


def test_only_new_statements_are_compared(plane: Plane) -> None:
    pass_over(plane, *TIMEOUTS)
    new = "The timeout of the search service is 99 seconds."
    found = pass_over(plane, *TIMEOUTS, new)
    assert found.pairs <= len(TIMEOUTS)
    assert kinds(found) - EXPECTED == contradictions((TIMEOUTS[0], new), (TIMEOUTS[1], new))


def test_a_changed_statement_takes_its_relations_with_it(plane: Plane) -> None:
    pass_over(plane, *TIMEOUTS)
    found = pass_over(plane, "Buttons have round corners.", *TIMEOUTS[1:])
    assert found.pairs == 0
    assert kinds(found) == contradictions((TIMEOUTS[2], TIMEOUTS[3]), (TIMEOUTS[4], TIMEOUTS[5]))
    again = pass_over(plane, *TIMEOUTS)
    assert again.pairs > 0
    assert kinds(again) == EXPECTED


def test_two_checks_of_one_memory_compare_once(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    accept(plane, *TIMEOUTS)
    passes: list[int] = []

    def counted(snapshot: Snapshot, statements: Iterable[str], report: Report) -> Relations:
        found = among(snapshot, statements, report)
        passes.append(found.pairs)
        return found

    monkeypatch.setattr(relations, "among", counted)
    assert len(ids(plane, "contradiction", "duplicate")) == 3
    assert len(passes) == 1


def test_the_order_of_passes_makes_no_difference(plane: Plane) -> None:
    """Random memories grow, shrink and change, and give what one pass over the last one gives."""
    dice = random.Random(5)
    texts = [*TIMEOUTS, *UNLIKE, *(one for pair in (*CONTRADICTIONS, *SAME) for one in pair)]
    for _ in range(6):
        shelf = dice.sample(texts, dice.randint(len(texts) // 2, len(texts)))
        grown = pass_over(plane, *shelf)
    (plane.layout.cache / relations.CACHE_NAME).unlink()
    whole = pass_over(plane, *shelf)
    assert whole.pairs > grown.pairs
    assert kinds(grown) == kinds(whole) != set()


def test_progress(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "_ROWS", 4)
    steps: list[tuple[int, int, str]] = []
    among(plane.memory.read().snapshot, TIMEOUTS, lambda *step: steps.append(step))
    assert [step[:2] for step in steps] == [(0, 6), (4, 6), (6, 6)]
    assert {step[2] for step in steps} == {"Comparing entries"}


def test_a_cancelled_pass_keeps_what_it_has_done(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "_ROWS", 2)
    progress = Progress()

    def report(done: int, total: int, what: str) -> None:
        if done == 4:
            progress.cancel()
        progress.report(done, total, what)

    snapshot = plane.memory.read().snapshot
    with pytest.raises(Stopped):
        among(snapshot, TIMEOUTS, report)
    steps: list[int] = []
    found = among(snapshot, TIMEOUTS, lambda _, total, __: steps.append(total))
    assert kinds(found) == EXPECTED
    assert set(steps) == {2}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"\x91" * 100_000,
        Compared((b"short",), b"\0" * 512, ()),
        Compared((b"k" * 16,), b"\0" * 511, ()),
        Compared((b"k" * 16, b"k" * 16), b"\0" * 1024, ()),
        Compared((b"k" * 16,), b"\0" * 512, (Related(7, 0, None, None),)),
        Compared((b"k" * 16,), b"\0" * 512, (Related(0, -1, Judged("duplicate", 1.0, ()), None),)),
    ],
    ids=[
        "empty",
        "no pack",
        "too deep",
        "short key",
        "short direction",
        "key twice",
        "no such place",
        "negative",
    ],
)
def test_a_damaged_cache_is_made_again(plane: Plane, data: bytes | Compared) -> None:
    pass_over(plane, *TIMEOUTS)
    raw = msgspec.msgpack.encode(data) if isinstance(data, Compared) else data
    cache.save(plane.layout, relations.file(), raw)
    found = pass_over(plane, *TIMEOUTS)
    assert kinds(found) == EXPECTED
    assert found.pairs > 0
    assert pass_over(plane, *TIMEOUTS).pairs == 0


def test_a_cache_that_someone_else_wrote_does_not_count(plane: Plane) -> None:
    pass_over(plane, *TIMEOUTS)
    file = plane.layout.cache / relations.CACHE_NAME
    raw = bytearray(file.read_bytes())
    raw[-3] ^= 1
    file.write_bytes(raw)
    assert pass_over(plane, *TIMEOUTS).pairs > 0


def test_without_a_cache_the_result_is_the_same(plane: Plane) -> None:
    pass_over(plane, *TIMEOUTS)
    file = plane.layout.cache / relations.CACHE_NAME
    file.unlink()
    file.mkdir()
    found = pass_over(plane, *TIMEOUTS)
    assert kinds(found) == EXPECTED


@pytest.mark.parametrize("name", ["CONFLICTS", "CURATOR_PAIRS"])
def test_results_of_another_version_do_not_count(
    plane: Plane, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_over(plane, *TIMEOUTS)
    monkeypatch.setattr(result_versions, name, getattr(result_versions, name) + 1)
    assert pass_over(plane, *TIMEOUTS).pairs > 0


def test_a_pass_over_known_statements_loads_no_comparison(plane: Plane) -> None:
    accept(plane, *TIMEOUTS)
    assert len(ids(plane)) == 3
    code = (
        "import sys; from pathlib import Path; from agentplane.api import open_plane;"
        "plane = open_plane(Path(sys.argv[1]));"
        "print(len(plane.curator.collect(only=['contradiction', 'duplicate']).findings));"
        "print([name for name in ('numpy', 'agentplane.claims.verdict') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(plane.layout.project)], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ["3", "[]"], done.stderr
