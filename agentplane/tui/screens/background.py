"""Work in the background of a screen. An error in it is shown as a notice and doesn't end the program."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from textual.app import App
from textual.dom import DOMNode
from textual.worker import get_current_worker

from agentplane.tui.messages import WorkFailed


def run_latest(node: DOMNode, work: Callable[[], None], kind: str) -> None:
    """Run work in a thread, and cancel earlier work of this kind."""
    _run_thread(node, work, kind, exclusive=True)


def run_each(node: DOMNode, work: Callable[[], None], kind: str) -> None:
    """Run work in a thread, next to earlier work of this kind."""
    _run_thread(node, work, kind, exclusive=False)


def run_latest_async(node: DOMNode, work: Callable[[], Awaitable[None]], kind: str) -> None:
    """Run an async function, and cancel earlier work of this kind."""
    # This is not a coroutine, because a coroutine that is cancelled before it starts causes a warning.
    guarded: Any = partial(_await, node.app, work)
    node.run_worker(guarded, exclusive=True, group=kind, description=kind)


def _run_thread(node: DOMNode, work: Callable[[], None], kind: str, *, exclusive: bool) -> None:
    guarded = partial(_call, node.app, work)
    # Without a description, Textual would make the repr of the work, which may have every entry in it.
    node.run_worker(guarded, thread=True, exclusive=exclusive, group=kind, description=kind)


def _call(app: App[Any], work: Callable[[], None]) -> None:
    try:
        work()
    except Exception as error:  # noqa: BLE001 -- shown in a notice
        _report(app, error)


async def _await(app: App[Any], work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception as error:  # noqa: BLE001 -- shown in a notice
        _report(app, error)


def _report(app: App[Any], error: Exception) -> None:
    from agentplane.tui.backend.model import as_error

    if not get_current_worker().is_cancelled:
        with suppress(RuntimeError):  # the thread may end later than the screens
            app.post_message(WorkFailed(as_error(error)))
