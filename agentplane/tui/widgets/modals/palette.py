"""The command palette with every action of the open screen."""

from contextlib import suppress
from functools import partial

from textual import on
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.theme import ThemeProvider as Themes
from textual.widgets import Input, OptionList

from agentplane.tui import actions
from agentplane.tui.protocols import HasActions, InRegistry, RunsActions, keymap_of
from agentplane.tui.widgets.modals.modal import AnswersOnce


__all__ = ["Actions", "Palette", "Themes"]


_BY_EXACT_NAME, _BY_NAME, _BY_OTHER_WORD, _BY_DESCRIPTION = 1000.0, 10.0, 5.0, 1.0


class Palette(CommandPalette, AnswersOnce[None]):
    """Textual's palette with one correction. If enter is pressed twice, Textual's own runs the choice twice."""

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _once(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
        if self._has_answered:
            event.stop()
            event.prevent_default()

    def _action_command_list(self, action: str) -> None:
        with suppress(KeyError):  # page up was pressed before the list was drawn
            super()._action_command_list(action)


class Actions(Provider):
    """Provides commands from the table of actions. An unavailable action shows its reason."""

    async def discover(self) -> Hits:
        for one in self._here():
            yield DiscoveryHit(self._named(one), partial(self._run, one), help=self._help(one))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for one in self._here():
            score = self._score(one, query, matcher.match(f"{self._name_of(one)} {one.name} {one.id}"))
            if score > 0:
                yield Hit(score, self._named(one), partial(self._run, one), help=self._help(one))

    def _here(self) -> list[actions.Action]:
        moving = "Move"
        listed = actions.on(self._where)
        return [one for one in listed if one.section != moving and one.id != "palette" and self._name_of(one)]

    @staticmethod
    def _score(one: actions.Action, query: str, name_score: float) -> float:
        """Return the score of an action. Its name counts most, then its other words, then its description."""
        if query.casefold() == one.name.casefold():
            return _BY_EXACT_NAME
        if name_score > 0:
            return _BY_NAME + name_score
        for score, text in ((_BY_OTHER_WORD, one.also), (_BY_DESCRIPTION, one.what)):
            known = text.casefold().split()
            if all(any(word.startswith(part) for word in known) for part in query.casefold().split()):
                return score
        return 0.0

    @property
    def _where(self) -> str:
        return self.screen.WHERE if isinstance(self.screen, InRegistry) else actions.EVERYWHERE

    def _name_of(self, one: actions.Action) -> str:
        """Return the current name of an action on this screen, or an empty string if the action is hidden."""
        names = self.screen.action_names if isinstance(self.screen, HasActions) else {}
        return names.get(one.id, one.name)

    def _named(self, one: actions.Action) -> str:
        keymap = keymap_of(self.app)
        name = self._name_of(one)
        key = keymap.shown(one, where=self._where)
        return f"{name[:1].upper()}{name[1:]}{f'  ·  {key}' if key else ''}"

    def _help(self, one: actions.Action) -> str:
        off = self.screen.off if isinstance(self.screen, HasActions) else {}
        return f"Unavailable: {off[one.id]}" if one.id in off else one.what

    async def _run(self, one: actions.Action) -> None:
        if isinstance(self.app, RunsActions):
            await self.app.run_on(self.screen, one)
