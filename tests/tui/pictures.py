"""The screens over a copy of the example, as pictures: those in the documentation, and those that a test compares.

python -m tests.tui.pictures           makes them anew; look at each one that changed
python -m tests.tui.pictures --check   names what differs
"""

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from unittest.mock import patch

import msgspec

from agentplane.api import Plane
from agentplane.api.tools import Tools
from agentplane.plane import create
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Store
from agentplane.system import programs
from agentplane.tools.sessions import activity, resume_command
from agentplane.tools.sessions.activity import Activity
from agentplane.tools.sessions.sessions import Session
from agentplane.tui.app import PlaneApp
from agentplane.tui.backend.model import PlaneModel
from agentplane.tui.backend.sessions import session_watch
from agentplane.tui.backend.sessions.session_watch import WatchedSession
from agentplane.tui.screens.curator.screen import CuratorScreen
from agentplane.tui.screens.entry import sections
from agentplane.tui.screens.inbox import screen as inbox
from agentplane.tui.screens.runs import detail
from agentplane.tui.screens.runs import screen as runs
from tests.actor import fixed_plane
from tests.conftest import ROOT, clean_environment
from tests.tui.conftest import Sitting


NOW = datetime(2026, 9, 12, 9, 0, tzinfo=UTC)
SHOWN = ROOT / "docs" / "pictures"
COMPARED = Path(__file__).parent / "pictures"
WIDE, USUAL, NARROW, SMALL = (120, 40), (80, 24), (60, 20), (40, 12)
_WIDER = (140, 40)
_SETTINGS = "[tui]\ntheme = {theme!r}\n"
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


