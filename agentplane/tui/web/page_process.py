"""The screens in a browser: what the web door starts for each page, with the page in the place of the terminal."""

import os
import signal
import sys
from pathlib import Path

from agentplane.agents.catalog import tool_in
from agentplane.errors import Refused
from agentplane.plane.settings import Settings


def check_person(settings: Settings, verb: str) -> None:
    """There is no terminal here: who has the token is the person, whom the door asked for it."""
    tool = None if settings.trust.tools_may_approve else tool_in(os.environ)
    if tool:
        raise Refused(
            f"{verb} is a person's decision, and this is a shell of {tool}",
            todo="start `agentplane web` in a terminal of your own.",
        )


def main() -> None:
    # ctrl+c in the door's terminal comes here, too. The screens answer it once they are there; before, it just ends this.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from agentplane.api import open_plane
    from agentplane.tui.textual_fixes.driver import within

    # The page's first size comes in these, and libraries read them before the screens do.
    wide, high = within(os.environ.get("COLUMNS"), os.environ.get("ROWS"))
    os.environ.update(COLUMNS=str(wide), ROWS=str(high), LINES=str(high))
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.backend.model import PlaneModel

    folder = Path(sys.argv[1])
    PlaneApp(lambda: PlaneModel(open_plane(folder, channel="tui"), check_person)).run()


if __name__ == "__main__":
    main()
