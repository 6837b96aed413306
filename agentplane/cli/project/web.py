"""The command web, which serves the TUI to a browser on this machine."""

import importlib.util
import sys
from pathlib import Path

import click

from agentplane.cli import output
from agentplane.cli.open import opened
from agentplane.errors import BadInput
from agentplane.review import policy
from agentplane.text import private


_SHORTEST = 16


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Else any that is free.")
@click.option(
    "--token-file",
    "token_file",
    type=click.Path(path_type=Path),
    metavar="F",
    help="Take the token from this file, and do not print it; made where it is not there.",
)
def web_command(port: int, token_file: Path | None) -> None:
    """Serve the screens to a browser on this machine, until ctrl+c.

    They open with the address that is printed: it has a token in it. Whoever has that can decide as you can.
    """
    if importlib.util.find_spec("textual_serve") is None:
        raise BadInput(
            "what serves the screens to a browser is not installed",
            todo="install agentplane with it: in a checkout `uv tool install '.[web]'`, or `pip install '.[web]'`.",
        )
    plane = opened()
    policy.check_person(plane.store.settings(), "serving the screens")
    from agentplane.tui.web import server

    token = server.new_token() if token_file is None else _token_in(token_file, server.new_token())
    with server.listening(port) as listening:
        web_server = server.PlaneServer(plane.layout.root, listening, token)
        if token_file is None:
            output.line(web_server.address)
        else:
            output.line(f"{web_server.public_url}/?token=")
            output.note(f"the token is in {token_file}; put it behind the address.")
        output.note("ctrl+c ends it.")
        sys.stdout.flush()
        web_server.run()


def _token_in(path: Path, new: str) -> str:
    """Return the token from a file that only this user can read.

    If the file is missing, create it with a new token.
    """
    if private.make(path, new):
        return new
    token = private.read(path)
    if len(token) < _SHORTEST:
        raise BadInput(
            f"holds fewer than {_SHORTEST} characters", where=str(path), todo="delete it; it is made anew."
        )
    return token
