"""The process that the web server starts for each page. It runs the screens with the page as their terminal."""

import os
import signal
import sys
from pathlib import Path

from agentplane.agents.catalog import title_of, tool_in
from agentplane.errors import Refused
from agentplane.plane.settings import Settings
from agentplane.review.policy import needs_person


def check_person(settings: Settings, verb: str) -> None:
    """Raise an error if a coding tool runs this process.

    There is no terminal to check. The web server asked for the token, and whoever has the token is the
    person.
    """
    tool = None if settings.trust.tools_may_approve else tool_in(os.environ)
    if tool:
        raise Refused(
            f"{needs_person(verb)}, and `agentplane web` was started by {title_of(tool)}.",
            todo="Start `agentplane web` in your own terminal.",
        )


def main() -> None:
    # This process gets the ctrl+c of the server's terminal, too. Until the screens handle it, it ends the process.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from agentplane.api import open_plane
    from agentplane.tui.textual_fixes.driver import within

    # These variables contain the first size of the page. Libraries read them before the screens do.
    wide, high = within(os.environ.get("COLUMNS"), os.environ.get("ROWS"))
    os.environ.update(COLUMNS=str(wide), ROWS=str(high), LINES=str(high))
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.backend.model import PlaneModel

    folder = Path(sys.argv[1])
    PlaneApp(lambda: PlaneModel(open_plane(folder, channel="tui"), check_person)).run()


if __name__ == "__main__":
    main()
