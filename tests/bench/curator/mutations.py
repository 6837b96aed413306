"""Fourteen kinds of change, made to sample projects in five languages. Each case is a Git repository of its own.

A change leaves the claim of an entry true, or breaks it. The label comes from how the change was made. The first
definitions of the Python and TypeScript projects make the 28 cases that other programs were measured with.
"""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal

import msgspec

from agentplane.api import Plane
from agentplane.curate.anchors import compare
from agentplane.curate.anchors.observe import observe
from agentplane.curate.anchors.tree import WorkTree
from agentplane.curate.kinds import Kind
from agentplane.curate.recorded import Observed
from agentplane.memory.proposing import Proposal
from agentplane.plane import create
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Store
from tests.bench.curator.releases import git
from tests.bench.curator.samples import LANGUAGES
from tests.bench.curator.samples.project import Project, Swap, Target


Files = Mapping[str, str]
Form = Literal["symbol", "lines"]
FOUND: dict[Kind, str] = {
    "evidence-changed": "changed",
    "evidence-gone": "gone",
    "evidence-moved": "moved",
    "unreadable": "cant-tell",
}
"""The states that give a finding, by its kind."""
ALARMS = frozenset({"changed", "gone"})
_MARK = re.compile(r"[ \t]*(<<<|>>>) (\w+)")


class Sample(msgspec.Struct, frozen=True):
    """The files of a project, and the lines of its regions."""

    files: Files
    regions: Mapping[tuple[str, str], tuple[int, int]]
    """By file and name. Lines are counted from 0, and the last one isn't part of the region."""


class Case(msgspec.Struct, frozen=True):
    language: str
    kind: str
    target: Target
    form: Form
    evidence: str
    is_broken: bool
    before: Files
    steps: tuple[Files, ...]
    """The files after each change. A revert has two."""
    is_committed: bool

    @property
    def title(self) -> str:
        return f"{self.language}, {self.kind}: {self.evidence}"


class Result(msgspec.Struct, frozen=True):
    case: Case
    state: str
    now: str
    found: str | None = None
    """The state that `agentplane curate` reports, if it was asked. "nothing" without a finding."""

    @property
    def differs(self) -> bool:
        """True if `agentplane curate` says something else."""
        usual = "nothing" if self.state in ("unchanged", "reformatted") else self.state
        return self.found not in (None, usual)

    @property
    def is_missed(self) -> bool:
        return self.case.is_broken and self.state not in ALARMS

    @property
    def is_false_alarm(self) -> bool:
        return not self.case.is_broken and self.state in ALARMS


def sample(project: Project) -> Sample:
    files: dict[str, str] = {}
    regions: dict[tuple[str, str], tuple[int, int]] = {}
    for path, text in project.files.items():
        kept: list[str] = []
        for line in text.splitlines(keepends=True):
            mark = _MARK.fullmatch(line.rstrip("\n"))
            if mark is None:
                kept.append(line)
            elif mark[1] == "<<<":
                regions[path, mark[2]] = (len(kept), len(kept))
            else:
                regions[path, mark[2]] = (regions[path, mark[2]][0], len(kept))
        files[path] = "".join(kept)
    return Sample(files, regions)


