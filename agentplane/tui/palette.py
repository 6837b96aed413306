"""The command palette: every action that applies where one is, by its name."""

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from agentplane.tui import actions


class Actions(Provider):
    """Made from the registry; what cannot be done now says why."""

    async def discover(self) -> Hits:
        for one in self._here():
            yield DiscoveryHit(self._named(one), partial(self._run, one), help=self._help(one))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for one in self._here():
            score = matcher.match(f"{one.name} {one.id}")
            if score > 0:
                yield Hit(score, self._named(one), partial(self._run, one), help=self._help(one))

    def _here(self) -> list[actions.Action]:
        moving = "Moving"
        where = getattr(self.screen, "WHERE", actions.EVERYWHERE)
        return [one for one in actions.on(where) if one.section != moving and one.id != "palette"]

    def _named(self, one: actions.Action) -> str:
        keymap: actions.Keymap = getattr(self.app, "keys_wanted", actions.Keymap())
        return f"{one.name[:1].upper()}{one.name[1:]}  ·  {keymap.shown(one)}"

    def _help(self, one: actions.Action) -> str:
        off = getattr(self.screen, "off", {})
        return f"Not now: {off[one.id]}" if one.id in off else one.what

    async def _run(self, one: actions.Action) -> None:
        screen, does = self.screen, one.does or one.id
        focused = screen.focused
        if actions.LIST in one.where and focused is not None:
            await self.app.run_action(does, focused)
        elif actions.EVERYWHERE in one.where:
            await self.app.run_action(does)
        else:
            await self.app.run_action(does, screen)
