"""Files with a token, which only one user can read.

Such a file is trusted only if no other user could read or replace it.
"""

import os
import stat

from agentplane.errors import BadInput, Refused


_LARGEST = 4096
_ADVICE = "Run `chmod 600` on the token file, or use a different file."


def read(path: str | os.PathLike[str]) -> str:
    """Return the text of a file that belongs to this user and that only this user can read.

    Links are not followed.
    """
    where = os.fspath(path)
    try:
        fd = os.open(where, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        what = f"The token file can't be read: {(error.strerror or str(error)).lower()}."
        raise BadInput(what, where=where, todo="Use a regular file.") from None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise Refused("The token file isn't a regular file.", where=where, todo="Use a regular file.")
        if found.st_mode & 0o077 or found.st_uid != os.getuid():
            raise Refused("The token file must be readable only by you.", where=where, todo=_ADVICE)
        _check_folder(where)
        data = os.read(fd, _LARGEST + 1)
    finally:
        os.close(fd)
    if len(data) > _LARGEST:
        raise BadInput(
            "The token file is too large.",
            where=where,
            todo="Use a file that contains only the token, on one line.",
        )
    try:
        return data.decode().strip()
    except UnicodeDecodeError:
        raise BadInput(
            "The token file isn't text.",
            where=where,
            todo="Use a file that contains only the token, on one line.",
        ) from None


def make(path: str | os.PathLike[str], text: str) -> bool:
    """Create a file that only this user can read. Return False if a file with that name exists."""
    where = os.fspath(path)
    try:
        fd = os.open(where, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    except OSError as error:
        what = f"The token file can't be created: {(error.strerror or str(error)).lower()}."
        raise BadInput(what, where=where, todo="Use a file in one of your own folders.") from None
    with open(fd, "w", encoding="utf-8") as file:
        _check_folder(where)
        file.write(f"{text}\n")
    return True


def _check_folder(where: str) -> None:
    """Raise Refused for a folder in which any user could replace this file."""
    folder = os.path.dirname(os.path.abspath(where))
    mode = os.stat(folder).st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        todo = "Run `chmod o-w` on the folder, or use a file in a different folder."
        raise Refused("Any user can replace files in the token file's folder.", where=where, todo=todo)
