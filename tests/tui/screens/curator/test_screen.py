"""The curator by keys, on a real plane in a real repository: what the person sees, and what is in the files then."""

import re
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.curate.finding import Finding
from agentplane.tui.screens.curator.health_line import HealthLine
from agentplane.tui.screens.curator.pane import FindingPane
from agentplane.tui.screens.curator.preview_modal import RemedyPreview
from agentplane.tui.screens.curator.screen import CuratorScreen
from agentplane.tui.screens.entry.editor import EditScreen
from agentplane.tui.screens.memory.screen import MemoryScreen
from agentplane.tui.widgets.footer import KeyBar, StatusBar
from agentplane.tui.widgets.modals.line_modal import LineDialog
from agentplane.tui.widgets.modals.reason_modal import ReasonDialog
from tests.conftest import files_of
from tests.curate.shelves import TODAY, change
from tests.tui.conftest import Sitting, sit
from tests.tui.screens.curator.shop import Shop, shop_in


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return shop_in(tmp_path / "shop")


class Desk:
    """One person before the curator's screen."""

    def __init__(self, sitting: Sitting) -> None:
        self.sitting = sitting

    @property
    def screen(self) -> CuratorScreen:
        screen = self.sitting.app.navigator.screen("curator")
        assert isinstance(screen, CuratorScreen)
        return screen

    @property
    def is_here(self) -> bool:
        return self.sitting.app.screen is self.screen

    async def open(self) -> "Desk":
        await self.sitting.press("6")
        await self.looked()
        return self

    async def looked(self) -> None:
        """Every command was carried out, and every pass has ended and is shown."""
        screen, app = self.screen, self.sitting.app

        def is_done() -> bool:
            return not app.pending and not app._reader.reading and not screen.checking

        for _ in range(3):
            await self.sitting.until(lambda: is_done() and screen.curated.look is not None, "looked")
            await self.sitting.calm()

    async def press(self, *keys: str) -> None:
        await self.sitting.press(*keys)

    async def at(self, id_: str) -> Finding:
        """Put the cursor on the finding about an entry."""
        key = next(one.key for one in self.screen.curated.listed if id_ in one.ids)
        assert self.screen.view.seek(key)
        await self.sitting.calm()
        found = self.screen.curated.finding(key)
        assert found is not None
        return found

    async def preview(self, key: str) -> str:
        """Press a key that shows a preview. Return the words of the preview."""
        await self.press(key)
        await self.sitting.until(lambda: isinstance(self.sitting.app.screen, RemedyPreview), "the preview")
        await self.sitting.pilot.pause()
        return self.sitting.screen

    async def confirm(self) -> None:
        await self.press("y")
        await self.looked()

    @property
    def ids(self) -> list[str]:
        return [one.ids[0] for one in self.screen.curated.listed]

    @property
    def said(self) -> str:
        return self.screen.query_one(StatusBar).plain

    @property
    def keys(self) -> str:
        return self.screen.query_one(KeyBar).render().plain

    @property
    def health(self) -> str:
        return self.screen.query_one(HealthLine).plain

    @property
    def words(self) -> str:
        return self.sitting.screen


ALL = ["DEC-003", "ASM-001", "DEC-001", "FACT-001", "FACT-002", "DEC-002"]
"""The entries with findings, in the order of the list."""


def observed(plane: Plane, id_: str) -> list[str | None]:
    """The contents of the evidence that the last operation on an entry recorded."""
    from agentplane.curate import recorded

    found = recorded.of(plane.memory.read()).observed[id_].evidence
    return [one.content for one in found or ()]


# Looking


