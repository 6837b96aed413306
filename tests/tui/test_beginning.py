"""The first rows, read without a YAML parser: never others than those that the whole reading gives."""

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentplane.api import Plane
from agentplane.memory.kinds import BUILT_IN
from agentplane.text import header
from agentplane.tui import beginning, glimpse, rows
from tests.conftest import ROOT, decision


KINDS = {kind.name: kind for kind in BUILT_IN}
PROSE = b"# Candidates\n\nProposed, and waiting for a person.\n\n"
PLACE = rows.Place("run", datetime(2026, 9, 1, tzinfo=UTC))

_ODD = st.sampled_from(
    [
        "null",
        "True",
        "~",
        "1e5",
        "2026-99-99",
        "0x1F",
        "a: b",
        "a #b",
        "[a",
        "<<",
        "=",
        "no",
        "'",
        '"x"',
        "|",
        "",
    ]
)
_TAILS = ["k3f9qa", "zz11aa", "b0b0b0"]


@st.composite
def _headers(draw: st.DrawFn) -> bytes:
    """Lines as somebody may have written them, right or wrong."""
    values = st.one_of(
        _ODD,
        st.sampled_from(
            [
                "codex",
                "Ada Lovelace",
                "0.9",
                "[a, b/c.py:12]",
                "['src/**', x]",
                "2026-01-27",
                "'2026-01-27'",
                "\n  - 'a#b'\n  - c d",
                "\n  - a: b",
                "\n- a",
            ]
        ),
        st.text("ab :#,[]{}'\"-?!&*|<>%@`.\\é1", max_size=12),
    )
    fields = [
        ("id", draw(st.one_of(st.sampled_from(["CAND-A", "CAND-B", "CAND-C"]), _ODD))),
        ("type", draw(st.sampled_from(["decision", "fact", "nothing", "true"]))),
        ("status", draw(st.sampled_from(["proposed", "proposed", "accepted"]))),
        *draw(
            st.lists(st.tuples(st.sampled_from(["updated", "source", "proposed_by", "tags", "x"]), values))
        ),
    ]
    return "".join(f"{name}: {value}\n" for name, value in fields).encode()


_BODIES = st.sampled_from(
    [
        b"Decision: One.\n",
        b"\n\nFact: Two\n\nmore\n",
        b"",
        b"a\n---\nb\n",
        b"```\n---\n```\n",
        b"\xff\n",
        b"x\0\n",
        b"y\r\n",
    ]
)


def _told(found: beginning.Beginning) -> list[tuple[object, ...]]:
    heads = [(one.head.source, one.head.updated, one.head.proposed_by) for one in found.entries]
    return [
        (one.id, one.head.type, one.statement, one.label, *head)
        for one, head in zip(found.entries, heads, strict=True)
    ]


@given(st.lists(st.tuples(_headers(), _BODIES), max_size=6), st.booleans())
@settings(max_examples=300, deadline=None)
def test_what_is_read_quickly_is_how_the_whole_reading_begins(
    pieces: list[tuple[bytes, bytes]], whole: bool
) -> None:
    data = PROSE + b"".join(b"---\n" + head + b"---\n" + body + b"\n" for head, body in pieces)
    found = beginning.read(data, KINDS, whole=whole)
    everything = _told(beginning.parse(data, KINDS, whole=True))
    assert _told(found) == everything[: len(found.entries)]
    if whole and not found.stopped:
        assert len(found.entries) == len(everything)
    assert found.end <= len(data)


@given(st.binary(max_size=200))
def test_no_bytes_are_too_odd(data: bytes) -> None:
    for text in (data, PROSE + b"---\n" + data, PROSE + b"---\nid: CAND-A\n---\n" + data):
        assert not beginning.read(text, KINDS, whole=True).entries


def _candidate(number: int, **fields: object) -> bytes:
    core = {"id": f"CAND-{number:04d}", "type": "fact", "status": "proposed", **fields}
    return header.new_core(core, f"Fact: Number {number}.") + b"\n\n"


@pytest.mark.parametrize("seed", range(30))
def test_first_rows_stand_where_they_will_stand(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    runs = [f"20260127T101502Z-{tail}" for tail in _TAILS] + [None]
    cores = []
    for number in range(dice.choice((5, 40, 200))):
        run = dice.choice(runs if dice.random() < 0.3 else runs[: 1 + number // 50])
        cores.append(
            _candidate(number, **({"source": run} if run else {}), proposed_by=dice.choice(["codex", "ada"]))
        )
    data = PROSE + b"".join(cores)
    cut = dice.randrange(len(PROSE), len(data) + 1)
    most = dice.choice((3, 20, 120))
    everything = beginning.parse(data, KINDS, whole=True).entries
    true = rows.grouped(rows.row(one, None, PLACE) for one in everything)
    for read in (beginning.read, beginning.parse):
        found = read(data[:cut], KINDS, whole=cut == len(data))
        rest = data[found.end :]
        made = [(rows.row(one, None, PLACE), one.head.source) for one in found.entries]
        first, goes_on = beginning.sure(made, beginning.never_named_in(lambda rest=rest: rest), most)
        assert first == true[: len(first)]
        if first and not goes_on and first[-1].group != true[-1].group:
            assert true[len(first)].group != first[-1].group


def test_the_plane_that_everybody_has_is_read_at_once() -> None:
    found = glimpse.read(str(ROOT / ".agentplane-example"), at_once=True)
    assert found is not None
    assert found["rows"] == (glimpse.read(str(ROOT / ".agentplane-example")) or {})["rows"]
    assert found["rows"]


def test_the_heading_says_when_more_may_follow(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        plane.propose(decision(f"Statement number {number}."))
    assert (glimpse.read(str(plane.layout.root)) or {})["goes_on"] is False
    monkeypatch.setattr(glimpse, "ROWS", 4)
    assert (glimpse.read(str(plane.layout.root)) or {})["goes_on"] is True
