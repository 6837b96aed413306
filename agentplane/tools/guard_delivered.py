"""What the files of tools say in the name of the memory: every line is the text of an entry that counts on this branch.

Looked at are the managed blocks of committed files, and `context/active.md` where it is committed. A file that is as
at the base is not looked at. Else each line is: so a block for a smaller budget, one of a tool that is not connected any
more, or one that somebody forgot to update passes, as long as it brings nothing new that nobody approved. What others wrote around a
block is theirs.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

import msgspec

from agentplane.context import active, notes, pack
from agentplane.context.choose import KINDS, PINNED, Ask
from agentplane.context.pack import Sources
from agentplane.errors import AgentplaneError
from agentplane.findings import Finding
from agentplane.memory.entry import Entry
from agentplane.memory.verbs import Proposal
from agentplane.plane import git
from agentplane.plane.git import ObjectId
from agentplane.review import gate
from agentplane.review.gate import Context
from agentplane.runs import capsule
from agentplane.runs.sides import Side, shown
from agentplane.text import files
from agentplane.tools import block
from agentplane.tools.table import ACTIVE, TOOLS


_HEAD = re.compile(
    r"- (?P<id>[A-Za-z][A-Za-z0-9]{0,15}-[A-Za-z0-9]{1,24})(?P<since> \[[0-9-]{10}\])?(?=[:,])"
)
_TITLE = re.compile(r"# Project memory, revision [0-9A-Za-z]{0,40}(?P<about>, .*)?")
_NO_ID, _COUNT = "ZZ-0", 987654321
_LISTED = r"[A-Za-z0-9-]+(?:, [A-Za-z0-9-]+)*(?: and [0-9]+ more)?"
_RUN = re.compile(r"[0-9]{8}T[0-9]{6}Z-[a-z0-9]{6}")
_REMEDY = "run `agentplane sync`, and commit what it writes."


class _Line(msgspec.Struct, frozen=True):
    number: int
    id: str
    """The entry that it is part of, as far as it looks so."""
    text: str
    """Without what says since when an entry counts."""
    raw: str


def findings(base: Side, now: Side, commit: ObjectId | None) -> Iterator[Finding]:
    project, prefix = now.layout.project, _folder(now.prefix)
    plane = now.layout.root.name
    wanted = dict.fromkeys(tool.target.path for tool in TOOLS)
    paths = _tracked(now, [*wanted, f"{plane}/{active.ACTIVE}"])
    known: _Known | None = None
    for path in paths:
        data = _read(os.path.join(project, path))
        if data is None:
            continue
        old = _at_base(base, commit, _folder(base.prefix) + path) or b""
        if data == old:
            continue
        whole = path.endswith(active.ACTIVE)
        before = {(line.id, line.text) for line in _lines(old, whole)}
        fresh = [line for line in _lines(data, whole) if (line.id, line.text) not in before]
        if fresh:
            known = known or _Known(now, plane)
            for line in fresh:
                if what := known.complaint(line, data):
                    yield Finding("error", f"{shown(prefix + path, 400)}:{line.number}", what, _REMEDY)


def _folder(prefix: str) -> str:
    """The project as commits name it, from the folder of its plane."""
    above = prefix.rstrip("/").rpartition("/")[0]
    return f"{above}/" if above else ""


def _tracked(now: Side, paths: Sequence[str]) -> list[str]:
    """Those that git has, by the files that links lead to, each once."""
    project = os.path.realpath(now.layout.project)
    real = dict.fromkeys(
        os.path.relpath(os.path.realpath(os.path.join(project, path)), project) for path in paths
    )
    inside = [path for path in real if not path.startswith("..")]
    return sorted(git.tracked(now.layout.project, inside) or ())


def _read(path: str) -> bytes | None:
    try:
        return files.read_if(path)
    except AgentplaneError:
        return None


def _at_base(base: Side, commit: ObjectId | None, path: str) -> bytes | None:
    tree = git.tree(base.layout.root, commit, path) if commit else None
    blob = (tree or {}).get("")
    return git.contents(base.layout.root, [blob.oid]).get(blob.oid) if blob else None


def _lines(data: bytes, whole: bool) -> Iterator[_Line]:
    """What a file says in the name of the memory, line by line; empty lines say nothing."""
    for start, text in [(1, data)] if whole else _blocks(data):
        id_ = ""
        for number, line in enumerate(text.decode(errors="replace").splitlines(), start):
            head = _HEAD.match(line)
            id_ = head["id"] if head else id_ if line.startswith("  ") else ""
            if line.strip():
                yield _Line(number, id_, line if head is None else f"- {id_}{line[head.end() :]}", line)


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Every managed block: the line at which what it holds begins, and that."""
    at = 0
    while found := block.find(data[at:]):
        yield data.count(b"\n", 0, at + found.inside) + 1, found.content(data[at:])
        at += found.end