def test_findings_are_listed_by_what_to_do_with_the_proof_next_to_them(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        assert desk.ids == ALL
        lines = [line.strip() for line in desk.words.splitlines()]
        for heading, count in (("Decide now", 1), ("Probably stale", 4), ("Clean up", 1)):
            assert any(line.split("│")[0].split() == [*heading.split(), str(count)] for line in lines)
        assert "× D  DEC-003" in desk.words
        assert "! A  ASM-001" in desk.words
        assert "· D  DEC-002" in desk.words
        found = await desk.at("DEC-001")
        head = shop.git("log", "-3", "--format=%h %s", "--abbrev=10").splitlines()
        raised = next(line.split()[0] for line in head if line.endswith("Raise the fee"))
        assert f"commit {raised} by Test Person" in desk.words
        assert "-    total = amount + 2" in desk.words
        assert "+    total = amount + 3" in desk.words
        assert "A charge has a fee of two cents." in desk.words
        assert f"agentplane curate --dismiss {found.key}" in desk.words
        assert desk.keys.startswith(" a renew  e edit  d deprecate")

    sit(shop.plane, steps, size=(160, 50))


def test_the_kept_result_is_there_before_the_pass_ends(shop: Shop) -> None:
    made = shop.plane.curator.collect()
    shop.plane.curator.dismiss([made.findings[0].key])

    async def steps(sitting: Sitting) -> None:
        screen = Desk(sitting).screen
        screen._passes.cancel()
        screen._passes.start = lambda _: None  # type: ignore[method-assign]
        await sitting.press("6")
        await sitting.until(lambda: screen.view.listing.shown, "rows")
        assert [row.id for row in screen.view.listing.shown] == [one.key for one in made.findings[1:]]
        await sitting.calm()
        assert "The proof appears when the check has ended." in sitting.screen
        await sitting.press("a")
        assert "the findings are still being checked" in sitting.screen

    sit(shop.plane, steps)


def test_the_header_counts_only_what_needs_a_decision(shop: Shop) -> None:
    async def before(sitting: Sitting) -> None:
        assert "finding" not in sitting.screen.splitlines()[0]
        assert sitting.screen.splitlines()[1].rstrip().endswith("6 Curator")
        desk = await Desk(sitting).open()
        first, second = desk.words.splitlines()[:2]
        assert "? 1 finding " in first
        assert "6 Curator 1" in second

    sit(shop.plane, before)

    async def after(sitting: Sitting) -> None:
        assert "? 1 finding " in sitting.screen.splitlines()[0], "from the kept result, without a pass"
        assert "6 Curator 1" in sitting.screen.splitlines()[1]

    sit(shop.plane, after)


def test_health_has_its_parts_and_its_course(shop: Shop) -> None:
    from tests.curate.shelves import ago

    for days in (3, 2, 1):
        ago(shop.plane, days).curator.collect()

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        made = desk.screen.curated.look
        assert made is not None
        health = made.made.health
        assert health is not None
        first, second = desk.health.splitlines()
        assert first.startswith(
            f"Health {health.percent}%  {health.sound} of 7 entries without a sign of being outdated"
        )
        assert "07 May" in first
        assert "10 May" in first
        assert f"Evidence unchanged {health.unchanged} of {health.bound}" in second
        assert f"checked on time {health.checked} of 7" in second
        await desk.press("C")
        assert f"Health per day: {desk.screen.curated.course[0].percent}% on 2031-05-07" in desk.words
        assert "100%" in desk.words
        await desk.press("C")
        assert "Health per day" not in desk.words

    sit(shop.plane, steps)


def test_a_filter_takes_words_and_states(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()

        async def listed(words: str) -> set[str]:
            desk.screen.set_words(words)
            await sitting.calm()
            shown = {row.id for row in desk.screen.view.listing.shown}
            return {one.ids[0] for one in desk.screen.curated.listed if one.key in shown}

        assert await listed("is:stale") == {"ASM-001", "DEC-001", "FACT-001", "FACT-002"}
        assert await listed("is:error") == {"DEC-003"}
        assert await listed("is:evidence-moved") == {"DEC-002"}
        assert await listed("webhooks expired") == {"FACT-001"}
        assert await listed("amount + 3") == {"DEC-001"}, "the proof counts"
        assert await listed("nothing has this") == set()
        assert "No matches." in desk.words
        await desk.press("escape")
        await sitting.calm()
        assert len(desk.screen.view.listing.shown) == len(ALL)

    sit(shop.plane, steps)


def test_nothing_to_decide_says_when_it_was_checked(plane: Plane) -> None:
    from tests.curate.shelves import NOW, add, at

    now = at(plane, NOW)

    async def without_entries(sitting: Sitting) -> None:
        await Desk(sitting).open()
        assert "No approved entries yet." in sitting.screen

    sit(now, without_entries)
    add(now, "Reports are CSV files.")

    async def with_one(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        assert "Nothing to decide. Last checked just now." in desk.words
        assert "To check again, press O." in desk.words
        await desk.press("a", "T", "d", "X", "Z", "m", "S", "L", "W", "r", "e", "enter", "space", "escape")
        await desk.looked()
        assert len(now.history.ops()) == len(shop_ops)

    shop_ops = now.history.ops()
    sit(now, with_one)


# Remedies


def test_renewing_records_the_evidence_as_it_is_now(shop: Shop) -> None:
    before = files_of(shop.plane)
    old = observed(shop.plane, "DEC-001")

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        await desk.at("DEC-001")
        words = await desk.preview("a")
        assert "Renew DEC-001?" in words
        assert "No memory file changes." in words
        await desk.press("escape")
        await desk.looked()
        assert observed(shop.plane, "DEC-001") == old, "cancelled"
        await desk.preview("T")
        await desk.confirm()
        assert "DEC-001" not in desk.ids
        assert "Renewed DEC-001 · u to undo" in desk.said
        assert observed(shop.plane, "DEC-001") != old
        await desk.press("u")
        await desk.looked()
        assert "Undid renewal of DEC-001" in desk.said
        assert desk.ids == ALL
        assert desk.screen.entry_id == "DEC-001"
        assert observed(shop.plane, "DEC-001") == old

    sit(shop.plane, steps)
    assert files_of(shop.plane) == before


def test_moved_evidence_is_updated_in_the_file(shop: Shop) -> None:
    before = shop.entry("DEC-002")

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        await desk.at("DEC-002")
        assert desk.keys.startswith(" a update evidence")
        words = await desk.preview("a")
        assert "Update the evidence of DEC-002?" in words
        assert "lib/post/mail.py#send" in words
        await desk.confirm()
        assert "DEC-002" not in desk.ids
        assert "lib/post/mail.py#send" in shop.entry("DEC-002")
        await desk.press("u")
        await desk.looked()
        assert shop.entry("DEC-002") == before
        await desk.at("DEC-002")
        await desk.preview("L")
        await desk.confirm()
        assert "lib/post/mail.py#send" in shop.entry("DEC-002")

    sit(shop.plane, steps)


def test_deprecating_asks_why_and_shows_the_lines_first(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        await desk.at("DEC-003")
        await desk.press("d")
        assert isinstance(sitting.app.screen, ReasonDialog)
        await sitting.type("Exports were removed.")
        words = await desk.preview("enter")
        assert "+status: deprecated" in words
        assert "status: accepted" in shop.entry("DEC-003")
        await desk.confirm()
        assert "status: deprecated" in shop.entry("DEC-003")
        assert "DEC-003" not in desk.ids
        assert shop.plane.history.ops(1)[0].why == "Exports were removed."
        assert "finding" not in desk.words.splitlines()[0], "nothing is left to decide"
        await desk.press("u")
        await desk.looked()
        assert "status: accepted" in shop.entry("DEC-003")
        assert "? 1 finding " in desk.words.splitlines()[0]

    sit(shop.plane, steps)


def test_a_dismissed_finding_returns_when_the_proof_changes(shop: Shop) -> None:
    before = files_of(shop.plane)

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        await desk.at("DEC-001")
        await desk.press("X")
        assert isinstance(sitting.app.screen, ReasonDialog)
        await sitting.type("The fee is per region.")
        await desk.press("enter")
        await desk.looked()
        assert "DEC-001" not in desk.ids
        assert "Dismissed 1 finding · u to undo" in desk.said
        assert "1 dismissed" in desk.said
        assert shop.plane.history.ops(1)[0].why == "The fee is per region."
        shop.replace("src/pay.py", "amount + 3", "amount + 4")
        shop.commit("Raise it again")
        await desk.press("O")
        await desk.looked()
        assert "DEC-001" in desk.ids

    sit(shop.plane, steps)
    assert files_of(shop.plane) == before


def test_snoozing_asks_for_a_day_in_the_future(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        await desk.at("ASM-001")
        await desk.press("Z")
        assert isinstance(sitting.app.screen, LineDialog)
        await sitting.type("2031-05-01")
        await desk.press("enter")
        assert "isn't in the future" in desk.words
        for _ in range(10):
            await desk.press("backspace")
        await sitting.type("2w")
        await desk.press("enter")
        await desk.looked()
        assert "ASM-001" not in desk.ids
        assert "Snoozed 1 finding until 2031-05-24 · u to undo" in desk.said
        assert "1 snoozed" in desk.said
        await desk.press("u")
        await desk.looked()
        assert "ASM-001" in desk.ids

    sit(shop.plane, steps)


def test_selected_findings_are_one_operation_and_the_selection_ends(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        count = len(shop.plane.history.ops())
        await desk.at("FACT-001")
        await desk.press("space", "space")
        assert "2 selected" in desk.said
        await desk.press("X", "enter")
        await desk.looked()
        assert desk.screen.view.listing.marks == set()
        assert "Dismissed 2 findings" in desk.said
        assert not {"FACT-001", "FACT-002"} & set(desk.ids)
        assert len(shop.plane.history.ops()) == count + 1
        await desk.press("u")
        await desk.looked()
        await desk.at("ASM-001")
        await desk.press("space", "space")
        words = await desk.preview("a")
        assert "Renew 2 entries?" in words
        await desk.confirm()
        assert not {"ASM-001", "DEC-001"} & set(desk.ids)
        assert desk.screen.view.listing.marks == set()
        assert shop.plane.history.ops(1)[0].verb == "renew"
        assert set(shop.plane.history.ops(1)[0].ids) == {"ASM-001", "DEC-001"}

    sit(shop.plane, steps)


def test_findings_with_different_remedies_are_not_applied_together(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        count = len(shop.plane.history.ops())
        await desk.press("asterisk", "a")
        assert "the selected findings need different remedies" in desk.words
        await desk.press("L")
        assert "no remedy for this key" in desk.words
        await desk.looked()
        assert len(shop.plane.history.ops()) == count
        await desk.press("slash", *"is:tidy", "enter")
        await sitting.calm()
        assert "6 selected (5 hidden)" in desk.said
        await desk.press("X", "enter")
        await desk.looked()
        assert len(desk.screen.curated.listed) == len(ALL) - 1, "hidden rows are left alone"

    sit(shop.plane, steps)


def test_a_manual_edit_is_accepted_or_discarded(shop: Shop) -> None:
    file = shop.plane.layout.memory / "decisions.md"
    approved = file.read_text()

    def edit() -> None:
        file.write_text(approved.replace("Logs go to standard error.", "Logs go to standard output."))

    edit()

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        await desk.at("DEC-004")
        assert desk.keys.startswith(" a accept  r discard")
        assert "+Decision: Logs go to standard output." in desk.words
        await desk.press("r")
        await desk.looked()
        assert file.read_text() == approved
        assert "DEC-004" not in desk.ids
        await desk.press("u")
        await desk.looked()
        await desk.at("DEC-004")
        await desk.press("a")
        await desk.looked()
        assert "Logs go to standard output." in file.read_text()
        assert not shop.plane.memory.read().hand_edits
        assert "DEC-004" not in desk.ids

    sit(shop.plane, steps, size=(140, 40))


def test_entries_that_contradict_each_other_are_decided_between(shop: Shop) -> None:
    shop.add("The ledger runs on PostgreSQL 15.")
    shop.add("Backups of invoices run every night.")
    change(shop.plane, "DEC-006", "Backups of invoices run every night.", "The ledger runs on PostgreSQL 16.")

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        found = await desk.at("DEC-005")
        assert found.kind == "contradiction"
        lines = desk.words.splitlines()
        assert any("PostgreSQL 15" in line and "PostgreSQL 16" in line for line in lines), "side by side"
        await desk.press("S")
        assert "replaces" in desk.words, desk.words
        (place,) = re.findall(r"([12])  DEC-006 replaces DEC-005", desk.words)
        words = await desk.preview(place)
        assert "Mark DEC-005 as superseded by DEC-006?" in words
        await desk.confirm()
        assert "status: superseded" in shop.entry("DEC-005")
        assert "DEC-005" not in desk.ids

    sit(shop.plane, steps, size=(160, 40))


def test_entries_that_say_the_same_are_merged_in_the_editor(shop: Shop) -> None:
    shop.add("Deploys need two approvals from the platform team.")
    shop.add("Cafeteria menus change every Monday morning.")
    change(
        shop.plane, "DEC-006", "Cafeteria menus change every Monday morning.", "Deploys need two approvals from the platform team."
    )  # fmt: skip

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        found = await desk.at("DEC-006")
        assert found.kind == "duplicate"
        await desk.press("m")
        await sitting.until(lambda: isinstance(sitting.app.screen, EditScreen), "the editor")
        assert "Merge" in sitting.screen
        await desk.press("ctrl+s")
        await desk.sitting.until(lambda: desk.is_here, "saved")
        await desk.looked()
        assert "status: superseded" in shop.entry(found.ids[1])
        assert "status: accepted" in shop.entry(found.ids[0])
        assert found.ids[0] not in desk.ids
        await desk.press("u")
        await desk.looked()
        assert "status: accepted" in shop.entry(found.ids[1])

    sit(shop.plane, steps)


def test_all_remedies_are_in_one_list(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        found = await desk.at("FACT-001")
        await desk.press("W")
        for remedy in found.remedies:
            assert remedy.title in desk.words
        place = next(at for at, one in enumerate(found.remedies, 1) if one.name == "expiry")
        await desk.press(str(place))
        await sitting.until(lambda: isinstance(sitting.app.screen, LineDialog), "the date")
        await sitting.type("2031-12-31")
        words = await desk.preview("enter")
        assert "Set the expiry date of FACT-001 to 2031-12-31?" in words
        await desk.confirm()
        assert "2031-12-31" in shop.entry("FACT-001")
        assert "FACT-001" not in desk.ids

    sit(shop.plane, steps)


def test_an_entry_is_edited_in_the_form(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        await desk.at("DEC-001")
        await desk.press("e")
        await sitting.until(lambda: isinstance(sitting.app.screen, EditScreen), "the editor")
        await sitting.type("Each ")
        await desk.press("ctrl+s")
        await sitting.until(lambda: desk.is_here, "saved")
        await desk.looked()
        assert "Edited DEC-001 · u to undo" in desk.said

    sit(shop.plane, steps)
    assert "Each" in shop.entry("DEC-001")


# Going around


def test_from_a_finding_to_the_entry_and_back(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        await desk.at("FACT-002")
        await desk.press("enter")
        await sitting.calm()
        memory = sitting.app.screen
        assert isinstance(memory, MemoryScreen)
        assert memory.current == "FACT-002"
        assert "Findings   Q to open" in sitting.screen
        assert "Expired" in sitting.screen
        await desk.press("escape")
        await desk.looked()
        assert desk.is_here
        assert desk.screen.entry_id == "FACT-002"
        await desk.press("2")
        await sitting.calm()
        memory.view.seek("DEC-001")
        await sitting.calm()
        await desk.press("Q")
        await desk.looked()
        assert desk.is_here
        assert desk.screen.entry_id == "DEC-001"
        await desk.press("escape")
        await sitting.calm()
        assert sitting.app.screen is memory
        memory.view.seek("DEC-004")
        await sitting.calm()
        await desk.press("Q")
        assert "the curator has no finding about this entry" in sitting.screen
        assert sitting.app.screen is memory

    sit(shop.plane, steps, size=(140, 40))


def test_several_findings_about_an_entry_are_listed_alone(shop: Shop) -> None:
    shop.add(
        "Refunds wait for the bank.",
        "fact",
        days=100,
        expires_at="2031-05-03",
        evidence=["lib/post/mail.py#send"],
    )
    shop.replace("lib/post/mail.py", "retries=3", "retries=4")
    shop.commit("Try more often")

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        assert desk.ids.count("FACT-003") == 2
        await desk.press("2")
        await sitting.calm()
        memory = sitting.app.screen
        assert isinstance(memory, MemoryScreen)
        memory.view.seek("FACT-003")
        await sitting.calm()
        await desk.press("Q")
        await desk.looked()
        assert len(desk.screen.view.listing.shown) == 2
        assert "/FACT-003 matches 2" in desk.said

    sit(shop.plane, steps)


def test_a_change_by_another_program_is_looked_at(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        assert "FACT-001" in desk.ids
        shop.plane.memory.deprecate(["FACT-001"])
        await desk.press("ctrl+r")
        await desk.looked()
        assert "FACT-001" not in desk.ids
        shop.replace("src/pay.py", "LIMIT = 30", "LIMIT = 60")
        shop.commit("Raise the limit")
        await desk.press("ctrl+r")
        await desk.looked()
        assert "DEC-004" in desk.ids

    sit(shop.plane, steps)


def test_leaving_cancels_the_pass_and_a_dialog_does_not(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        cancelled: list[bool] = []
        cancel = desk.screen._passes.cancel
        desk.screen._passes.cancel = lambda: (cancelled.append(True), cancel())[1]  # type: ignore[method-assign,func-returns-value]
        await desk.press("X")
        await sitting.calm()
        assert cancelled == []
        await desk.press("escape")
        await sitting.calm()
        await desk.press("1")
        await sitting.until(lambda: cancelled, "cancelled")
        assert not desk.screen.checking

    sit(shop.plane, steps)


# Terminals and folders


def test_a_narrow_terminal_shows_the_finding_in_place_of_the_list(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        assert all(len(line) <= 40 for line in desk.words.splitlines())
        assert desk.words.splitlines()[1].strip().startswith("6 Curator 1"), "the open tab is in sight"
        assert desk.words.splitlines()[2].startswith(" Health ")
        await desk.at("DEC-001")
        await desk.press("enter")
        await sitting.calm()
        assert desk.is_here
        assert "+    total = amount + 3" in desk.words
        assert desk.words.index("A charge has a fee") < desk.words.index("+    total"), "stacked"
        await desk.press("enter")
        await sitting.calm()
        assert isinstance(sitting.app.screen, MemoryScreen)

    sit(shop.plane, steps, size=(40, 30))


def test_a_wide_pane_has_the_statement_next_to_the_proof(shop: Shop) -> None:
    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        await desk.at("DEC-001")
        pane = desk.screen.query_one(FindingPane)
        assert pane.size.width >= 100
        assert any("DEC-001  decision" in line and "Change" in line for line in desk.words.splitlines())

    sit(shop.plane, steps, size=(220, 40))


def test_signs_do_not_need_color_or_more_than_ascii(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "vt100")

    async def steps(sitting: Sitting) -> None:
        from tests.curate.shelves import ago

        ago(shop.plane, 2).curator.collect()
        desk = await Desk(sitting).open()
        assert "x D  DEC-003" in desk.words
        assert "! A  ASM-001" in desk.words
        assert ". D  DEC-002" in desk.words
        assert "-    return" in desk.words
        assert not set("▁▂▃▄▅▆▇█●×") & set(desk.words)

    sit(shop.plane, steps)


def test_without_git_the_other_findings_are_there(tmp_path: Path) -> None:
    shop = shop_in(tmp_path / "bare", is_git=False)

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        assert {"ASM-001", "FACT-001", "FACT-002", "DEC-003"} <= set(desk.ids)
        await desk.at("FACT-001")
        await desk.press("X", "enter")
        await desk.looked()
        assert "FACT-001" not in desk.ids

    sit(shop.plane, steps)


def test_a_tool_decides_nothing_here(shop: Shop) -> None:
    from agentplane.errors import Refused

    def no(*_: object) -> None:
        raise Refused("Only a person can decide.")

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        count = len(shop.plane.history.ops())
        await desk.at("FACT-001")
        for key in ("a", "T", "d", "X", "Z", "W", "e"):
            await desk.press(key)
            assert "Only a person can decide." in desk.words
        assert desk.is_here
        assert len(shop.plane.history.ops()) == count
        assert "Remedies" not in desk.words

    sit(shop.plane, steps, check=no)


def test_the_day_of_a_finding_is_the_day_of_the_first_pass(shop: Shop) -> None:
    from tests.curate.shelves import ago

    ago(shop.plane, 1).curator.collect()

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        found = await desk.at("DEC-001")
        assert (TODAY - desk.screen.curated.since[found.key]).days == 1
        assert "found 2031-05-09" in desk.words
        assert "1 d" in desk.words

    sit(shop.plane, steps)


def test_a_command_is_read_before_it_runs(shop: Shop) -> None:
    id_ = shop.add(
        "The marker is never written.", "assumption", check="run: echo the-marker-is-there; exit 3"
    )

    async def steps(sitting: Sitting) -> None:
        desk = await Desk(sitting).open()
        found = await desk.at(id_)
        assert found.kind == "check-unapproved"
        assert desk.keys.startswith(" a allow command")
        await desk.press("a")
        await sitting.until(lambda: not desk.is_here, "the question")
        assert "echo the-marker-is-there; exit 3" in desk.words
        await desk.press("escape")
        await desk.looked()
        assert shop.plane.curator.unapproved_commands([id_])
        await desk.press("a")
        await sitting.until(lambda: not desk.is_here, "the question")
        await desk.press("y")
        await desk.looked()
        found = await desk.at(id_)
        assert found.kind == "check-failed"
        assert "Exit code: 3" in desk.words
        assert "the-marker-is-there" in desk.words

    sit(shop.plane, steps)
