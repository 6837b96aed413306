"""What is worked out of a forked log does not depend on the order in which git left its lines."""

import random

from hypothesis import given
from hypothesis import strategies as st

from agentplane.plane.ledger import event_graph, text_versions
from agentplane.plane.ledger.text_versions import Version
from agentplane.text.log import chain, event_line


TIMES = [f"2026-01-27T10:00:{second:02d}.000Z" for second in range(20)]


def grown(seed: int, size: int) -> list[bytes]:
    """A log with branches that go on from any event and are joined in any way; each line below those it names."""
    dice = random.Random(seed)
    lines = [chain.link({"kind": "op", "n": 0, "ts": TIMES[0]}, chain.GENESIS)]
    tips = {chain.hash_of(lines[0])}
    for number in range(1, size):
        if len(tips) > 1 and dice.random() < 0.3:
            named = dice.sample(sorted(tips), min(len(tips), dice.choice([2, 2, 3])))
            lines.append(chain.join(named, dice.choice(TIMES)))
            tips -= set(named)
        else:
            above = chain.hash_of(dice.choice(lines)) if dice.random() < 0.3 else dice.choice(sorted(tips))
            lines.append(chain.link({"kind": "op", "n": number, "ts": dice.choice(TIMES)}, above))
            tips.discard(above)
        tips.add(chain.hash_of(lines[-1]))
    return lines


def ancestors(lines: tuple[bytes, ...]) -> list[set[int]]:
    """Each event with all before it, worked out the plain way."""
    place = {bytes.fromhex(chain.hash_of(line)): number for number, line in enumerate(lines)}
    found: list[set[int]] = []
    for number, line in enumerate(lines):
        above = [place[parent] for parent in event_line.parents_of(line) if parent in place]
        found.append({number}.union(*(found[parent] for parent in above)))
    return found


@given(st.integers(0, 10**6), st.integers(1, 25))
def test_the_order_is_that_of_the_events(seed: int, size: int) -> None:
    lines = grown(seed, size)
    made = event_graph.of(lines)
    shuffled = [*lines, *random.Random(seed).sample(lines, len(lines) // 2)]
    random.Random(seed + 1).shuffle(shuffled)
    again = event_graph.of(shuffled)
    assert again.lines == made.lines
    assert again.heads == made.heads
    assert sorted(made.lines) == sorted(lines)
    assert not event_graph.of(made.lines).repeated
    report = chain.verify_lines(made.lines)
    assert report.faults == ()
    assert set(report.heads) == {chain.hash_of(made.lines[head]) for head in made.heads}


@given(st.integers(0, 10**6), st.integers(1, 25))
def test_who_knows_whom(seed: int, size: int) -> None:
    made = event_graph.of(grown(seed, size))
    known = ancestors(made.lines)
    for one in range(len(made.lines)):
        for other in range(len(made.lines)):
            assert made.reaches(one, other) == (one in known[other])
        assert made.apart(one) == any(one not in known[head] for head in made.heads)


@given(
    st.integers(0, 10**6), st.integers(2, 20), st.lists(st.sampled_from(["a", "b", "c", None]), min_size=20)
)
def test_what_counts_of_an_id_is_what_no_later_op_replaced(
    seed: int, size: int, texts: list[str | None]
) -> None:
    made = event_graph.of(grown(seed, size))
    found = [
        Version(place, texts[place], "memory/decisions.md", f"op{place:02d}", TIMES[place % 20], None, None)
        for place in range(len(made.lines))
        if place % 2
    ]
    if not found:
        return
    live = text_versions.live(found, made)
    tips = [v for v in found if not any(v is not w and made.reaches(v.place, w.place) for w in found)]
    assert live
    assert {v.digest for v in live} <= {v.digest for v in tips}
    assert len({v.digest for v in live}) == len(live)
    base = text_versions.common(found, tips, made)
    assert {v.digest for v in tips} - {v.digest for v in live} <= {base.digest if base else None}


def test_an_event_that_is_named_and_not_there() -> None:
    lines = grown(1, 6)
    made = event_graph.of(lines[2:])
    assert made.missing
    assert chain.hash_of(lines[0]) in made.missing or chain.hash_of(lines[1]) in made.missing