class _Known:
    """What the memory of a branch gives. Made once, when a line is asked about."""

    def __init__(self, now: Side, plane: str) -> None:
        self.now = now
        self.imports = f"@{ACTIVE.replace('.agentplane', plane, 1)}"
        entries = [entry for entry in now.memory.approved() if entry.head.status == "accepted"]
        self.lines = {(entry.id, line) for entry in entries for line in _of_entry(entry)}
        self.frame = set(_frame(Sources("", ()), Ask()))
        names = [*KINDS, PINNED, *(entry.head.type for entry in entries)]
        self.frame |= {f"## {pack.title(name)}" for name in names}
        self.patterns = _patterns()
        self.told: dict[str, set[str]] = {}
        """The lines about runs that were asked about."""

    def complaint(self, line: _Line, data: bytes) -> str | None:
        """Why a line is not what the memory gives; None where it is."""
        text = line.text.rstrip()
        if (line.id, text) in self.lines or text in self.frame or text == self.imports:
            return None
        if (title := _TITLE.fullmatch(text)) is not None:
            return self._of_title(title["about"] or "")
        if any(pattern.fullmatch(text) for pattern in self.patterns) or text in self._of_runs(data):
            return None
        said = f'"{shown(line.raw.strip(), 100)}"'
        if line.id:
            return f"gives {shown(line.id, 40)} words that nobody approved on this branch: {said}"
        return f"says in the name of the memory what the memory does not: {said}"

    def _of_runs(self, data: bytes) -> set[str]:
        """The lines about the last run, of each run that the log holds and that the file names."""
        named = set(_RUN.findall(data.decode(errors="replace")))
        if named - self.told.keys():
            self.told |= {run_id: self._of_run(run_id) for run_id in named - self.told.keys()}
        return {line for run_id in named for line in self.told[run_id]}

    def _of_run(self, run_id: str) -> set[str]:
        mark = f'"run_id":"{run_id}"'.encode()
        found: set[str] = set()
        for line in self.now.log:
            if b'"kind":"run"' not in line or mark not in line:
                continue
            try:
                run = capsule.read_event(line)
            except msgspec.MsgspecError:
                continue
            found |= set(_frame(Sources("", (), last_run=notes.of(run)), Ask()))
        return found

    def _of_title(self, about: str) -> str | None:
        """A task and paths are free text. Whoever asked chose them, so the gate has a look."""
        if not about:
            return None
        proposal = Proposal(type="decision", statement=about.removeprefix(", "))
        verdict = gate.check(proposal, Context(today=date(2000, 1, 1)))
        if not (verdict.refused or verdict.flags):
            return None
        return f'was made for a task that reads as an order: "{shown(about, 100)}"'


def _of_entry(entry: Entry) -> Iterator[str]:
    """The lines of an entry in a pack, pinned or not, and in part or in full."""
    for pinned in (False, True):
        one = msgspec.structs.replace(entry, head=msgspec.structs.replace(entry.head, pinned=pinned))
        for line in pack.item(one, full=True).splitlines():
            head = _HEAD.match(line)
            yield (line if head is None else f"- {head['id']}{line[head.end() :]}").rstrip()


def _frame(sources: Sources, ask: Ask) -> Iterable[str]:
    """The lines that are the same for every memory."""
    return (line.rstrip() for line in pack.make(sources, ask).text.splitlines() if line.strip())


def _patterns() -> list[re.Pattern[str]]:
    """What a pack says of what is not in it, with any ids and counts."""
    lines = pack.warnings(Sources("", (), waiting=_COUNT, hand_edits=(_NO_ID,)), [_NO_ID])
    ready = (re.escape(f"- {line}").replace(re.escape(_NO_ID), _LISTED) for line in lines)
    frame = "## Not in here"
    return [re.compile(line.replace(str(_COUNT), "[0-9]+")) for line in (*ready, re.escape(frame))]
