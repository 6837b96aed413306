"""Anchors drawn from the histories of real packages: the state that the curator names, against the truth."""

import tempfile
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import msgspec

from agentplane.curate.anchors import compare
from agentplane.curate.anchors.observe import observe
from agentplane.curate.anchors.tree import WorkTree
from agentplane.curate.recorded import Observed
from tests.bench.curator import truth
from tests.bench.curator.draw import Case, Draw, kept_draw
from tests.bench.curator.releases import History, git, histories


class Result(msgspec.Struct, frozen=True):
    case: Case
    state: str
    now: str
    versions: tuple[str, str]

    @property
    def is_right(self) -> bool:
        return self.state in self.case.truth.accepted and not self.is_misplaced

    @property
    def is_misplaced(self) -> bool:
        """True if the place is named, and is another one."""
        known = self.case.truth.places
        return bool(known) and self.state in truth.SAME and self.now not in known

    @property
    def is_missed(self) -> bool:
        return self.case.truth.is_changed and self.state in truth.SAME

    @property
    def is_false_alarm(self) -> bool:
        return self.case.truth.accepted <= truth.SAME and self.state in (truth.CHANGED, truth.GONE)


def results(only: frozenset[str], seed: int) -> Iterator[tuple[History, Draw, list[Result]]]:
    for history in histories(only):
        drawn = kept_draw(history, seed)
        yield history, drawn, list(_judged(history, drawn.cases))


def _judged(history: History, cases: Sequence[Case]) -> Iterator[Result]:
    """Observe each anchor at its earlier release, and ask for its state at the later one."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve() / "project"
        git(history.project, "clone", "-q", "--shared", "--no-checkout", ".", str(project))
        observed = {}
        for at, release in enumerate(history.releases):
            git(project, "checkout", "-q", "--detach", release.commit)
            for case in cases:
                if case.old == at:
                    seen = tuple(observe([case.anchor.evidence], WorkTree(project)))
                    observed[case.anchor, case.old] = Observed(date(2026, 1, 1), release.commit, seen)
            for case in cases:
                if case.new == at:
                    (state,) = compare.states(observed[case.anchor, case.old], project)
                    versions = (history.releases[case.old].version, release.version)
                    yield Result(case, state.kind, state.now, versions)
