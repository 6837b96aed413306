"""The screens in a browser: nothing without the token, and with it what the terminal has."""

import asyncio
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from agentplane.api import Plane
from tests.conftest import clean_environment
from tests.tui.conftest import on_shelf, waiting


pytest.importorskip("textual_serve", reason="the extra `web` is not installed")
import aiohttp

from agentplane.tui.textual_fixes.driver import within
from tests.tui.browser import PROGRAM, Page


class Served:
    """The real command in a terminal of its own."""

    def __init__(
        self,
        plane: Plane,
        *words: str,
        program: tuple[str, ...] = (sys.executable, "-m", "agentplane"),
        **more: str,
    ) -> None:
        self._master, slave = pty.openpty()
        self.child = subprocess.Popen(
            (*program, "web", *words),
            cwd=plane.layout.project, env=clean_environment() | more,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave, text=True,
        )  # fmt: skip
        os.close(slave)
        assert self.child.stdout is not None
        self.address = self.child.stdout.readline().strip()
        self.base = self.address.partition("/?")[0]
        self.host = self.base.removeprefix("http://")

    def close(self) -> None:
        self.child.terminate()
        self.child.wait(60)
        assert self.child.stdout is not None
        self.child.stdout.close()
        os.close(self._master)


@pytest.fixture
def served(three: Plane) -> Iterator[Served]:
    found = Served(three)
    yield found
    found.close()


async def status(url: str, path: str = "", cookies: dict[str, str] | None = None, **headers: str) -> int:
    async with (
        aiohttp.ClientSession(cookies=cookies) as client,
        client.get(url + path, headers=headers, allow_redirects=False) as answer,
    ):
        return answer.status


async def cookie_of(served: Served) -> dict[str, str]:
    async with aiohttp.ClientSession() as client, client.get(served.address, allow_redirects=False) as answer:
        assert answer.status == 303
        assert answer.headers["Location"] == "/"
        told = answer.headers["Set-Cookie"]
        assert "HttpOnly" in told
        assert "SameSite=Strict" in told
        return {name: one.value for name, one in answer.cookies.items()}


def test_without_the_token_nothing_answers(served: Served) -> None:
    async def steps() -> None:
        for path in ("/", "/?token=", "/?token=wrong", "/static/js/textual.js", "/download/x", "/nothing"):
            assert await status(served.base, path) == 401, path
        assert await status(served.base, "/ws", Origin=served.base) == 401
        assert (
            await status(served.base, "/static/js/textual.js?token=" + served.address.partition("=")[2])
            == 401
        )

    asyncio.run(steps())


def test_with_it_only_its_own_page_is_answered(served: Served) -> None:
    async def steps() -> None:
        cookies = await cookie_of(served)
        token = served.address.partition("=")[2]
        assert token not in cookies.values()
        assert await status(served.base, "/", cookies) == 200
        assert await status(served.base, "/", cookies, Host="evil.test") == 403
        assert await status(served.base, "/", cookies, Origin="http://evil.test") == 403
        assert await status(served.base, "/ws", cookies, Origin="http://evil.test") == 403
        assert await status(served.base, "/ws", cookies) == 403
        assert await status(served.base, f"/?token={token}", Host="localhost") == 403
        async with aiohttp.ClientSession(cookies=cookies) as client, client.get(served.base) as answer:
            text = await answer.text()
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert token not in text
            assert "https://" not in text

    asyncio.run(steps())


@pytest.mark.full
@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="there is no chromium here")
def test_a_browser_opens_the_inbox_approves_and_finds_the_entry_on_the_shelf(
    three: Plane, served: Served, tmp_path: Path
) -> None:
    async def steps() -> bytes:
        async with Page(tmp_path / "chromium") as page:
            await page.call("Page.navigate", url=served.address)
            await page.until("Use Postgres for the ledger.")
            await page.until("approve all ready")
            assert await page.says("location.href") == f"{served.base}/"
            # Nobody clicked: the keys are heard all the same.
            await page.holds("document.activeElement.matches('#terminal textarea')")
            await page.type("a")
            await page.until("Approved DEC-001")
            await page.type("2")
            await page.until("DEC-001")
            await page.until("Use Postgres for the ledger.")
            await page.type("1")
            await page.until("Log in JSON lines.")
            await page.type("E")
            await page.until("ctrl+s save")
            return await page.picture()

    assert asyncio.run(steps()).startswith(b"\x89PNG")
    assert on_shelf(three) == ["Use Postgres for the ledger."]
    assert len(waiting(three)) == 2


