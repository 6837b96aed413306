"""The dialogs that change a setting. A change that everyone in the project gets is asked about first."""

from typing import TYPE_CHECKING

from agentplane.commands import SetSetting
from agentplane.plane import settings_table
from agentplane.plane.settings_table import Setting, shown
from agentplane.text.visible import one_line
from agentplane.tui.backend import settings_model


if TYPE_CHECKING:
    from agentplane.api import Plane
    from agentplane.api.settings import Current
    from agentplane.tui.app import PlaneApp


async def edit(app: "PlaneApp", current: "Current") -> None:
    """Change a setting. A switch is toggled. For other settings, a person picks or types the value."""
    setting = current.setting
    values = ("auto", *sorted(app.available_themes)) if setting.name == "tui.theme" else setting.choices
    if values == (True, False):
        await submit(app, SetSetting(setting.name, not current.value))
    elif values:
        await _pick(app, current, values)
    else:
        await _type(app, current)


async def submit(app: "PlaneApp", command: SetSetting, title: str = "", verb: str = "change") -> None:
    """Submit a change, after a question if the setting is committed. A change with an error is not asked about."""
    model = app.model
    if model is None:
        return
    setting = settings_table.by_name(command.name)
    if not setting.is_personal and not app.may_decide():
        return
    if problem := settings_model.problem(model.plane, command):
        app.say(problem)
    elif setting.is_personal:
        app.submit(command)
    else:
        await _ask(app, model.plane, command, title or _title(setting, command), verb)


async def _ask(app: "PlaneApp", plane: "Plane", command: SetSetting, title: str, verb: str) -> None:
    from agentplane.tui.widgets.modals.question_modal import Question

    setting = settings_table.by_name(command.name)
    about = " ".join(filter(None, (setting.what, setting.more)))
    path = plane.settings.file_of(setting).shown
    text = f"{about}\n\nThis changes `{setting.name}` in {path}. The file is committed, so the setting applies to everyone in this project."

    def answered(yes: bool | None) -> None:
        if yes:
            app.submit(command)

    await app.push_screen(Question(title, text, verb), answered)


def _title(setting: Setting, command: SetSetting) -> str:
    if command.value is None:
        return f"Reset {setting.name} to its default, {one_line(shown(setting.default), 60)}?"
    return f"Set {setting.name} to {one_line(shown(command.value), 60)}?"


async def _pick(app: "PlaneApp", current: "Current", values: tuple[bool | str, ...]) -> None:
    from agentplane.tui.widgets.modals.choose_modal import Pick

    setting = current.setting
    notes = {setting.default: "default"}
    notes[current.value] = "current, default" if current.value in notes else "current"
    names = [value if isinstance(value, str) else shown(value) for value in values]
    options = [
        f"{name}  ({notes[value]})" if value in notes else name
        for name, value in zip(names, values, strict=True)
    ]

    def chosen(place: int | None) -> None:
        if place is not None and values[place] != current.value:
            app.call_later(submit, app, SetSetting(setting.name, values[place]))

    await app.push_screen(Pick(setting.name, options), chosen)


async def _type(app: "PlaneApp", current: "Current") -> None:
    from agentplane.tui.textual_fixes.push_and_focus import open_field
    from agentplane.tui.widgets.modals.line_modal import LineDialog

    model = app.model
    if model is None:
        return
    setting, plane = current.setting, model.plane

    def problem_of(text: str) -> str:
        return settings_model.problem(plane, settings_model.typed(setting, text))

    def entered(text: str | None) -> None:
        if text is not None:
            app.call_later(submit, app, settings_model.typed(setting, text))

    before = "" if current.value is None else shown(current.value)
    hint = f"default: {one_line(shown(setting.default), 60)}"
    await open_field(app, LineDialog(setting.name, hint, "save", problem_of, before), entered)
