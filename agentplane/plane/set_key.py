"""Changing one setting in config.toml, whose other bytes are a person's."""

from agentplane.errors import BadInput
from agentplane.plane import settings
from agentplane.plane.layout import Layout
from agentplane.text import files, toml_key


_TRIES = 5


def set_key(layout: Layout, table: str, key: str, value: str) -> bool:
    """Says whether that changed the file. Where an editor saves it meanwhile, its text is what is changed."""
    path, shown = layout.file("config.toml"), layout.shown("config.toml")
    for _ in range(_TRIES):
        data = files.read_if(path)
        settings.parse(data or b"", shown)
        try:
            made = toml_key.put((data or b"").decode(), table, key, value).encode()
        except toml_key.NoPlace as error:
            raise BadInput(
                str(error), where=shown, todo=f'write `{key} = "{value}"` under [{table}] yourself.'
            ) from None
        settings.parse(made, shown)
        if made == data:
            return False
        if files.write_atomic(path, made, only_if=lambda seen=data: files.read_if(path) == seen):  # type: ignore[misc]
            return True
    raise BadInput("is being written by another program", where=shown, todo="try again in a moment.")
