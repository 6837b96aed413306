"""Editing in the user's own editor: scripted ones, in a real terminal."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import approved, started
from tests.e2e.terminal import Seen, typed


@pytest.fixture
def shelf(repository: Path) -> Path:
    """The file of a plane whose DEC-001 says `Use Textual.`"""
    approved(repository)
    return repository / ".agentplane" / "memory" / "decisions.md"


def _edit(shelf: Path, script: str, *answers: tuple[str, str], **env: str) -> Seen:
    """Edits DEC-001 in an editor that runs a script on the file `$1`."""
    repository = shelf.parents[2]
    editor = shelf.parents[3] / "my editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    return typed(["edit", "dec-1"], repository, *answers, env={"EDITOR": f"'{editor}'", **env})


def _kept(seen: Seen) -> Path:
    """The path where the text is said to be saved."""
    found = re.search(r"saved in (\S.*\.md)", seen.screen)
    assert found, seen.screen
    return Path(found[1])


def test_a_good_edit_is_one_op(shelf: Path) -> None:
    seen = _edit(shelf, 'sed -i "s/Textual/Rich/" "$1"')

    assert seen.code == 0, seen.screen
    assert "DEC-001" in seen.screen
    assert "Use Rich." in shelf.read_text()
    assert "(terminal" in started(["history", "-n", "1"], shelf.parents[2]).stdout
    assert started(["doctor"], shelf.parents[2]).returncode == 0
    assert list((shelf.parents[1] / "cache" / "edit").iterdir()) == []


def test_an_edit_that_changes_nothing_is_no_op(shelf: Path) -> None:
    log = (shelf.parent / "log.jsonl").read_bytes()
    seen = _edit(shelf, "true")
    assert seen.code == 0
    assert "Nothing was changed." in seen.screen
    assert (shelf.parent / "log.jsonl").read_bytes() == log


def test_visual_comes_before_editor(shelf: Path) -> None:
    assert _edit(shelf, "exit 9", VISUAL="sed -i s/Textual/Curses/").code == 0
    assert "Use Curses." in shelf.read_text()


def test_a_broken_edit_can_be_mended(shelf: Path, tmp_path: Path) -> None:
    """The second time the editor gets what the person wrote, not the old text."""
    script = f"""
    if [ -e {tmp_path}/again ]; then
        sed -i 's/^type: \\[/type: decision/' "$1"
    else
        touch {tmp_path}/again
        sed -i -e 's/^type: decision/type: [/' -e 's/Textual/Rich/' "$1"
    fi"""

    seen = _edit(shelf, script, ("Edit again?", "y\n"))

    assert seen.code == 0, seen.screen
    assert "error:" in seen.screen
    assert "Use Rich." in shelf.read_text()


BROKEN = {
    "nonsense": 'echo nonsense > "$1"',
    "empty": ': > "$1"',
    "broken header": 'sed -i "s/^type: .*/type: [/" "$1"',
    "another id": 'sed -i "s/DEC-001/DEC-099/" "$1"',
    "another kind": 'sed -i "s/^type: .*/type: fact/" "$1"',
    "no kind": 'sed -i "s/^type: .*/type: rumour/" "$1"',
    "no status": 'sed -i "s/^status: .*/status: banana/" "$1"',
    "status of the inbox": 'sed -i "s/^status: .*/status: proposed/" "$1"',
    "no statement": 'sed -i "/^Decision: /d" "$1"',
    "two entries": 'cat "$1" "$1" > "$1.2"; mv "$1.2" "$1"',
    "not UTF-8": r'printf "\377\376" >> "$1"',
    "a binary": r'printf "\0\0" >> "$1"',
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_edit_changes_nothing_and_its_text_is_kept(shelf: Path, tmp_path: Path, case: str) -> None:
    before = shelf.read_bytes()

    seen = _edit(shelf, f'{BROKEN[case]}; cp "$1" {tmp_path}/copy', ("Edit again?", "n\n"))

    assert seen.code == 2
    assert "Traceback" not in seen.screen
    assert shelf.read_bytes() == before
    assert _kept(seen).read_bytes() == (tmp_path / "copy").read_bytes()


@pytest.mark.parametrize("end", ["exit 3", "kill -TERM $$", "kill -INT $$"])
def test_an_editor_that_fails_changes_nothing_and_the_text_is_kept(shelf: Path, end: str) -> None:
    before = shelf.read_bytes()

    seen = _edit(shelf, f'echo "my words" >> "$1"; {end}')

    assert seen.code == 2
    assert shelf.read_bytes() == before
    assert "my words" in _kept(seen).read_text()


def test_an_editor_that_deletes_the_file(shelf: Path) -> None:
    before = shelf.read_bytes()

    seen = _edit(shelf, 'rm "$1"')

    assert seen.code == 2
    assert shelf.read_bytes() == before
    # It is not kept anywhere, so nothing may say that it is.
    assert "kept in" not in seen.screen


def test_an_editor_that_replaces_the_file(shelf: Path) -> None:
    seen = _edit(shelf, 'sed "s/Textual/Rich/" "$1" > "$1.new"; rm "$1"; mv "$1.new" "$1"')
    assert seen.code == 0
    assert "Use Rich." in shelf.read_text()


def test_a_link_in_place_of_the_text_is_not_followed(shelf: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("---\nid: DEC-001\ntype: decision\nstatus: accepted\n---\nDecision: secret\n")
    before = shelf.read_bytes()
    _edit(shelf, f'rm "$1"; ln -s {secret} "$1"', ("Edit again?", "n\n"))
    assert shelf.read_bytes() == before


def test_control_c_while_the_editor_is_open_keeps_the_text(shelf: Path) -> None:
    before = shelf.read_bytes()

    seen = _edit(shelf, 'echo "my words" >> "$1"; echo READY; sleep 20', ("READY", "\x03"))

    assert seen.code != 0
    assert "Traceback" not in seen.screen
    assert shelf.read_bytes() == before
    assert "my words" in _kept(seen).read_text()


def test_an_editor_that_takes_control_c_for_itself_goes_on(shelf: Path) -> None:
    """As vi and emacs do: the key is the editor's, and agentplane waits for it to end."""
    script = """trap 'sed -i "s/Textual/Rich/" "$1"; sleep 1; exit 0' INT
    echo READY
    while :; do sleep 0.1; done"""

    seen = _edit(shelf, script, ("READY", "\x03"))

    assert seen.code == 0, seen.screen
    assert "Use Rich." in shelf.read_text()


