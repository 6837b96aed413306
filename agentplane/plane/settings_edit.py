"""The change of a single setting in config.toml, which keeps all other bytes as the person wrote them."""

from agentplane.errors import BadInput
from agentplane.plane import settings
from agentplane.plane.layout import Layout
from agentplane.text import files
from agentplane.text.toml import edit


_TRIES = 5


def with_key(layout: Layout, table: str, key: str, value: str) -> tuple[bytes | None, bytes]:
    """Return the current config.toml, or None if it is missing, and its text with another value for one key."""
    shown = layout.shown("config.toml")
    data = files.read_if(layout.file("config.toml"))
    settings.parse(data or b"", shown)
    try:
        made = edit.put((data or b"").decode(), table, key, value).encode()
    except edit.NoPlace as error:
        raise BadInput(
            str(error), where=shown, todo=f'Write `{key} = "{value}"` under [{table}] yourself.'
        ) from None
    settings.parse(made, shown)
    return data, made


def set_key(layout: Layout, table: str, key: str, value: str) -> bool:
    """Set a key of config.toml. Return True if that changed the file.

    If an editor saves the file meanwhile, the key is set in the saved version.
    """
    path = layout.file("config.toml")
    for _ in range(_TRIES):
        data, made = with_key(layout, table, key, value)
        if made == data:
            return False
        if files.write_atomic(path, made, only_if=lambda read=data: files.read_if(path) == read):  # type: ignore[misc]
            return True
    shown = layout.shown("config.toml")
    raise BadInput("is being written by another program", where=shown, todo="Try again in a moment.")