# Presses the key while the page's program loads what takes longest.
_PRESSED = """
import os, signal, sys

class Finder:
    @staticmethod
    def find_spec(name, *_):
        if name == "agentplane.tui.app":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
from agentplane.tui.web.page_process import main
main()
"""


def test_ctrl_c_while_a_page_is_loaded_says_nothing(three: Plane) -> None:
    done = subprocess.run(
        (sys.executable, "-c", _PRESSED, str(three.layout.root)),
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def refused(plane: Plane, *words: str, **more: str) -> str:
    """What the command says that does not begin to serve."""
    served = Served(plane, *words, **more)
    try:
        assert served.child.wait(60) != 0
        said = b""
        with suppress(OSError):  # nobody writes any more
            while more := os.read(served._master, 65536):
                said += more
        return said.decode()
    finally:
        served.close()


def test_the_shell_of_a_tool_serves_nothing(three: Plane) -> None:
    assert "Serving the TUI requires a person, but this shell was started by Claude Code." in refused(
        three, CLAUDECODE="1"
    )


def test_a_port_that_is_taken_is_said(three: Plane, served: Served) -> None:
    assert "--port" in refused(three, "--port", served.host.partition(":")[2])


def test_a_token_file_is_made_kept_and_never_printed(three: Plane, tmp_path: Path) -> None:
    path = tmp_path / "token"
    for _ in range(2):
        served = Served(three, "--token-file", str(path))
        token = path.read_text().strip()
        try:
            assert path.stat().st_mode & 0o777 == 0o600
            assert served.address.endswith("?token=")
            assert asyncio.run(status(served.address, token)) == 303
        finally:
            served.close()
    assert path.read_text().strip() == token
    path.chmod(0o644)
    assert "readable only by you" in refused(three, "--token-file", str(path))
    path.chmod(0o600)
    path.write_text("short")
    assert "fewer than" in refused(three, "--token-file", str(path))


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ((80, 24), (80, 24)), (("120", "40"), (120, 40)), ((99_999_999, 99_999_999), (1000, 500)), (("9" * 19, "1e9"), (1000, 24)),
        ((0, -5), (1, 1)), ((None, None), (80, 24)), (([], {}), (80, 24)), ((1e308, float("nan")), (1000, 24)), (("9" * 5000, "٣"), (80, 24)),
        ((float("inf"), float("-inf")), (1000, 1)), ((True, False), (80, 24)), ((79.9, "+30"), (79, 30)),
    ],
)  # fmt: skip
def test_a_size_is_one_that_a_screen_can_have(asked: tuple[object, object], given: tuple[int, int]) -> None:
    assert within(*asked) == given


def test_a_page_of_any_size_is_shown_within_limits(three: Plane, served: Served) -> None:
    """The sizes in the address, in messages and in what is typed: the process behind the page stays small."""

    async def steps() -> int:
        cookies = await cookie_of(served)
        async with (
            aiohttp.ClientSession(cookies=cookies) as client,
            client.ws_connect(
                f"{served.base}/ws?width=99999999&height=99999999", headers={"Origin": served.base}
            ) as page,
            asyncio.timeout(240),
        ):
            for words in (
                ["resize", {"width": 99_999_999, "height": 99_999_999}],
                ["resize", {"width": "x", "height": None}],
                ["stdin", "\x1b[48;99999999;99999999;0;0t"],
                ["resize", {"width": 100, "height": 30}],
            ):
                await page.send_json(words)
            most, said = 0, b""
            with suppress(TimeoutError):
                while True:  # until the page says nothing more
                    message = await asyncio.wait_for(page.receive(), 120 if b"Inbox" not in said else 3)
                    said += message.data if isinstance(message.data, bytes) else b""
                    below = psutil.Process(served.child.pid).children(recursive=True)
                    for one in below:
                        with suppress(psutil.NoSuchProcess):  # git, which ends at once
                            most = max(most, one.memory_info().rss)
            assert b"Inbox" in said
            return most

    assert 0 < asyncio.run(steps()) < 800 << 20
