"""Findings as rows, grouped by what a person should do about them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from agentplane.curate.finding import Finding
from agentplane.curate.kinds import GROUPS
from agentplane.findings import Severity
from agentplane.memory.entry import Entry
from agentplane.text.ages import age_of_day
from agentplane.text.visible import one_line
from agentplane.tui.backend import curation
from agentplane.tui.backend.curation import Curated, Listed
from agentplane.tui.backend.list_state import PLAIN, Row


SIGNS: Mapping[Severity, tuple[str, str]] = {
    "error": ("×", "conflict"),
    "warning": ("!", "flag"),
    "info": ("·", "quiet"),
}
"""The sign of each severity, and the style of the sign."""
_WIDEST_ID = 14


def rows(curated: Curated, entries: Mapping[str, Entry], today: date, *, plain: bool) -> list[Row]:
    """Return a row for each finding, the most urgent group first."""
    listed, since = curated.listed, curated.since
    width = min(max((len(one.ids[0]) for one in listed), default=0), _WIDEST_ID)
    return [_row(one, entries, width, _age(since.get(one.key), today), plain=plain) for one in listed]


def sign(one: Listed, *, plain: bool) -> str:
    badge = SIGNS[one.severity][0]
    return badge.translate(PLAIN) if plain else badge


def _row(one: Listed, entries: Mapping[str, Entry], width: int, age: str, *, plain: bool) -> Row:
    id_, kind = one.ids[0], curation.row_of(one)
    entry = entries.get(id_)
    what = one.what if isinstance(one, Finding) else entry.statement if entry else ""
    return Row(
        id=one.key,
        badge=sign(one, plain=plain),
        letter=entry.head.type[:1].upper() if entry and entry.head.type else "-",
        text=f"{id_:<{width}}  {kind.title}{f' · {what}' if what else ''}",
        right=age,
        state=SIGNS[one.severity][1],
        group=GROUPS[kind.group],
    )


def _age(since: date | None, today: date) -> str:
    """Return how long a finding has been open. A finding of today has no age."""
    return age_of_day(since, today) if since else ""


def matching(words: str, curated: Curated, entries: Mapping[str, Entry]) -> list[str]:
    """Return the keys of the findings that contain all words. `is:` names a group, a severity or a kind."""
    wanted = words.casefold().split()
    return [one.key for one in curated.listed if all(_has(one, word, entries) for word in wanted)]


def _has(one: Listed, word: str, entries: Mapping[str, Entry]) -> bool:
    name, colon, value = word.partition(":")
    if colon and name == "is":
        return any(state.startswith(value) for state in _states(one))
    return word in " ".join(_texts(one, entries)).casefold()


def _states(one: Listed) -> Sequence[str]:
    return curation.row_of(one).group, one.severity, one.kind


def _texts(one: Listed, entries: Mapping[str, Entry]) -> Iterator[str]:
    yield from (*one.ids, one.kind, curation.row_of(one).title)
    if isinstance(one, Finding):
        yield from (one.where, one.what, curation.text_of(one))
    for id_ in one.ids:
        if entry := entries.get(id_):
            yield from (entry.statement, entry.head.type, *entry.head.tags)


def counts_text(curated: Curated) -> str:
    """Return a text such as `12 findings · 3 dismissed · 1 snoozed`."""
    count = len(curated.listed)
    parts = ["1 finding" if count == 1 else f"{count:,} findings"]
    if curated.look is not None:
        made = curated.look.made
        parts += [f"{made.dismissed:,} dismissed"] if made.dismissed else []
        parts += [f"{made.snoozed:,} snoozed"] if made.snoozed else []
    return " · ".join(parts)


def checked_text(curated: Curated, age: str) -> str:
    """Return when the last pass ended. `age` is the time since then."""
    if curated.counts is None:
        return ""
    return f"Last checked {one_line(age, 20)} ago." if age else "Last checked just now."
