"""`plane.settings`, which reads and changes the settings of a project and of a person."""

import os
from typing import Any, Literal

import msgspec

from agentplane.commands import SetSetting
from agentplane.errors import AgentplaneError
from agentplane.plane import settings_edit, settings_files, settings_table
from agentplane.plane.layout import Layout
from agentplane.plane.settings_files import FileValue, SettingsFile
from agentplane.plane.settings_table import SETTINGS, VARIABLES, Setting, Variable
from agentplane.text.visible import PLAIN_TERMINALS
from agentplane.tools.foreign_file import Change


Source = Literal["default", "project", "personal", "environment"]


class Current(msgspec.Struct, frozen=True):
    """A setting with its current value."""

    setting: Setting
    value: Any
    source: Source
    file: SettingsFile
    """The file in which a change is written."""
    line: int | None = None
    """The line in that file that sets the value."""
    where: str = ""
    """The file and line, or the environment variable, that sets the value. Empty for a default."""


class BrokenFile(msgspec.Struct, frozen=True):
    """A settings file that can't be read."""

    file: SettingsFile
    error: AgentplaneError

    @property
    def line(self) -> int | None:
        """The line of the error, if it is known."""
        _, _, line = (self.error.where or "").rpartition(":")
        return int(line) if line.isdecimal() else None


class SettingsView(msgspec.Struct, frozen=True):
    """All settings, as the files have them now."""

    settings: tuple[Current, ...]
    """Without the settings of a project whose file can't be read."""
    broken: tuple[BrokenFile, ...]
    variables: tuple[tuple[Variable, str | None], ...]
    """The environment variables with their values, or None."""


class PlaneSettings:
    """The settings of one project, and those of the person who uses it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def look(self) -> SettingsView:
        """Read both files. A file that can't be read is reported and doesn't hide the other one."""
        shared, own = settings_files.of_project(self._layout), settings_files.of_person()
        broken: list[BrokenFile] = []
        in_shared, in_own = _given(shared, broken), _given(own, broken)
        given: _ValuesByFile = (("personal", own, in_own or {}), ("project", shared, in_shared or {}))
        rows = [
            _current(setting, own if setting.is_personal else shared, given)
            for setting in SETTINGS
            if setting.is_personal or in_shared is not None
        ]
        variables = [(variable, os.environ.get(variable.name)) for variable in VARIABLES]
        return SettingsView(tuple(rows), tuple(broken), tuple(variables))

    def file_of(self, setting: Setting) -> SettingsFile:
        """Return the file in which a change of this setting is written."""
        return settings_files.of_person() if setting.is_personal else settings_files.of_project(self._layout)

    def preview(self, command: SetSetting) -> tuple[Change, ...]:
        """Return the change of the settings file, without writing it. An invalid value is an error."""
        setting = settings_table.by_name(command.name)
        file = self.file_of(setting)
        before, after = settings_edit.changed(file, setting, command.value)
        return (Change(file.shown, before, after),) if after != (before or b"") else ()

    def put(self, command: SetSetting) -> bool:
        """Carry out a `SetSetting`. Return True if the file changed."""
        setting = settings_table.by_name(command.name)
        return settings_edit.write(self._layout, self.file_of(setting), setting, command.value)


_ValuesByFile = tuple[tuple[Source, SettingsFile, dict[str, FileValue]], ...]
"""The values that each file sets. The value in an earlier file counts."""


def _given(file: SettingsFile, broken: list[BrokenFile]) -> dict[str, FileValue] | None:
    """Return the values in a file, or None after adding it to the broken files."""
    try:
        return settings_files.given(file)
    except AgentplaneError as error:
        broken.append(BrokenFile(file, error))
        return None


def _current(setting: Setting, stored: SettingsFile, given: _ValuesByFile) -> Current:
    terminal = os.environ.get("TERM", "")
    if setting.name == "tui.ascii" and terminal in PLAIN_TERMINALS:
        return Current(setting, True, "environment", stored, where=f"TERM={terminal}")
    found = [(source, file, values[setting.name]) for source, file, values in given if setting.name in values]
    if not found:
        return Current(setting, setting.default, "default", stored)
    source, file, first = found[0]
    value = first.value
    if setting.name == "tui.keys":
        value = {key: name for _, _, one in reversed(found) for key, name in one.value.items()}
    line = first.line if file == stored else None
    return Current(setting, value, source, stored, line, f"{file.shown}:{first.line}")
