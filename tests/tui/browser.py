"""A real browser without a window, driven over its own debugging socket."""

import asyncio
import base64
import os
import re
import shutil
import subprocess
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Self

import aiohttp


PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_PATIENCE = 90.0
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


class Page:
    """One page; `seen` is all that was drawn on its terminal."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self.seen = ""

    def _start(self) -> None:
        self._child = subprocess.Popen(
            (
                str(PROGRAM), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--remote-debugging-port=0", f"--user-data-dir={self._folder}", "--window-size=1200,800", "about:blank",
            ),
            env=os.environ | {"HOME": str(self._folder)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    async def __aenter__(self) -> Self:
        self._start()
        told = self._folder / "DevToolsActivePort"
        async with asyncio.timeout(_PATIENCE):
            while not told.exists() or len(told.read_text().splitlines()) < 2:  # noqa: ASYNC110 -- another program writes it
                await asyncio.sleep(0.05)
        port = told.read_text().splitlines()[0]
        self._client = aiohttp.ClientSession()
        async with asyncio.timeout(_PATIENCE):
            while not (found := await self._page(port)):  # noqa: ASYNC110 -- another program makes it
                await asyncio.sleep(0.05)
        self._socket = await self._client.ws_connect(found, max_msg_size=0)
        self._reading = asyncio.create_task(self._read())
        for name in ("Network", "Page", "Runtime"):
            await self.call(f"{name}.enable")
        return self

    async def _page(self, port: str) -> str | None:
        """The address of the page. It listens a moment before it has one."""
        async with self._client.get(f"http://127.0.0.1:{port}/json/list") as answer:
            pages = [one for one in await answer.json() if one["type"] == "page"]
        return pages[0]["webSocketDebuggerUrl"] if pages else None

    async def __aexit__(self, *_: object) -> None:
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        await self._socket.close()
        await self._client.close()
        self._child.terminate()
        self._child.wait(_PATIENCE)

    async def _read(self) -> None:
        async for message in self._socket:
            told = message.json()
            if told.get("id") in self._answers:
                self._answers.pop(told["id"]).set_result(told)
            elif told.get("method") == "Network.webSocketFrameReceived":
                frame = told["params"]["response"]
                data = base64.b64decode(frame["payloadData"]) if frame["opcode"] == 2 else b""
                self.seen += _ESCAPES.sub("", data.decode(errors="replace"))

    async def call(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        return (await asyncio.wait_for(answer, _PATIENCE)).get("result")

    async def until(self, words: str, seconds: float = _PATIENCE) -> None:
        end = asyncio.get_running_loop().time() + seconds
        while words not in self.seen:
            assert asyncio.get_running_loop().time() < end, f"never showed {words!r}: {self.seen[-1500:]!r}"
            await asyncio.sleep(0.05)

    async def says(self, expression: str) -> Any:
        return (await self.call("Runtime.evaluate", expression=expression))["result"].get("value")

    async def holds(self, expression: str) -> None:
        async with asyncio.timeout(_PATIENCE):
            while not await self.says(expression):  # noqa: ASYNC110 -- a page tells nothing by itself
                await asyncio.sleep(0.05)

    async def type(self, text: str) -> None:
        self.seen = ""
        for char in text:
            await self.call("Input.dispatchKeyEvent", type="keyDown", text=char, key=char)
            await self.call("Input.dispatchKeyEvent", type="keyUp", key=char)

    async def picture(self) -> bytes:
        return base64.b64decode((await self.call("Page.captureScreenshot"))["data"])
