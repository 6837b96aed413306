"""A pack withholds entries that look like they contain a secret, and searches only those that get room."""

from collections.abc import Sequence

import msgspec
import pytest

from agentplane.context import pack
from agentplane.context.choose import Ask
from agentplane.context.sources import Sources
from agentplane.memory.entry import Entry
from agentplane.review import delivery
from agentplane.review.conflicts.assumptions import Contradiction
from agentplane.text.json import canonical
from tests.context.test_pack import entry


PASSWORD = "Kx92mQvT7" + "pLw"
SECRET = f"The uploader signs in at https://uploader:{PASSWORD}@files.example.test/in."


class Divider:
    """Counts what is searched."""

    def __init__(self) -> None:
        self.searched: list[str] = []

    def __call__(self, entries: Sequence[Entry]) -> delivery.Delivery:
        self.searched += [entry.id for entry in entries]
        return delivery.divided_uncached(entries)


def made_of(id_: str, kind: str, body: str, **head: object) -> Entry:
    """An entry with a digest of its own text, under which is kept what was found in it."""
    return msgspec.structs.replace(
        entry(id_, kind, body, **head), digest=canonical.sha256(f"{id_}{body}".encode())
    )


def plain(number: int, **head: object) -> Entry:
    return made_of(f"DEC-{number:03d}", "decision", f"Report {number} is a CSV file with a header.", **head)


def leaky(number: int, **head: object) -> Entry:
    return made_of(f"DEC-{number:03d}", "decision", SECRET, **head)


def given(made: pack.Pack) -> set[str]:
    return {one.id for one in made.receipt.given}


def test_entries_without_room_are_not_searched() -> None:
    divider = Divider()
    made = pack.make(Sources("r", tuple(map(plain, range(1, 400))), divider), Ask(budget=600))
    assert set(divider.searched) == given(made)
    assert 5 < len(given(made)) < 60


@pytest.mark.parametrize("count", [1, 7, 150])
def test_others_get_the_room_of_what_is_withheld(count: int) -> None:
    entries = [leaky(number, pinned=True) for number in range(1, count + 1)]
    entries += [plain(number) for number in range(count + 1, 400)]
    divider = Divider()
    made = pack.make(Sources("r", tuple(entries), divider), Ask(budget=600))
    assert PASSWORD not in made.text
    assert set(made.receipt.withheld) == {one.id for one in entries[:count]}
    assert len(given(made)) > 5
    assert given(made).isdisjoint(made.receipt.withheld)
    assert {cut.id for cut in made.receipt.cut}.isdisjoint(made.receipt.withheld)
    assert pack.tokens(made.text) <= 600
    # However many are withheld, an entry is asked about a few times and not once for each of them.
    assert len(divider.searched) < 6 * len(entries)


def test_a_choice_made_before_gives_the_same_pack() -> None:
    sources = Sources("r", (leaky(1, pinned=True), *map(plain, range(2, 50))))
    made = pack.make(sources, Ask(budget=500))
    assert made.receipt.withheld == ("DEC-001",)
    assert pack.make(sources, Ask(budget=500), made.choice) == made


def test_nothing_names_a_withheld_entry_as_contradicted() -> None:
    against = {
        "ASM-001": (Contradiction(("ASM-001", "ASM-002"), proven=False),),
        "ASM-002": (Contradiction(("ASM-001", "ASM-002"), proven=False),),
    }
    entries = (
        made_of("ASM-001", "assumption", "Reports are small."),
        made_of("ASM-002", "assumption", SECRET),
    )
    made = pack.make(Sources("r", entries, against=against), Ask())
    assert "ASM-001" in made.text
    assert made.text.count("ASM-002") == 1
    assert "Withheld because they look like they contain a secret: ASM-002" in made.text
