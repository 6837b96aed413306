"""Settings as rows, and the description of a setting."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from agentplane.api.settings import BrokenFile, Current, SettingsView
from agentplane.plane.settings_table import Variable, shown
from agentplane.text.visible import one_line, visible
from agentplane.tui.backend.list_state import PLAIN, Row
from agentplane.tui.widgets.markdown import Look


_PERSONAL, _COMMITTED, _VARIABLES = "Only for you", "Committed", "Environment variables"
_SOURCES = {"default": "", "project": "project", "personal": "yours", "environment": "environment"}
_STORED = {
    True: "This setting applies only to you, in all your projects. Changes are saved in {}.",
    False: "This setting is committed with the project and applies to everyone. Changes are saved in {} after you confirm them.",
}

Item = Current | BrokenFile | tuple[Variable, str | None]


def items(view: SettingsView) -> dict[str, Item]:
    """Return everything that has a row, by the id of the row, in the order of the rows."""
    found: list[Item] = [one for one in view.broken if one.file.is_personal]
    found += [one for one in view.settings if one.setting.is_personal]
    found += [one for one in view.broken if not one.file.is_personal]
    found += [one for one in view.settings if not one.setting.is_personal]
    found += view.variables
    return {_id(one): one for one in found}


def _id(item: Item) -> str:
    match item:
        case Current():
            return item.setting.name
        case BrokenFile():
            return item.file.shown
        case (variable, _):
            return f"${variable.name}"


def row(id_: str, item: Item, *, plain: bool) -> Row:
    match item:
        case Current(setting, value, source):
            badge, state = ("·", "quiet") if source == "default" else ("●", "clean")
            if source == "environment":
                badge, state = "=", "edited"
            text = f"{setting.name} = {one_line(shown(value), 200)}"
            group = _PERSONAL if setting.is_personal else f"{_COMMITTED}: {setting.table}"
            right = _SOURCES[source]
        case BrokenFile(file, error):
            badge, state, right = "×", "flag", "not readable"
            text = one_line(error.headline, 200)
            group = _PERSONAL if file.is_personal else _COMMITTED
        case (variable, value):
            badge, state = ("·", "quiet") if value is None else ("=", "edited")
            text = f"{variable.name} {'not set' if value is None else f'= {one_line(value, 100)}'}"
            group, right = _VARIABLES, ""
    return Row(id_, badge.translate(PLAIN) if plain else badge, " ", text, right, state, group)


def searched(item: Item) -> str:
    """Return the text that a filter searches."""
    match item:
        case Current(setting, value, source):
            words = [setting.name, setting.what, setting.more, shown(value), source, item.where]
            words.append("personal" if setting.is_personal else "committed")
        case BrokenFile(_, error):
            words = [str(error)]
        case (variable, value):
            words = [variable.name, variable.what, value or "", "environment"]
    return " ".join(words).casefold()


def sections(item: Item, outside: str, look: Look) -> Iterator[list[RenderableType]]:
    """Yield the description of a row, section by section. `outside` is the key that opens the file."""
    match item:
        case Current():
            yield from _setting(item, outside, look)
        case BrokenFile(_, error):
            yield [Text(visible(error.headline), look("bad")), Text(error.todo or "")]
            yield [
                Text(
                    f"Agentplane won't change this file until the error is fixed. Press {outside} to fix it in your editor."
                )
            ]
        case (variable, value):
            yield [Text(variable.name, look("strong")), Text(variable.what)]
            yield [Text("Value", look("heading")), Text("not set" if value is None else visible(value))]
            yield [
                Text(
                    "To change this variable, set it in your shell before you start agentplane.",
                    look("muted"),
                )
            ]
            yield _docs(variable.page, look)


def _setting(current: Current, outside: str, look: Look) -> Iterator[list[RenderableType]]:
    setting = current.setting
    yield [Text(setting.name, look("strong")), Text(" ".join(filter(None, (setting.what, setting.more))))]
    value = Text(visible(shown(current.value)), look("code"))
    yield [Text("Value", look("heading")), value, Text(_source(current), look("muted"))]
    yield [Text("Default", look("heading")), Text(shown(setting.default), look("code"))]
    if setting.choices:
        words = ", ".join(map(shown, setting.choices))
        yield [Text("Values", look("heading")), Text(words, look("code"))]
    note = _STORED[setting.is_personal].format(visible(current.file.shown))
    yield [Text("File", look("heading")), Text(note)]
    if setting.is_table:
        yield [Text(f"Press {outside} to edit this table in the file.")]
    yield _docs(setting.page, look)


def _source(current: Current) -> str:
    match current.source:
        case "default":
            return "This is the default value."
        case "environment":
            return f"{visible(current.where)} in the environment sets this value. Change the variable in your shell."
        case _:
            return f"This value comes from {visible(current.where)}."


def _docs(page: str, look: Look) -> list[RenderableType]:
    return [Text("Docs", look("heading")), Text(f"docs/{page}", look("id"))]