class Change:
    """Changes one definition of a sample."""

    def __init__(self, project: Project, target: Target) -> None:
        self.project, self.target = project, target
        self.sample = sample(project)
        self.files = dict(self.sample.files)

    def comment(self) -> Files:
        """A comment above a line, and one at its end."""
        lines = self._text().splitlines(keepends=True)
        at = self._line_of(self.target.constant[0])
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        remark = self.project.remark
        lines[at : at + 1] = [
            f"{indent}{remark} Agreed with the operators in March, see #482.\n",
            f"{lines[at].rstrip()}  {remark} see above\n",
        ]
        return self._with("".join(lines))

    def formatting(self) -> Files:
        return self._swapped(self.target.formatting)

    def documentation(self) -> Files:
        return self._swapped(self.target.docs)

    def file_renamed(self) -> Files:
        path, follows = self.target.renamed_file
        old, _, new = follows.partition("|")
        text = self._text().replace(old, new) if old else self._text()
        return {**{name: kept for name, kept in self.files.items() if name != self.target.path}, path: text}

    def definition_moved(self) -> Files:
        first, last = self.sample.regions[self.target.path, self.target.region]
        lines = self._text().splitlines(keepends=True)
        moved = "".join(lines[first:last]).rstrip("\n") + "\n"
        left = self.target.imported + "".join(lines[:first] + lines[last:])
        there = self.files[self.target.moved_to]
        before = self.target.before
        if before:
            assert there.count(before) == 1, before
            there = there.replace(before, f"{moved}\n{before}")
        else:
            there = f"{there}\n\n{moved}"
        return {**self.files, self.target.path: left, self.target.moved_to: there}

    def symbol_renamed(self) -> Files:
        word = re.compile(rf"\b{self.target.name}\b")
        return {path: word.sub(self.target.renamed, text) for path, text in self.files.items()}

    def reverted(self) -> tuple[Files, Files]:
        return self.constant(), self.files

    def other_changed(self) -> Files:
        first, last = self.sample.regions[self.target.path, self.target.name]
        old, new = self.target.other
        lines = self._text().splitlines(keepends=True)
        outside = "".join(lines[:first]), "".join(lines[last:])
        assert sum(text.count(old) for text in outside) == 1, old
        return self._with(
            "".join((outside[0].replace(old, new), *lines[first:last], outside[1].replace(old, new)))
        )

    def inserted_above(self) -> Files:
        first, _ = self.sample.regions[self.target.path, self.target.region]
        lines = self._text().splitlines(keepends=True)
        return self._with(
            "".join((*lines[:first], self.target.helper or self.project.helper, *lines[first:]))
        )

    def signature(self) -> Files:
        return self._swapped(self.target.signature)

    def constant(self) -> Files:
        return self._swapped(self.target.constant)

    def logic(self) -> Files:
        return self._swapped(self.target.logic)

    def definition_deleted(self) -> Files:
        first, last = self.sample.regions[self.target.path, self.target.name]
        lines = self._text().splitlines(keepends=True)
        return self._with("".join(lines[:first] + lines[last:]))

    def file_deleted(self) -> Files:
        return {path: text for path, text in self.files.items() if path != self.target.path}

    def lines(self) -> tuple[int, int]:
        """The lines of the definition without blank lines and comments around it, counted from 1."""
        first, last = self.sample.regions[self.target.path, self.target.name]
        lines = self._text().splitlines()
        while lines[first].strip().startswith((self.project.remark, "/*", "*")):
            first += 1
        while not lines[last - 1].strip():
            last -= 1
        return first + 1, last

    def _text(self) -> str:
        return self.files[self.target.path]

    def _with(self, text: str) -> Files:
        return {**self.files, self.target.path: text}

    def _swapped(self, swap: Swap) -> Files:
        """Change the only occurrence within the definition."""
        first, last = self.sample.regions[self.target.path, self.target.name]
        lines = self._text().splitlines(keepends=True)
        inside = "".join(lines[first:last])
        assert inside.count(swap[0]) == 1, (
            f"{self.target.symbol}: {swap[0]!r} occurs {inside.count(swap[0])} times"
        )
        return self._with("".join((*lines[:first], inside.replace(*swap), *lines[last:])))

    def _line_of(self, text: str) -> int:
        first, last = self.sample.regions[self.target.path, self.target.name]
        lines = self._text().splitlines()
        (at,) = (at for at in range(first, last) if text.splitlines()[0] in lines[at])
        return at


