"""The screens look as they did when somebody looked at them: `python -m tests.tui.pictures` makes the pictures."""

import os
import re
from pathlib import Path

import pytest
import textual

from tests.tui import loop
from tests.tui.pictures import PICTURES, Picture, taken


_TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")
# What must be on a picture: one that is empty would else equal an empty one for good.
_SAYS = {
    "inbox": "CAND-W22FTG", "conflict": "supersede", "shelf": "DEC-003", "bulk": "in one change?", "help": "Approve the candidate",
    "first": "Nothing to review.", "edit": "ctrl+s", "reason": "Reject", "marked": "2 selected",
    "runs": "log verified", "rundiff": "only in the first", "chart": "runs per day: 10, 1 failed", "no-runs": "No runs yet.",
    "filtered": "matches", "light": "CAND-W22FTG", "ansi": "CAND-W22FTG", "no-colour": "CAND-W22FTG",
    "tools": "Connected CLAUDE.md", "wiring": "Connect Codex CLI?",
    "sessions": "since 07:12", "restart": "have outdated memory", "which": "Restart a session", "type": "then run",
    "pack": "pinned", "packtool": "At the start of a session", "no-pack": "no approved entries yet",
    "curator": "Evidence changed", "finding": "Evidence changed", "remedy": "Update the evidence of DEC-001?",
}  # fmt: skip


# In another size a moment later, when the line that says what was done has gone.
_SAYS_RESIZED = _SAYS | {"tools": "Claude Code"}


def words(svg: str) -> str:
    return "\n".join(_TEXT.findall(svg)).replace("&#160;", " ")


_OF_EACH_SCENE = {picture.name: picture for picture in reversed(PICTURES)}


def sizes_of(picture: Picture) -> list[tuple[int, int]]:
    """The other sizes of the same scene, in which it can say what it shows."""
    same = [other for other in PICTURES if other.name == picture.name and other.size != picture.size]
    return [other.size for other in same if other.size[0] > 40]


@pytest.mark.skipif(textual.__version__ != "8.2.8", reason="the pictures were made with Textual 8.2.8")
@pytest.mark.parametrize(
    "picture",
    [
        picture if picture is _OF_EACH_SCENE[picture.name] else pytest.param(picture, marks=pytest.mark.full)
        for picture in PICTURES
    ],
    ids=lambda picture: picture.path.stem,
)
def test_it_looks_as_it_did(picture: Picture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("COLORTERM", "COLORFGBG", "TEXTUAL_THEME", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    now, resized = taken(picture, *sizes_of(picture))
    assert all(_SAYS_RESIZED[picture.name] in text for text in resized)
    (tmp_path / picture.path.name).write_text(now)
    assert words(now) == words(picture.path.read_text()), f"see {tmp_path / picture.path.name}"
    assert now == picture.path.read_text(), f"see {tmp_path / picture.path.name}"
    assert os.environ.get("NO_COLOR") is None


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.path.stem)
def test_the_pictures_show_something(picture: Picture) -> None:
    if picture.size[0] > 40:
        assert _SAYS[picture.name] in words(picture.path.read_text())


def test_themes_differ() -> None:
    told = {picture.path.stem: picture.path.read_text() for picture in PICTURES}
    assert len({told[name] for name in ("tui-inbox", "light-120x40", "no-colour-120x40")}) == 3


@pytest.mark.full
@pytest.mark.skipif(textual.__version__ != "8.2.8", reason="the picture was made with Textual 8.2.8")
def test_the_moving_picture_shows_what_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its scenes comes to be by its keys, else it is not made."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("COLORTERM", "COLORFGBG", "TEXTUAL_THEME", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    assert loop.made() == loop.PATH.read_text(), "look at what python -m tests.tui.loop makes"
    told = words(loop.PATH.read_text())
    for scene in loop.SCENES:
        assert scene.words in told
