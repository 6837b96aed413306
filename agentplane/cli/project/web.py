"""The command web, which serves the TUI to a browser on this machine."""

import importlib.util
import sys
from pathlib import Path

import click

from agentplane.cli import output
from agentplane.cli.help import command
from agentplane.cli.open import opened
from agentplane.errors import BadInput
from agentplane.review import policy
from agentplane.text import private


_SHORTEST = 16


@command("web", "web --port 8321 --token-file ~/.agentplane-token")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port to listen on [default: any free port].",
)
@click.option(
    "--token-file",
    "token_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File with the access token. If the file doesn't exist, agentplane creates it [default: print a new token].",
)
def web_command(port: int, token_file: Path | None) -> None:
    """Serve the TUI to a browser on this machine until you press Ctrl-C.

    Open the printed address, which contains an access token. Anyone with the token can approve
    and reject candidates on your behalf.
    """
    if importlib.util.find_spec("textual_serve") is None:
        raise BadInput(
            "The web server is not installed.",
            todo="In a source checkout, run `uv tool install '.[web]'` or `pip install '.[web]'`.",
        )
    plane = opened()
    policy.check_person(plane.store.settings(), "serving the TUI")
    from agentplane.tui.web import server

    token = server.new_token() if token_file is None else _token_in(token_file, server.new_token())
    with server.listening(port) as listening:
        web_server = server.PlaneServer(plane.layout.root, listening, token)
        if token_file is None:
            output.line(web_server.address)
        else:
            output.line(f"{web_server.public_url}/?token=")
            output.note(f"Add the token from {token_file} to the end of this address.")
        output.note("Press Ctrl-C to stop.")
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
            f"The token in {path} has fewer than {_SHORTEST} characters.",
            todo="To get a new token, delete the file and run the command again.",
        )
    return token
