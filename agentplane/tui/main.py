"""The start of the terminal interface, with the cached first rows, the app and the work left at the end."""

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from agentplane.tui.backend.entries import first_rows


if TYPE_CHECKING:
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.hints import Hints


def run(plane_dir: str | None = None, *, hints: "Hints | None" = None) -> int:
    """Open the screens and return their exit code. The default plane is the one around the current folder.

    `hints` are shown to a new user [default: the ones that this user hasn't seen].
    """
    still_reads = False
    while True:
        app = _run_app(plane_dir, hints)
        still_reads |= app.settle()
        if app.projects.chosen is None:
            break
        plane_dir = str(app.projects.chosen)
    code = app.return_code or 0
    if still_reads:
        # The reader thread may be inside a C++ library. A normal exit of Python would make that library abort.
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)
    return code


def _run_app(plane_dir: str | None, hints: "Hints | None") -> "PlaneApp":
    """Show the screens of one project until they are closed."""
    # Objects made before the first paint stay alive, so the garbage collector would only cost time.
    gc.disable()
    first = first_rows.load(plane_dir)
    from agentplane.tui import hints as all_hints
    from agentplane.tui.app import PlaneApp

    def open_model():  # type: ignore[no-untyped-def] # noqa: ANN202 -- its type is heavy to load
        from agentplane.tui.backend import model

        return model.open_model(plane_dir)

    app = PlaneApp(open_model, first, hints or all_hints.for_user())
    app.run()
    from agentplane.text.visible import visible

    for path in app.unsaved_drafts:
        print(f"Your unsaved text was kept in {visible(path)}", file=sys.stderr)
    return app