@pytest.mark.parametrize("editor", ["/nonexistent/editor", "'", " ", "/tmp", "no-such-editor --wait"])
def test_an_editor_that_is_not_there(shelf: Path, editor: str) -> None:
    seen = typed(["edit", "dec-1"], shelf.parents[2], env={"EDITOR": editor})

    assert seen.code == 2
    assert "Can't start the editor" in seen.screen
    assert "EDITOR" in seen.screen
    assert "Traceback" not in seen.screen
    # Nobody has written anything yet: nothing is left behind.
    assert list((shelf.parents[1] / "cache" / "edit").iterdir()) == []


def test_a_change_by_someone_else_in_the_meantime_is_not_overwritten(shelf: Path) -> None:
    script = f"""sed -i 's/Textual/Rich/' "$1"; sed -i 's/Use Textual/Use Curses/' '{shelf}'"""

    seen = _edit(shelf, script, ("Edit again?", "n\n"))

    assert seen.code in (2, 3)
    assert "changed while you were editing it" in seen.screen
    assert "Use Curses." in shelf.read_text()
    assert "Use Rich." in _kept(seen).read_text()


def test_edit_json(shelf: Path) -> None:
    seen = typed(
        ["edit", "dec-1", "--json"],
        shelf.parents[2],
        env={"EDITOR": "sed -i s/Textual/Rich/"},
        pipe_stdout=True,
    )
    data = json.loads(seen.piped)
    assert (data["schema"], data["verb"], data["ids"]) == ("agentplane/op@1", "edit", ["DEC-001"])


def test_edit_json_that_changes_nothing_is_json_too(shelf: Path) -> None:
    seen = typed(["edit", "dec-1", "--json"], shelf.parents[2], env={"EDITOR": "true"}, pipe_stdout=True)
    assert seen.code == 0
    assert json.loads(seen.piped)["schema"] == "agentplane/op@1"


@pytest.mark.skipif(shutil.which("vi") is None, reason="there is no vi here")
def test_without_a_setting_vi_is_opened(shelf: Path) -> None:
    seen = typed(["edit", "dec-1"], shelf.parents[2], ("Use Textual.", ":%s/Textual/Rich/\r:wq\r"))
    assert seen.code == 0
    assert "Use Rich." in shelf.read_text()
