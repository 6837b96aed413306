"""Any keys, any size: no screen falls over, and nothing is decided that was not asked for."""

import random

import pytest
from textual.pilot import Pilot

from agentplane.api import Plane
from agentplane.tui.screens.conflict.screen import ConflictScreen
from agentplane.tui.screens.entry import editor
from agentplane.tui.screens.entry.editor import EditScreen
from agentplane.tui.screens.memory.screen import MemoryScreen
from agentplane.tui.widgets.modals.choose_modal import Pick
from tests.conftest import decision
from tests.tui.stand import Stand, drive


SIZES = [
    (1, 1),
    (2, 30),
    (5, 5),
    (11, 3),
    (30, 2),
    (40, 12),
    (59, 14),
    (60, 20),
    (80, 24),
    (100, 15),
    (250, 70),
]
KEYS = [
    "j", "k", "down", "up", "g", "G", "pagedown", "pageup", "ctrl+d", "ctrl+u", "space", "v", "asterisk",
    "shift+down", "shift+up", "tab", "shift+tab", "enter", "escape", "slash", "x", "p", "P", "l", "o", "y", "d", "a", "r",
    "e", "s", "n", "1", "2", "3", "4", "ctrl+s", "backspace", "[", "]", "q",
]  # fmt: skip


@pytest.fixture
def full(plane: Plane) -> Plane:
    plane.inbox.approve(
        [plane.propose(decision("Use PostgreSQL 15 for the ledger.", tags=["db"], evidence=["x.py", "y.py"]))]
    )
    for n in range(30):
        plane.inbox.approve(
            [plane.propose(decision(f"Topic number {n} has colour {n * 7}.", scope=[f"app/{n}/**"]))]
        )
    plane.propose(decision("Use PostgreSQL 16 for the ledger."))
    path = plane.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("colour 21.", "colour red."))
    return plane


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["shelf", "conflict", "edit", "pick"])
def test_any_keys_at_any_size(full: Plane, name: str, seed: int) -> None:
    app = Stand(full)
    luck = random.Random(seed)
    entry = app.shown.shelf[0]

    def screen() -> MemoryScreen | ConflictScreen | EditScreen | Pick:
        if name == "conflict":
            found = next(one for one in app.shown.reviewed.values() if one.conflicts)
            return ConflictScreen(found)
        if name == "edit":
            return EditScreen(editor.of_entry(app.shown.memory, entry, app.shown.today))
        return Pick("Open", ["one", "two " * 40, "漢字 " * 30]) if name == "pick" else MemoryScreen()

    async def steps(pilot: Pilot[None], app: Stand) -> None:
        for _ in range(6):
            await pilot.resize_terminal(*luck.choice(SIZES))
            await pilot.press(*luck.choices(KEYS, k=5))
            if len(app.screen_stack) == 1:
                app.look_at_all()
                candidates = [one for one in app.shown.reviewed.values() if one.conflicts]
                app.push_screen(screen() if name != "conflict" or candidates else MemoryScreen())
        await app.calm(pilot)

    drive(app, steps, luck.choice(SIZES[6:]), screen())
    memory = full.memory.read()
    assert full.is_damaged() is False
    assert len(memory.shelf) + len(memory.inbox) >= 31