class Then(datetime):
    """A clock that stands still, so that ages do not change from day to day."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "Then":
        return cls.fromtimestamp(NOW.timestamp(), tz)


class Picture(msgspec.Struct, frozen=True):
    name: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    theme: str = "auto"
    colour: bool = True
    empty: bool = False
    """A new plane, in which nothing waits."""
    documented: bool = False
    sessions: bool = False
    """Sessions of two tools run here, one of them with outdated memory."""
    drifted: bool = False
    """The code has changed since the entries were approved."""

    @property
    def path(self) -> Path:
        wide, high = self.size
        if self.documented:
            return SHOWN / f"tui-{self.name}.svg"
        return COMPARED / f"{self.name}-{wide}x{high}.svg"


_COMPARE = ("down", "down", "down", "enter")
_DIFF = ("3", "D", "down", "D")
_SESSION = ("4", "space", "down", "space", "w", "y")
_PACK = ("5", "t", *"webhook", "enter", "B", *"600", "enter", *("down",) * 14, "i")
PICTURES = (
    Picture("inbox", WIDE, documented=True),
    Picture("conflict", WIDE, _COMPARE, documented=True),
    Picture("shelf", WIDE, ("2", "down", "down"), documented=True),
    Picture("bulk", WIDE, ("A",), documented=True),
    Picture("runs", WIDE, ("3", "down"), documented=True),
    Picture("rundiff", WIDE, _DIFF, documented=True),
    Picture("help", WIDE, ("question_mark",), documented=True),
    Picture("first", WIDE, empty=True, documented=True),
    *(Picture("inbox", size) for size in (USUAL, NARROW, SMALL)),
    *(Picture("conflict", size, _COMPARE) for size in (USUAL, NARROW)),
    *(Picture("shelf", size, ("2", "down", "down")) for size in (USUAL, NARROW)),
    *(Picture("edit", size, ("e",)) for size in (WIDE, USUAL, NARROW)),
    *(Picture("help", size, ("question_mark",)) for size in (USUAL, NARROW)),
    *(Picture("reason", size, ("r",)) for size in (WIDE, USUAL, NARROW)),
    *(Picture("bulk", size, ("A",)) for size in (USUAL, NARROW)),
    *(Picture("runs", size, ("3", "down")) for size in (USUAL, NARROW, SMALL)),
    *(Picture("rundiff", size, _DIFF) for size in (USUAL, NARROW)),
    Picture("chart", WIDE, ("3", "C", "z")),
    Picture("chart", USUAL, ("3", "C")),
    Picture("no-runs", USUAL, ("3",), empty=True),
    Picture("marked", USUAL, ("space", "space")),
    Picture("filtered", USUAL, ("slash", *"webhook")),
    Picture("first", USUAL, empty=True),
    Picture("tools", WIDE, ("4", "w", "y"), documented=True),
    Picture("wiring", WIDE, ("4", "down", "w"), documented=True),
    *(Picture("tools", size, ("4", "w", "y")) for size in (USUAL, NARROW)),
    *(Picture("wiring", size, ("4", "down", "w")) for size in (USUAL, NARROW)),
    Picture("sessions", WIDE, _SESSION, sessions=True, documented=True),
    Picture("restart", WIDE, ("a",), sessions=True, documented=True),
    *(Picture("sessions", size, _SESSION, sessions=True) for size in (USUAL, NARROW)),
    *(Picture("restart", size, ("a",), sessions=True) for size in (USUAL, NARROW, SMALL)),
    *(Picture("which", size, ("a", "M"), sessions=True) for size in (WIDE, USUAL, NARROW)),
    *(Picture("type", size, ("a", "M", "2"), sessions=True) for size in (WIDE, USUAL, NARROW)),
    Picture("pack", WIDE, _PACK, documented=True),
    Picture("packtool", WIDE, ("4", "w", "y", "5", "B", *"600", "enter", "down"), documented=True),
    *(Picture("pack", size, _PACK) for size in (USUAL, NARROW, SMALL)),
    Picture("no-pack", USUAL, ("5",), empty=True),
    Picture("curator", WIDE, ("6", "down", "down"), drifted=True, documented=True),
    *(Picture("curator", size, ("6", "down", "down"), drifted=True) for size in (_WIDER, USUAL, (40, 24))),
    Picture("finding", (40, 24), ("6", "down", "down", "enter"), drifted=True),
    Picture("remedy", USUAL, ("6", "end", "a"), drifted=True),
    Picture("light", WIDE, theme="textual-light"),
    Picture("ansi", USUAL, theme="ansi-light"),
    Picture("no-colour", WIDE, colour=False),
)


def project_in(folder: Path, *, theme: str, empty: bool) -> Path:
    """A copy of the example project, the same to the last byte wherever and whenever it is made."""
    project = folder / "payments-api"
    if empty:
        project.mkdir()
        plane = fixed_plane(project)
        create.create(plane.store, plane.origin)
    else:
        compiled = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "tests" / "example" / "project", project, ignore=compiled)
        shutil.copytree(ROOT / ".agentplane-example", project / ".agentplane")
    with (project / ".agentplane" / "config.toml").open("a") as config:
        config.write(_SETTINGS.format(theme=theme))
    _git(project, "init", "-q", "-b", "main")
    _commit(project, "The example")
    return project


def drift(project: Path) -> None:
    """Change code that entries cite: one definition, the name of one file, and one definition that is gone."""
    app = project / "app"
    webhooks = app / "webhooks.py"
    webhooks.write_text(webhooks.read_text().replace("3600.0", "86400.0"))
    _commit(project, "Wait up to a day between attempts")
    (app / "money.py").rename(app / "amounts.py")
    _commit(project, "Rename the module of amounts")
    (app / "ledger.py").write_text('"""Postings are written by the ledger service."""\n')
    _commit(project, "Move postings to the ledger service")


def _commit(project: Path, subject: str) -> None:
    _git(project, "add", "-A")
    _git(project, "commit", "-q", "-m", subject)


def _git(project: Path, *words: str) -> None:
    dates = {"GIT_AUTHOR_DATE": NOW.isoformat(), "GIT_COMMITTER_DATE": NOW.isoformat()}
    subprocess.run(("git", *words), cwd=project, check=True, env={**os.environ, **dates})


@contextmanager
def staged() -> Iterator[None]:
    """Sessions as they are found where some run."""
    with seen(
        WatchedSession(
            Session(
                tool="codex", pid=4711, since="2026-09-12T07:12:00Z", folder="/home/ada/payments-api", revision="0cf5ff87",
                state="old", run_id="20260912T071200Z-k3f9qa", wrapped=True, asked=True, hooked=True, id="0199c1a2-77b1",
                resume=["codex", "resume", "0199c1a2-77b1"],
            ),
            Activity("idle", NOW.timestamp() - 130, "main"),
        ),
        WatchedSession(
            Session(
                tool="claude-code", pid=99, since="2026-09-12T08:38:00Z", folder="/home/ada/payments-api",
                revision="0cf5ff87", state="old", run_id="20260912T083800Z-x2v8mm", hooked=True,
                id="204f1adb-cb64-4bf5-8ee3-3ed179937d7c",
                resume=["claude", "--resume", "204f1adb-cb64-4bf5-8ee3-3ed179937d7c"],
            ),
            Activity("at work", NOW.timestamp() - 4, "refunds"),
        ),
        WatchedSession(
            Session(
                tool="codex", pid=5120, since="2026-09-12T08:55:00Z", folder="/home/ada/payments-api", revision="3b52d0c1",
                state="current", run_id="20260912T085500Z-b7q1zz", wrapped=True, asked=True,
            ),
            Activity("idle", NOW.timestamp() - 45, "main"),
        ),
    ):  # fmt: skip
        yield


@contextmanager
def nobody() -> Iterator[None]:
    with seen():
        yield


@contextmanager
def seen(*found: WatchedSession) -> Iterator[None]:
    """These run, and are still there when somebody wants something of them; they are in the folder that one is in."""
    with (
        patch.object(session_watch, "found", lambda *_: found),
        patch.object(session_watch, "again", lambda *_: found),
        patch.object(activity, "is_there", lambda _: True),
        patch.object(Tools, "sessions", lambda _: [one.session for one in found]),
        patch.object(resume_command, "shown", lambda _, words: " ".join(words)),
    ):
        yield


def home_in(folder: Path) -> Path:
    """A home in which two tools are installed."""
    home = folder / "home"
    for name in (".claude", ".codex"):
        (home / name).mkdir(parents=True)
    return home


def taken(picture: Picture, *sizes: tuple[int, int]) -> tuple[str, list[str]]:
    """The picture, and the text of its screen when the terminal then gets these sizes."""
    around = staged() if picture.sessions else nobody()
    with stage(theme=picture.theme, colour=picture.colour, empty=picture.empty) as (plane, app), around:
        if picture.drifted:
            drift(plane.layout.project)
        return asyncio.run(_drawn(app, picture, sizes))


@contextmanager
def stage(
    *, theme: str = "auto", colour: bool = True, empty: bool = False
) -> Iterator[tuple[Plane, PlaneApp]]:
    """The screens before a copy of the example, at a time that stands still, on a machine with two tools."""
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["HOME"] = str(home_in(Path(temporary)))
        project = project_in(Path(temporary), theme=theme, empty=empty)
        plane = Plane(
            Store(Layout(root=project / ".agentplane"), lambda: NOW), Origin("Ada", "tui", "pictures")
        )
        os.environ.pop("NO_COLOR", None)
        zone = os.environ.get("TZ")
        os.environ["TZ"] = "UTC"
        time.tzset()
        if not colour:
            os.environ["NO_COLOR"] = "1"
        try:
            with ExitStack() as stack:
                for module in (sections, inbox, runs, detail):
                    stack.enter_context(patch.object(module, "datetime", Then))
                stack.enter_context(patch.object(programs, "find", lambda *_: None))
                yield plane, PlaneApp(lambda: PlaneModel(plane, lambda *_: None))
        finally:
            os.environ.pop("NO_COLOR", None)
            os.environ.pop("TZ") if zone is None else os.environ.update(TZ=zone)
            time.tzset()


async def _drawn(app: PlaneApp, picture: Picture, sizes: Sequence[tuple[int, int]]) -> tuple[str, list[str]]:
    async with app.run_test(size=picture.size) as pilot:
        sitting = Sitting(app, pilot)
        await sitting.calm()
        for key in picture.keys:
            await sitting.press(key)
            if picture.sessions:
                await sitting.until(
                    lambda: app.sessions.restarts and app.sessions.restarts.watched, "sessions"
                )
            if isinstance(screen := app.screen, CuratorScreen):
                await sitting.until(
                    lambda: screen.curated.look is not None and not screen.checking, "the findings"
                )
            await sitting.calm()
        await asyncio.sleep(0.3)
        await sitting.calm()
        picture_taken, texts = screenshot(app), []
        for size in sizes:
            await pilot.resize_terminal(*size)
            await sitting.until(lambda size=size: app.screen.size == size, "the size")
            await sitting.calm()
            texts.append(sitting.screen)
        return picture_taken, texts


def screenshot(app: PlaneApp) -> str:
    return _FONTS.sub("", app.export_screenshot())


def made() -> Iterator[tuple[Picture, str]]:
    for picture in PICTURES:
        yield picture, taken(picture)[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tui.pictures")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", help="Only pictures of this name.")
    arguments = parser.parse_args()
    wanted = clean_environment() | {"TERM": "xterm-256color"}
    os.environ.clear()
    os.environ.update(wanted)
    different = 0
    for picture in PICTURES:
        if arguments.only not in (None, picture.name):
            continue
        text, path = taken(picture)[0], picture.path
        if path.exists() and path.read_text() == text:
            continue
        different += 1
        print(f"{'differs:' if arguments.check else 'wrote'} {path.relative_to(ROOT)}")
        if not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return int(arguments.check and bool(different))


if __name__ == "__main__":
    sys.exit(main())
