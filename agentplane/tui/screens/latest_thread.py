"""Threads that read for a screen, of which only the latest one of each kind counts."""

from collections.abc import Callable

from textual.dom import DOMNode


def run_latest(node: DOMNode, work: Callable[[], None], kind: str) -> None:
    """Run work in a thread, and cancel earlier work of this kind. An error in it doesn't end the program."""
    node.run_worker(work, thread=True, exclusive=True, group=kind, exit_on_error=False, description=kind)
