"""The two settings files: config.toml of the project memory, and a file of the person for the interface."""

import os
from pathlib import Path
from typing import Any

import msgspec

from agentplane.plane import settings_read
from agentplane.plane.layout import CONFIG, Layout
from agentplane.plane.settings import Personal, Settings, Tui
from agentplane.text import files


class SettingsFile(msgspec.Struct, frozen=True):
    path: Path
    shown: str
    """Its name in messages."""
    is_personal: bool

    def parse(self, data: bytes) -> Settings | Personal:
        """Return the settings in these bytes. Raise an error that names the line."""
        if self.is_personal:
            return settings_read.parse_personal(data, self.shown)
        return settings_read.parse(data, self.shown)

    def read(self) -> bytes | None:
        """Return its bytes, or None if it doesn't exist."""
        return files.read_if(self.path, most=settings_read.LARGEST + 1)


class FileValue(msgspec.Struct, frozen=True):
    """A value that a settings file sets."""

    value: Any
    line: int


def of_project(layout: Layout) -> SettingsFile:
    """Return the settings file that everyone in the project shares."""
    return SettingsFile(layout.config, layout.shown(CONFIG), is_personal=False)


def of_person() -> SettingsFile:
    """Return the settings file of this person, which no repository contains."""
    home = os.path.expanduser("~")
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(home, ".config")
    path = os.path.join(base, "agentplane", CONFIG)
    shown = f"~{path.removeprefix(home)}" if path.startswith(f"{home}{os.sep}") else path
    return SettingsFile(Path(path), shown, is_personal=True)


def given(file: SettingsFile) -> dict[str, FileValue]:
    """Return the values that a file sets, by the name of the setting."""
    data = file.read()
    if data is None:
        return {}
    parsed = file.parse(data)
    text, tables = settings_read.read(data, file.shown)
    return {
        name: FileValue(_at(parsed, keys), settings_read.line_of(keys, text))
        for name in settings_read.names(type(parsed))
        if _is_in(tables, keys := name.split("."))
    }


def personal(tui: Tui) -> Tui:
    """Return the settings of the interface, with the person's own values in place of the project's.

    Keys of actions are replaced one by one.
    """
    own = {name.rpartition(".")[2]: one.value for name, one in given(of_person()).items()}
    if "keys" in own:
        own["keys"] = {**tui.keys, **own["keys"]}
    return msgspec.structs.replace(tui, **own)


def _at(parsed: Settings | Personal, keys: list[str]) -> Any:
    found: Any = parsed
    for key in keys:
        found = getattr(found, key)
    return found


def _is_in(tables: Any, keys: list[str]) -> bool:
    for key in keys:
        if not isinstance(tables, dict) or key not in tables:
            return False
        tables = tables[key]
    return True
