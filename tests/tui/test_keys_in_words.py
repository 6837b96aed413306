"""Sentences name the keys of the settings, not the default ones."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.tui import actions, hints
from agentplane.tui.app import PlaneApp
from agentplane.tui.backend.maintenance import Imported
from agentplane.tui.backend.model import PlaneModel
from agentplane.tui.backend.outcome_text import Outcome, message_of
from agentplane.tui.hints import Hints
from agentplane.tui.widgets.modals.help_modal import Help
from tests.conftest import ROOT, decision
from tests.tui.conftest import Sitting, sit


NEW = {one.id: f"super+f{place}" for place, one in enumerate(actions.ACTIONS, 1) if one.keys}
"""A key for each action that no other action has."""
KEYMAP = actions.keymap(NEW)
_NAMED = re.compile(
    r"\b[Pp]ress (?!again\b)(\S+?)[.,)]*(?=\s|$)|(?:^|[\s(:·])(\S+) to (?:undo|redo|accept|discard|open|compare|restart|set)\b"
)
"""The words in front of what a key does, and the key after `press`."""
_IN_CODE = re.compile(
    r"\b[Pp]ress (?!again\b|ctrl\+q\b)[\w/]|(?:^|[\s(:·])(?:\w|enter|esc|ctrl\+\w) to [a-z]"
)


@pytest.fixture
def remapped(plane: Plane) -> Plane:
    lines = [f'"{id_}" = "{key}"' for id_, key in NEW.items()]
    plane.layout.config.write_text("\n".join(["[tui.keys]", *lines, ""]))
    return plane


def default_keys_named(text: str) -> list[str]:
    found = (first or second for first, second in _NAMED.findall(text))
    return [key for key in found if not re.search(r"f\d+$", key)]


async def press(sitting: Sitting, *ids: str) -> None:
    await sitting.press(*(NEW[id_] for id_ in ids))


def test_every_action_can_have_another_key() -> None:
    assert KEYMAP.problems == ()
    assert KEYMAP.keys == NEW


def sentences_in(path: Path) -> Iterator[str]:
    """Yield the texts of a module without its docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_no_sentence_in_the_code_has_a_key_in_it() -> None:
    modules = sorted((ROOT / "agentplane" / "tui").rglob("*.py"))
    found = [(path.name, text) for path in modules for text in sentences_in(path) if _IN_CODE.search(text)]
    assert found == []


def test_empty_lists_name_the_new_keys(remapped: Plane) -> None:
    async def steps(sitting: Sitting) -> None:
        assert (
            f"Press {NEW['tools']} to connect a tool, or {NEW['new']} to write the first candidate yourself."
            in sitting.screen
        )
        keys = [NEW[id_] for id_ in ("approve", "reject", "undo", "help")]
        assert (
            "press {} to approve, {} to reject and {} to undo. Press {} to see all keys.".format(*keys)
            in sitting.screen
        )
        assert f"{NEW['shelf']} Memory" in sitting.screen
        for id_, text in (
            ("shelf", f"press {NEW['inbox']} to go to the inbox"),
            ("pack", f"press {NEW['pack.task']} to set one"),
            ("tools", ""),
            ("runs", ""),
        ):
            await press(sitting, id_)
            await sitting.until(lambda text=text: text in sitting.screen, text)
            assert default_keys_named(sitting.screen) == []
            await press(sitting, "filter")
            await sitting.type("nothing")
            if id_ in ("shelf", "runs"):
                await sitting.until(lambda: f"Press {NEW['back']} to clear" in sitting.screen, "no match")
            await press(sitting, "back", "inbox")

    sit(remapped, steps, size=(200, 40))


def test_notices_name_the_new_keys(remapped: Plane) -> None:
    remapped.inbox.approve([remapped.propose(decision("Use PostgreSQL 15 for the ledger."))])
    remapped.propose(decision("Use PostgreSQL 16 for the ledger."))
    snoozed = remapped.propose(decision("Log in JSON lines."))
    remapped.inbox.snooze([snoozed], remapped.today().replace(year=remapped.today().year + 1, day=1))
    (remapped.layout.project / "a.txt").write_text("text\n")
    app = PlaneApp(lambda: PlaneModel(remapped, lambda *_: None), hints=Hints())
    screens: list[str] = []

    async def steps(sitting: Sitting) -> None:
        async def seen(text: str) -> None:
            await sitting.until(lambda: text in sitting.screen, text)
            screens.append(sitting.screen)

        await seen(f"1/3  {NEW['approve']} approves this candidate.")
        await seen(f"1 folded (1 snoozed), {NEW['folded']} to show")
        await seen(f"{NEW['approve']} to compare")
        await seen(f"{NEW['list.open']} to compare")
        await press(sitting, "filter.next")
        await seen(f"Press {NEW['filter']} to type a filter and {NEW['filter.save']} to save it.")
        await press(sitting, "filter.save")
        await seen(f"Press {NEW['filter']} and type a filter first.")
        await press(sitting, "approve")
        await seen(
            f"To preview a choice first, move to it with {NEW['conflict.up']} and {NEW['conflict.down']}"
        )
        await press(sitting, "back", "reject")
        await sitting.press("enter")
        await seen(f"{NEW['undo']} to undo")
        await seen(f"Press {NEW['folded']} to show the folded candidates.")
        await press(sitting, "undo")
        await seen(f"{NEW['redo']} to redo")
        await press(sitting, "help")
        await sitting.until(lambda: isinstance(sitting.app.screen, Help), "help")
        await sitting.type("nothing at all")
        await seen(f"Press {NEW['palette']} to search all commands.")

    sit(remapped, steps, size=(200, 40), app=app)
    assert [default_keys_named(screen) for screen in screens] == [[]] * len(screens)


def test_a_manual_edit_names_the_keys_of_its_screen(remapped: Plane) -> None:
    remapped.inbox.approve([remapped.propose(decision("Use PostgreSQL 15 for the ledger."))])
    file = remapped.layout.memory / "decisions.md"
    file.write_text(file.read_text().replace("PostgreSQL 15", "PostgreSQL 16"))

    async def steps(sitting: Sitting) -> None:
        await sitting.until(
            lambda: f"{NEW['approve']} to accept, {NEW['reject']} to discard" in sitting.screen, "the inbox"
        )
        await press(sitting, "shelf")
        text = f"{NEW['accept']} to accept, {NEW['discard']} to discard"
        await sitting.until(lambda: sitting.screen.count(text) == 2, "Memory")

    sit(remapped, steps, size=(200, 40))


def masked() -> str:
    return message_of(Outcome("mask", "mask", ("CAND-1",), "op", "", message="Masked the secret"), KEYMAP)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (masked, "undo"),
        (lambda: Imported(2).message(KEYMAP), "undo"),
    ],
)
def test_messages_of_commands_name_the_new_keys(text: Callable[[], str], key: str) -> None:
    assert f"{NEW[key]} to" in text()


def test_hints_name_the_new_keys(remapped: Plane) -> None:
    model = PlaneModel(remapped, lambda *_: None)
    old = remapped.propose(decision("Use PostgreSQL 15 for the ledger."))
    remapped.inbox.approve([old])
    remapped.propose(decision("Use PostgreSQL 16 for the ledger."))
    shown = model.load()
    model.look(model.to_look_at())
    some = Hints(frozenset({"approve"}))
    text = some.text(shown, KEYMAP)
    assert all(NEW[id_] in text for id_ in ("list.down", "list.up", "list.open"))
    assert hints.ALL[1].id == "compare"
