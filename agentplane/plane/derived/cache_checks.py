"""Checks for cache files that agentplane did not write, and for cache files that contradict the log."""

from collections.abc import Iterator

from agentplane.findings import Finding, Instruction, Mend
from agentplane.plane.derived import cache
from agentplane.plane.layout import Layout
from agentplane.plane.ledger import ledger as ledgers
from agentplane.plane.ledger import ledger_cache
from agentplane.plane.store import pages
from agentplane.plane.store.store import Store
from agentplane.plane.trust import user_key
from agentplane.text.visible import one_line


CLEAR = Mend("cache", "Run ", " to clear the cache.")
_NAMED = 5


def check(store: Store) -> Iterator[Finding]:
    """Check the cache against `store`, which reads the plane without the cache."""
    layout = store.layout
    if not user_key.can_mark():
        what = "agentplane can't store your key here. Without a key, agentplane doesn't use a cache, so commands are slower"
        todo = Instruction("Make sure that you can write to this folder, and that only you can read it.")
        yield Finding("no-user-key", "info", user_key.folder(), what, (todo,))
        return
    foreign = cache.foreign(layout)
    if cache.OWNER in foreign or (foreign and not cache.is_own(layout)):
        names = [name for name in foreign if name != cache.OWNER]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        listed = ", ".join(one_line(name, 60) for name in names[:_NAMED])
        among = f" ({listed}{more})" if names else ""
        what = f"agentplane ignores this cache{among}, because this user didn't create it in this folder"
        yield Finding("cache-foreign", "warning", layout.shown("cache"), what, (CLEAR,))
        return
    for name in foreign:
        what = "agentplane ignores this file, because this user didn't create it"
        where = layout.shown(f"cache/{one_line(name, 80)}")
        yield Finding("cache-file-foreign", "error", where, what, (CLEAR,), name)
    yield from _ledger(store)
    yield from _pages(store)


def _ledger(store: Store) -> Iterator[Finding]:
    layout, made = store.layout, store.snapshot().ledger
    kept = ledger_cache.from_cache(layout)
    if kept is not None and (parts := ledgers.differing(kept, made)):
        what = f"this file doesn't match the log and the operation records ({', '.join(parts)})"
        where = layout.shown(f"cache/{ledger_cache.KEPT.name}")
        yield Finding("cache-wrong", "error", where, what, (CLEAR,), ledger_cache.KEPT.name)


def _pages(store: Store) -> Iterator[Finding]:
    layout: Layout = store.layout
    for file, page in store.snapshot().pages.items():
        kept = pages.from_cache(layout, page)
        if kept is not None and kept.document != page.document:
            what = f"this file was made from {one_line(layout.shown(file), 80)}, but doesn't match it"
            where = layout.shown(f"cache/{pages.name_of(file)}")
            yield Finding("cache-wrong", "error", where, what, (CLEAR,), pages.name_of(file))
