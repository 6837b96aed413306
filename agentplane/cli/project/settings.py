"""The command settings, which lists the settings and changes one."""

from collections.abc import Iterable
from typing import Any

import click
import msgspec

from agentplane.api import Plane
from agentplane.api.settings import Current, SettingsView
from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.commands import SetSetting
from agentplane.errors import BadInput
from agentplane.plane import settings_table
from agentplane.plane.settings_table import Setting, shown
from agentplane.review.policy import check_person
from agentplane.text.visible import one_line


_LONGEST_VALUE = 40


@command(
    "settings", "settings tools.restart", "settings tools.restart auto", "settings --unset tools.restart"
)
@click.argument("name", required=False, shell_complete=complete.settings)
@click.argument("value", required=False, shell_complete=complete.setting_values)
@click.option("--unset", is_flag=True, help="Remove the setting from its file, so that the default applies.")
@json_option
def settings_command(name: str | None, value: str | None, unset: bool, as_json: bool) -> None:
    """List the settings, show one setting, or change it.

    Project settings are saved in .agentplane/config.toml, which everyone in the project shares through Git. Settings
    under `tui` are saved in your own ~/.config/agentplane/config.toml.
    """
    if name is None and unset:
        raise BadInput("A setting is required.", todo="Pass its name, for example `tools.restart`.")
    if unset and value is not None:
        raise BadInput("Can't combine --unset and a value.", todo="Pass only one of them.")
    plane = opened(quiet=True)
    if name is None:
        _list(plane.settings.look(), as_json=as_json)
    elif unset or value is not None:
        _change(plane, _command(plane, name, None if unset else value))
        if as_json:
            _show(_current(plane, name), as_json=True)
    else:
        _show(_current(plane, name), as_json=as_json)


def _command(plane: Plane, name: str, value: str | None) -> SetSetting:
    setting = settings_table.by_name(name)
    if setting.is_table:
        what = f"`{name}` is a table, which this command can't change."
        raise BadInput(what, todo=f"Edit {plane.settings.file_of(setting).shown}.")
    return SetSetting(name, None if value is None else settings_table.typed(setting, value))


def _change(plane: Plane, change: SetSetting) -> None:
    setting = settings_table.by_name(change.name)
    if not setting.is_personal:
        check_person(plane.store.settings(), "changing a setting")
    path = plane.settings.file_of(setting).shown
    if not plane.do(change):
        output.note(f"Nothing to change: {path} already has this value.")
    elif change.value is None:
        output.note(f"Removed {change.name} from {path}.")
    else:
        output.note(f"Set {change.name} to {shown(change.value)} in {path}.")


def _current(plane: Plane, name: str) -> Current:
    """Return one setting. Raise an error if a file that may set it can't be read."""
    setting, view = settings_table.by_name(name), plane.settings.look()
    file = plane.settings.file_of(setting)
    rows = [row for row in view.settings if row.setting == setting]
    is_set = any(row.source != "default" for row in rows)
    for broken in view.broken:
        if broken.file == file or (setting.is_personal and not is_set):
            raise broken.error
    return rows[0]


def _list(view: SettingsView, *, as_json: bool) -> None:
    """Print every setting. If a file can't be read, print the defaults of its settings, and then the error."""
    if as_json:
        if view.broken:
            raise view.broken[0].error
        _emit(view.settings)
        return
    current = {row.setting.name: row for row in view.settings}
    rows = [
        (setting.name, *_cells(setting, current.get(setting.name))) for setting in settings_table.SETTINGS
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, value, place in rows:
        output.line(output.row([(name, widths[0]), (value, widths[1])], place).rstrip())
    if view.broken:
        raise view.broken[0].error
    output.note(
        "To see what a setting does, run `agentplane settings NAME`. To change it, run `agentplane settings NAME VALUE`."
    )


def _cells(setting: Setting, row: Current | None) -> tuple[str, str]:
    """Return the value and, unless it is the default, the place that sets it."""
    value = one_line(shown(setting.default if row is None else row.value), _LONGEST_VALUE)
    return value, "" if row is None else row.where


def _show(row: Current, *, as_json: bool) -> None:
    setting = row.setting
    if as_json:
        _emit((row,))
        return
    output.line(f"{setting.name} = {shown(row.value)}")
    output.line(f"Set in: {row.where or 'no file, so the default applies'}")
    output.line(f"Default: {shown(setting.default)}")
    if setting.choices:
        output.line(f"Values: {', '.join(map(shown, setting.choices))}")
    output.line("")
    output.line(setting.what)


def _emit(rows: Iterable[Current]) -> None:
    output.emit("settings", settings=[_fields(row) for row in rows])


def _fields(row: Current) -> dict[str, Any]:
    setting = row.setting
    return {
        "name": setting.name,
        "value": msgspec.to_builtins(row.value),
        "default": msgspec.to_builtins(setting.default),
        "source": row.source,
        "where": row.where or None,
        "file": row.file.shown,
        "description": setting.what,
    }