KINDS: dict[str, tuple[bool, Callable[[Change], Files | tuple[Files, ...]]]] = {
    "comment": (False, Change.comment),
    "formatting": (False, Change.formatting),
    "documentation": (False, Change.documentation),
    "file renamed": (False, Change.file_renamed),
    "definition moved": (False, Change.definition_moved),
    "symbol renamed": (False, Change.symbol_renamed),
    "reverted": (False, Change.reverted),
    "another function changed": (False, Change.other_changed),
    "lines inserted above": (False, Change.inserted_above),
    "signature": (True, Change.signature),
    "constant": (True, Change.constant),
    "logic": (True, Change.logic),
    "definition deleted": (True, Change.definition_deleted),
    "file deleted": (True, Change.file_deleted),
}
"""Each kind of change, and whether it breaks the claim."""


def cases(form: Form) -> Iterator[Case]:
    """Yield a case for each definition of each language, and each kind of change."""
    for language, project in LANGUAGES.items():
        for number, target in enumerate(project.targets):
            for at, (kind, (is_broken, made)) in enumerate(KINDS.items()):
                change = Change(project, target)
                after = made(change)
                yield Case(
                    language,
                    kind,
                    target,
                    form,
                    _evidence(change, form),
                    is_broken,
                    change.files,
                    after if isinstance(after, tuple) else (after,),
                    # A third is looked at before the change is committed.
                    is_committed=(at + number) % 3 != 0,
                )


def side_by_side() -> list[Case]:
    """Return the 28 cases that other programs were measured with."""
    firsts = [LANGUAGES[language].targets[0] for language in ("python", "typescript")]
    return [case for case in cases("symbol") if case.target in firsts]


def judged(case: Case, *, through_plane: bool = False) -> Result:
    state = state_after(case.evidence, case.before, case.steps, is_committed=case.is_committed)
    return Result(case, state.kind, state.now, finding_after(case) if through_plane else None)


def finding_after(case: Case) -> str:
    """Approve an entry with the claim and its evidence, make the change, and return the kind of what `curate` finds."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve()
        git(project, "init", "-q", "-b", "main")
        write(project, {}, case.before)
        commit(project, "Base", 0)
        plane = Plane(Store(Layout(root=project / ".agentplane")), Origin("Bench", "terminal", "bench"))
        create.create(plane.store, plane.origin)
        entry = plane.inbox.propose(
            Proposal(type="decision", statement=case.target.claim, evidence=[case.evidence])
        )
        plane.inbox.approve([entry])
        commit(project, "Approved", 1)
        files = case.before
        for day, after in enumerate(case.steps, 2):
            write(project, files, after)
            if case.is_committed or day <= len(case.steps):
                commit(project, f"Change {day}", day)
            files = after
        made = plane.curator.collect(only=tuple(FOUND))
        assert not made.troubles, made.troubles
        (state,) = {FOUND[finding.kind] for finding in made.findings} or {"nothing"}
        return state


def state_after(evidence: str, before: Files, steps: Sequence[Files], *, is_committed: bool) -> compare.State:
    """Observe evidence in a Git repository, change the files step by step, and return the state of the evidence."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve()
        git(project, "init", "-q", "-b", "main")
        write(project, {}, before)
        first = commit(project, "Base", 0)
        observed = Observed(date(2026, 1, 1), first, tuple(observe([evidence], WorkTree(project))))
        files = before
        for day, after in enumerate(steps, 1):
            write(project, files, after)
            if is_committed or day < len(steps):
                commit(project, f"Change {day}", day)
            files = after
        (state,) = compare.states(observed, project)
        return state


def _evidence(change: Change, form: Form) -> str:
    if form == "symbol":
        return f"{change.target.path}#{change.target.symbol}"
    first, last = change.lines()
    return f"{change.target.path}:{first}-{last}"


def write(project: Path, before: Files, after: Files) -> None:
    for path in before.keys() - after.keys():
        (project / path).unlink()
    for path, text in after.items():
        if before.get(path) != text:
            target = project / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


def commit(project: Path, message: str, day: int) -> str:
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", message, day=day)
    return git(project, "rev-parse", "HEAD")
