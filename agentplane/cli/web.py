"""The screens in a browser on this machine."""

import importlib.util
import os
import stat
import sys
from pathlib import Path

import click

from agentplane.cli import out
from agentplane.cli.door import opened
from agentplane.errors import BadInput, Refused
from agentplane.review import policy
from agentplane.text import files


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
    from agentplane.tui import web

    token = web.new_token() if token_file is None else _token_in(token_file, web.new_token())
    with web.listening(port) as listening:
        door = web.Door(plane.layout.root, listening, token)
        if token_file is None:
            out.line(door.address)
        else:
            out.line(f"{door.public_url}/?token=")
            out.note(f"the token is in {token_file}; put it behind the address.")
        out.note("ctrl+c ends it.")
        sys.stdout.flush()
        door.run()


def _token_in(path: Path, new: str) -> str:
    """What a file of this user alone holds; where there is none, it is made."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        pass
    else:
        with open(fd, "w", encoding="utf-8") as file:
            file.write(f"{new}\n")
        return new
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o077 or found.st_uid != os.getuid():
        raise Refused(
            "is no file that you alone can read", where=str(path), todo="chmod 600, or name another file."
        )
    token = files.read(path).decode(errors="replace").strip()
    if len(token) < _SHORTEST:
        raise BadInput(
            f"holds fewer than {_SHORTEST} characters", where=str(path), todo="delete it; it is made anew."
        )
    return token
