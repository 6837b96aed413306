"""What a branch changes in config.toml that would let more pass than before."""

from collections.abc import Iterator
from typing import Any

from agentplane.errors import AgentplaneError
from agentplane.findings import Finding
from agentplane.memory.kinds import BadKind, kinds_of
from agentplane.plane.settings import line_of
from agentplane.plane.trust_settings import weaker
from agentplane.runs.sides import CONFIG, Side, shown


_REMEDY = "take it back, or let the people who own this plane agree and merge it over this check."


def findings(base: Side, now: Side) -> Iterator[Finding]:
    try:
        kinds_of(now.read_settings())
    except BadKind as error:
        where = now.where(CONFIG, line_of(("kinds", *error.keys), _text(now)))
        yield Finding("error", where, shown(error.what, 200), error.todo or "mend this line.")
        return
    except AgentplaneError as error:
        if base.files.get(CONFIG) != now.files.get(CONFIG):
            where = shown(error.where or now.where(CONFIG), 160)
            yield Finding("error", where, shown(error.what, 200), shown(error.todo or "mend this line.", 200))
        return
    for keys, before, after in weaker(base.settings, now.settings):
        where = now.where(CONFIG, line_of(keys, _text(now)) if CONFIG in now.files else None)
        what = f"`{'.'.join(keys)}` goes from {_value(before)} to {_value(after)}, which weakens trust"
        yield Finding("warning", where, what, _REMEDY)


def _value(value: Any) -> str:
    return "not set" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"


def _text(now: Side) -> str:
    return now.files.get(CONFIG, b"").decode(errors="replace")
