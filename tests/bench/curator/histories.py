"""Anchors drawn from the histories of real packages: the state that the curator names, against the truth."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import msgspec
from msgspec.structs import replace

from agentplane.curate.anchors import compare
from agentplane.curate.anchors.bulk import Piece, compared
from agentplane.curate.anchors.observe import observe
from agentplane.curate.anchors.tree import WorkTree
from agentplane.curate.recorded import Observed
from agentplane.jobs import ignore
from agentplane.plane.layout import Layout
from tests.bench.curator import truth
from tests.bench.curator.draw import Case, Draw, kept_draw
from tests.bench.curator.releases import History, git, histories
from tests.bench.curator.truth import Anchor


_LINES = re.compile(r"(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?")
_NOTHING = "nothing"
_QUIET = frozenset({truth.UNCHANGED, truth.REFORMATTED, _NOTHING})
"""States that give no finding."""


class Result(msgspec.Struct, frozen=True):
    case: Case
    state: str
    now: str
    versions: tuple[str, str]

    together: str
    """The state that a pass over many entries finds."""
    from_git: str
    """The same, if only the commit of the approval is known."""

    @property
    def differs(self) -> bool:
        """True if a pass over many entries finds something else."""
        here = _NOTHING if self.state in _QUIET else self.state
        return any((_NOTHING if one in _QUIET else one) != here for one in (self.together, self.from_git))

    @property
    def is_right(self) -> bool:
        return self.state in self.case.truth.accepted and not self.is_misplaced

    @property
    def is_misplaced(self) -> bool:
        """True if the place is named, and is another one."""
        known = self.case.truth.places
        return bool(known) and self.state in truth.SAME and not any(_is_place(self.now, one) for one in known)

    @property
    def is_missed(self) -> bool:
        return self.case.truth.is_changed and self.state in truth.SAME

    @property
    def is_false_alarm(self) -> bool:
        return self.case.truth.accepted <= truth.SAME and self.state in (truth.CHANGED, truth.GONE)


def _is_place(named: str, right: str) -> bool:
    """True if two places are the same but for the first and the last line, which may be blank."""
    one, other = _LINES.fullmatch(named), _LINES.fullmatch(right)
    if not one or not other or one["path"] != other["path"]:
        return named == right
    ends = [(int(found["first"]), int(found["last"] or found["first"])) for found in (one, other)]
    return ends[1][0] <= ends[0][0] <= ends[1][0] + 1 and ends[1][1] - 1 <= ends[0][1] <= ends[1][1]


def results(only: frozenset[str], seed: int) -> Iterator[tuple[History, Draw, list[Result]]]:
    for history in histories(only):
        drawn = kept_draw(history, seed)
        yield history, drawn, list(_judged(history, drawn.cases))


def _judged(history: History, cases: Sequence[Case]) -> Iterator[Result]:
    """Observe each anchor at its earlier release, and ask for its state at the later one."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve() / "project"
        git(history.project, "clone", "-q", "--shared", "--no-checkout", ".", str(project))
        layout = Layout(root=project / ".agentplane")
        observed: dict[tuple[Anchor, int], Observed] = {}
        for at, release in enumerate(history.releases):
            git(project, "checkout", "-q", "--detach", release.commit)
            for case in cases:
                if case.old == at:
                    seen = tuple(observe([case.anchor.evidence], WorkTree(project)))
                    observed[case.anchor, case.old] = Observed(date(2026, 1, 1), release.commit, seen)
            ending = [case for case in cases if case.new == at]
            seen_then = [observed[case.anchor, case.old] for case in ending]
            together = _together(ending, seen_then, layout)
            from_git = _together(ending, [replace(one, evidence=None) for one in seen_then], layout)
            for number, case in enumerate(ending):
                (state,) = compare.states(seen_then[number], project)
                versions = (history.releases[case.old].version, release.version)
                other = (together.get(number, _NOTHING), from_git.get(number, _NOTHING))
                yield Result(case, state.kind, state.now, versions, *other)


def _together(cases: Sequence[Case], observed: Sequence[Observed], layout: Layout) -> dict[int, str]:
    """Return the states as a pass over many entries finds them. It leaves out what is plainly unchanged."""
    pieces = [
        Piece(str(number), case.anchor.evidence, one.evidence[0] if one.evidence else None, one.commit)
        for number, (case, one) in enumerate(zip(cases, observed, strict=True))
    ]
    return {int(piece.entry): state.kind for piece, state in compared(pieces, layout, ignore)}
