"""Where the program begins: the rows kept from last time, the app, and what is left to do at the end."""

import gc
import os
import sys
from contextlib import suppress

from agentplane.tui.backend import first_rows


def run(plane_dir: str | None = None) -> int:
    """Opens the screens on the plane that is named, or that the current folder is in. Returns their exit code."""
    # Until the first paint only what stays is made; looking for garbage among it would only take time.
    gc.disable()
    first = first_rows.kept(plane_dir)
    from agentplane.tui.app import PlaneApp

    def open_model():  # type: ignore[no-untyped-def] # noqa: ANN202 -- its type is heavy to load
        from agentplane.tui.backend import model

        return model.open_model(plane_dir)

    app = PlaneApp(open_model, first)
    app.run()
    code = app.return_code or 0
    from agentplane.text.visible import visible

    for path in app.kept:
        print(f"what you were writing is kept in {visible(path)}", file=sys.stderr)
    if app.settle():
        # What still reads may be inside of a library in C++, which Python's own end would tear down with an abort.
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)
    return code
