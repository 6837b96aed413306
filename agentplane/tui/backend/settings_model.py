"""The settings as the screens change them.

It doesn't use Textual.
"""

from agentplane.api import Plane
from agentplane.commands import SetSetting
from agentplane.errors import AgentplaneError
from agentplane.plane import settings_table
from agentplane.plane.settings_table import Setting
from agentplane.tui.backend.outcome_text import Outcome


def is_personal(command: SetSetting) -> bool:
    """True if the command changes only the file of the person."""
    return settings_table.by_name(command.name).is_personal


def do(plane: Plane, command: SetSetting) -> Outcome:
    """Carry out a command. Return an outcome with a message about the changed file."""
    setting = settings_table.by_name(command.name)
    path = plane.settings.file_of(setting).shown
    if not plane.do(command):
        message = f"Nothing was changed, because {path} already has this value"
    elif command.value is None:
        message = f"Removed {setting.name} from {path}"
    else:
        message = f"Set {setting.name} to {settings_table.shown(command.value)} in {path}"
    return Outcome(command.verb, command.verb, command.ids, None, "", message=message)


def typed(setting: Setting, text: str) -> SetSetting:
    """Return the command for a typed value. Empty text unsets a setting that has no default."""
    text = text.strip()
    if not text and setting.default is None:
        return SetSetting(setting.name, None)
    return SetSetting(setting.name, settings_table.typed(setting, text))


def problem(plane: Plane, command: SetSetting) -> str:
    """Return why a command would be refused, or an empty text. The whole file is read as it would be then."""
    try:
        plane.preview(command)
    except AgentplaneError as error:
        return f"{error.what.rstrip('.')}. {error.todo or ''}".strip()
    return ""
