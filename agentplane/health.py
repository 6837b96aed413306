"""All checks of the packages in one list, and the repairs that lose nothing."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from agentplane import extensions
from agentplane.errors import AgentplaneError
from agentplane.extensions import Extension, ExtensionError, Point
from agentplane.findings import Check, Finding, Repair, unusable
from agentplane.guard import changed_settings, op_signatures
from agentplane.jobs import Report, ignore
from agentplane.memory import checks as memory_checks
from agentplane.plane import checks as plane_checks
from agentplane.plane import create
from agentplane.plane.derived import cache, cache_checks
from agentplane.plane.settings import Settings
from agentplane.plane.store.store import Rebuilt, Store
from agentplane.plane.trust import trust_checks
from agentplane.review import checks as review_checks
from agentplane.runs import checks as run_checks
from agentplane.runs.capsule import repair
from agentplane.text.log import chain
from agentplane.tools import checks as tool_checks
from agentplane.tools.memory_file import text_checks


def of_extensions(store: Store) -> Iterator[Finding]:
    """Yield the findings of checks in other packages, and of chosen extensions that can't be used."""
    yield from extensions.findings(extensions.CHECKS, store)
    for point, try_out in _TRIALS.items():
        for name in extensions.names(point):
            try:
                try_out(extensions.get(point, name), store)
            except ExtensionError as error:
                yield extensions.failed(error)


# These modules are loaded only if the user chose an extension.
def _try_embedder(extension: Extension, _: Store) -> None:
    from agentplane.match import embedder

    embedder.try_out(extension)


def _try_vector_store(extension: Extension, _: Store) -> None:
    from agentplane.match import vector_store

    vector_store.try_out(extension)


def _try_retriever(extension: Extension, store: Store) -> None:
    from agentplane.memory.view import Memory
    from agentplane.retrieval import recalled

    recalled.try_out(extension, Memory(store.snapshot()))


def _try_transcript_reader(extension: Extension, _: Store) -> None:
    extension.made()


def _try_curator_check(extension: Extension, store: Store) -> None:
    from agentplane.curate import extension_checks
    from agentplane.memory.view import Memory

    extension_checks.try_out(extension, Memory(store.snapshot()), store.today())


_TRIALS: Mapping[Point, Callable[[Extension, Store], None]] = {
    extensions.EMBEDDERS: _try_embedder,
    extensions.VECTOR_STORES: _try_vector_store,
    extensions.RETRIEVERS: _try_retriever,
    extensions.TRANSCRIPT_READERS: _try_transcript_reader,
    extensions.CURATOR_CHECKS: _try_curator_check,
}
"""A short use of each kind of extension. It needs no entries, so even an empty plane shows what fails."""

CHECKS: tuple[Check[Store], ...] = (
    plane_checks.check,
    cache_checks.check,
    trust_checks.check,
    memory_checks.check,
    review_checks.check,
    run_checks.check,
    run_checks.shared,
    op_signatures.check,
    changed_settings.check,
    tool_checks.check,
    text_checks.check,
    of_extensions,
)
_OF_SETTINGS = (plane_checks.check, run_checks.shared)
"""These checks read the settings or compare with them. The others can use the defaults."""

_LOOKS = 3
_LOOK_SECONDS = 0.1
_UNTOLD: frozenset[Repair] = frozenset(("views", "unpruned"))
"""The repairs that don't return the files that they wrote."""
_ORDER = {"error": 0, "warning": 1, "info": 2}


class _WithDefaults(Rebuilt):
    """A plane with unreadable settings. It is checked with the defaults, after the finding about the
    settings.
    """

    def settings(self) -> Settings:
        return Settings()


def _usable(store: Store) -> Store:
    """Return the plane without its cache, because no check may depend on the cache."""
    made = Rebuilt if _can_read_settings(store) else _WithDefaults
    return made(store.layout, store.clock, store.token)


def _can_read_settings(store: Store) -> bool:
    try:
        store.settings()
    except AgentplaneError:
        return False
    return True


def collect(store: Store, report: Report = ignore) -> list[Finding]:
    """Return all findings, the most serious first. Checks again if another process wrote meanwhile."""
    for _ in range(_LOOKS):
        before = _tail(store)
        found = _collected(store, report)
        if not found or (before == _tail(store) and before is not None):
            break
        time.sleep(_LOOK_SECONDS)
    return sorted(found, key=lambda finding: _ORDER[finding.severity])


def _tail(store: Store) -> chain.Tail | None:
    try:
        return chain.tail(store.layout.log)
    except AgentplaneError:
        return None


def _collected(store: Store, report: Report) -> dict[Finding, None]:
    """Return all findings. A check that stops reports why, and the others still run."""
    found: dict[Finding, None] = {}
    usable = _usable(store)
    is_open = plane_checks.has_conflict_in_history(store.layout)
    checks = (plane_checks.check,) if is_open else CHECKS
    for number, check in enumerate(checks):
        report(number, len(checks), "Running checks")
        try:
            for finding in check(store if check in _OF_SETTINGS else usable):
                found.setdefault(finding)
        except AgentplaneError as error:
            found.setdefault(
                unusable(
                    error,
                    store.layout.root.name,
                    "Fix this problem first, because it stopped one of the checks.",
                )
            )
    report(len(checks), len(checks), "Running checks")
    return found


def fix(store: Store, report: Report = ignore) -> list[str]:
    """Repair everything that is safe to repair. Return a list of the repairs."""
    found = collect(store, report)
    usable = _usable(store)
    done = usable.mend()
    bad = [one.where for one in found if "cache" in one.repairs]
    if bad:
        with suppress(AgentplaneError):
            cache.clear(store.layout)
            done.append(f"cleared the cache, which had problems in {', '.join(bad)}")
    with suppress(AgentplaneError):  # a finding reports the obstacle
        done += [f"created {name}" for name in create.complete(store.layout)]
        done += [f"added this rule to .gitattributes: {rule}" for rule in create.complete_rules(store.layout)]
    # The shared parts of a capsule and the kept size of an output come from the settings, so they are never
    # guessed.
    if _can_read_settings(store):
        with suppress(AgentplaneError):
            done += repair.mend(store)
    left = {finding.where for finding in collect(store, report) if finding.fixable}
    anew = {finding.where for finding in found if finding.repairs & _UNTOLD}
    return done + [f"rebuilt {where}" for where in sorted(anew - left)]
