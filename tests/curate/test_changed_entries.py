"""The entries that changed between two passes, and a pass over only these."""

from pathlib import Path

import pytest

from agentplane.api.curator import Look
from agentplane.commands import Renew
from tests.curate.shelves import NOW, add, at
from tests.tui.screens.curator.shop import Shop, shop_in


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return shop_in(tmp_path / "shop")


def same_as_whole(shop: Shop, look: Look) -> None:
    """The part that was looked at again and the rest are the result of a pass over all entries."""
    whole = shop.plane.curator.look().made
    assert look.made.findings == whole.findings
    assert look.made.put_aside == whole.put_aside
    assert look.made.health == whole.health
    assert look.made.checked == whole.checked


def test_without_a_change_nothing_is_looked_at_again(shop: Shop) -> None:
    look = shop.plane.curator.look()
    assert shop.plane.curator.look(look) is look


def test_each_kind_of_change_leads_to_the_result_of_a_whole_pass(shop: Shop) -> None:
    curator = shop.plane.curator
    look = curator.look()
    keys = {one.id: one.key for one in look.made.findings}

    def looked(id_: str, *, found: bool) -> None:
        nonlocal look
        before, look = look, curator.look(look)
        assert look is not before
        assert (id_ in {one.id for one in look.made.findings}) == found
        same_as_whole(shop, look)

    shop.plane.do(Renew(("DEC-001",)))
    looked("DEC-001", found=False)
    shop.plane.history.undo()
    looked("DEC-001", found=True)
    curator.dismiss([keys["FACT-001"]])
    looked("FACT-001", found=False)
    shop.plane.history.undo()
    looked("FACT-001", found=True)
    shop.plane.memory.deprecate(["DEC-003"])
    looked("DEC-003", found=False)
    file = shop.plane.layout.memory / "decisions.md"
    file.write_text(file.read_text().replace("Logs go to standard error.", "Logs go to standard output."))
    looked("DEC-004", found=True)
    shop.plane.memory.adopt()
    looked("DEC-004", found=False)
    add(at(shop.plane, NOW), "Refunds wait for the bank.", scope=("nowhere/**",))
    looked("DEC-005", found=True)


def test_the_kept_result_is_that_of_the_last_look(shop: Shop) -> None:
    curator = shop.plane.curator
    look = curator.look()
    shop.plane.memory.deprecate(["DEC-003"])
    look = curator.look(look)
    assert {mark.key for mark in curator.marks()} == {one.key for one in look.made.findings}
    counts = curator.kept()
    assert counts is not None
    assert counts.to_decide == 0
    assert curator.is_current(counts)


def test_undoing_a_renewal_names_the_entry(shop: Shop) -> None:
    shop.plane.do(Renew(("DEC-001",)))
    assert shop.plane.history.undo().ids == ["DEC-001"]
    assert shop.plane.history.redo().ids == ["DEC-001"]
