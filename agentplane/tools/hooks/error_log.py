"""The log of failed hooks. A hook never reports an error to its tool, so it logs it here for `doctor`."""

import os
import time


NAME = "hooks.log"
_MOST = 60_000
_LONGEST = 300


def note(root: str, event: str, tool: str, what: str) -> None:
    """Append a line to the log in the plane's cache. Do nothing if the log isn't writable."""
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in what).split())
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\t{event}\t{tool}\t{plain[:_LONGEST]}\n"
    path = os.path.join(root, "cache", NAME)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        if os.path.islink(os.path.dirname(path)):  # a clone can contain a link that leads elsewhere
            return
        fd = os.open(path, flags, 0o600)
    except OSError:
        return
    try:
        if os.fstat(fd).st_size > _MOST:
            os.ftruncate(fd, 0)
        os.write(fd, line.encode(errors="replace"))
    except OSError:
        pass
    finally:
        os.close(fd)
