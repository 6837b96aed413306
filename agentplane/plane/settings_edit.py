"""The change of a single setting in a settings file, which keeps all other bytes as the person wrote them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from agentplane.errors import BadInput, Locked
from agentplane.plane import settings, settings_table
from agentplane.plane.layout import Layout
from agentplane.plane.settings_files import SettingsFile
from agentplane.plane.settings_table import Setting
from agentplane.plane.store import lock
from agentplane.text import files
from agentplane.text.toml import edit


_TRIES = 5
_PATIENCE = settings.DEFAULTS.write.lock_timeout


def changed(file: SettingsFile, setting: Setting, value: settings.Value | None) -> tuple[bytes | None, bytes]:
    """Return the current bytes of a settings file, or None if it is missing, and the bytes with another value.

    None removes the setting. A file or a value with an error is refused.
    """
    data = file.read()
    file.parse(data or b"")
    text = (data or b"").decode()
    try:
        if value is None:
            made = edit.drop(text, setting.table, setting.key)
        else:
            made = edit.put(text, setting.table, setting.key, value)
    except edit.NoPlace as error:
        wanted = (
            f"write `{setting.key} = {settings_table.shown(value)}`"
            if value is not None
            else f"remove `{setting.key}`"
        )
        raise BadInput(
            str(error),
            where=file.shown,
            todo=f"Open the file in an editor and {wanted} under [{setting.table}].",
        ) from None
    file.parse(made.encode())
    return data, made.encode()


def write(layout: Layout, file: SettingsFile, setting: Setting, value: settings.Value | None) -> bool:
    """Change a setting, or remove it for None. Return True if that changed the file.

    If an editor saves the file meanwhile, the setting is changed in the saved version.
    """
    with _locked(layout, file):
        for _ in range(_TRIES):
            data, made = changed(file, setting, value)
            if made == (data or b""):
                return False
            if files.replace(file.path, data, made):
                return True
    raise BadInput("another program is writing this file", where=file.shown, todo="Try again in a moment.")


@contextmanager
def _locked(layout: Layout, file: SettingsFile) -> Iterator[None]:
    """Keep other agentplane processes from writing the file. Editors take no lock."""
    if not file.is_personal:
        with lock.held(layout, _PATIENCE):
            yield
        return
    from filelock import FileLock, Timeout

    os.makedirs(file.path.parent, mode=0o700, exist_ok=True)
    own = FileLock(file.path.with_name(".lock"), thread_local=False)
    try:
        own.acquire(timeout=_PATIENCE)
    except Timeout:
        what = f"another process has been writing for {_PATIENCE:g} seconds"
        raise Locked(what, where=file.shown, todo="Try again in a moment.") from None
    try:
        yield
    finally:
        own.release()
