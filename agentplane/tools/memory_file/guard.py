"""What the files of tools say in the name of the memory: every line is the text of an entry that counts on this branch.

Looked at are the managed blocks of committed files, and `context/active.md` where it is committed. A file that is as
at the base is not looked at. Else each line is: so a block for a smaller budget, one of a tool that is not connected any
more, or one that somebody forgot to update passes, as long as it brings nothing new that nobody approved. What others wrote around a
block is theirs.
"""

import os
from collections.abc import Iterator, Sequence
from datetime import date

from agentplane.agents.catalog import TOOLS
from agentplane.context import active, pack
from agentplane.errors import AgentplaneError
from agentplane.findings import Finding, Shell
from agentplane.guard.plane_at_commit import Side, file_at, shown
from agentplane.memory.entry import Entry
from agentplane.memory.operations import Proposal
from agentplane.plane.git import git
from agentplane.plane.git.git import ObjectId
from agentplane.review import delivery
from agentplane.review.gate import gate
from agentplane.review.gate.gate import Context
from agentplane.text import files
from agentplane.tools.memory_file import allowed_lines
from agentplane.tools.memory_file.allowed_lines import Known, Line


_REMEDY = Shell(("agentplane", "sync"), "run ", ", and commit what it writes.")


def findings(base: Side, now: Side, commit: ObjectId | None) -> Iterator[Finding]:
    project, prefix = now.layout.project, _folder(now.prefix)
    plane = now.layout.root.name
    wanted = dict.fromkeys(tool.target.path for tool in TOOLS)
    texts: list[bytes] = []
    fresh: list[tuple[str, Line]] = []
    for path in _tracked(now, [*wanted, f"{plane}/{active.ACTIVE}"]):
        data = _read(os.path.join(project, path))
        if data is None:
            continue
        old = file_at(base.layout, commit, _folder(base.prefix) + path) if commit else None
        if data == old:
            continue
        read = allowed_lines.lines if path.endswith(active.ACTIVE) else allowed_lines.blocks
        before = {line.key for line in read(old or b"")}
        texts.append(data)
        fresh += [(path, line) for line in read(data) if line.key not in before]
    if fresh:
        entries = [entry for entry in now.memory.approved() if entry.head.status == "accepted"]
        edited = [edit.id for edit in now.memory.hand_edits]
        held = _withheld(base, entries)
        given = [entry for entry in entries if entry not in held]
        known = allowed_lines.known(given, plane, texts, now.log, edited)
        secret = allowed_lines.known(held, plane)
        for path, line in fresh:
            what = _complaint(line, known)
            if what and secret.kind(line) == "entry":
                # The line itself is not repeated, because logs of CI are read by many.
                what = f"has text of {shown(line.id, 40)}, which looks like it contains a secret"
            if what:
                where = f"{shown(prefix + path, 400)}:{line.number}"
                yield Finding("text-unapproved", "error", where, what, (_REMEDY,), path)


def _withheld(base: Side, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries that no tool gets, under the settings of the base."""
    return delivery.searched(entries) if base.settings.gate.finds_secrets else ()


def _complaint(line: Line, known: Known) -> str | None:
    """Why a line is not what the memory gives; None where it is."""
    kind = known.kind(line)
    if kind == "title":
        title = pack.read_title(line.text)
        return _of_title(title.about if title else "")
    if kind != "unknown":
        return None
    said = f'"{shown(line.raw.strip(), 100)}"'
    if line.id:
        return f"gives {shown(line.id, 40)} words that nobody approved on this branch: {said}"
    return f"says in the name of the memory what the memory does not: {said}"


def _of_title(about: str) -> str | None:
    """A task and paths are free text. Whoever asked chose them, so the gate has a look."""
    proposal = Proposal(type="decision", statement=about)
    verdict = gate.check(proposal, Context(today=date(2000, 1, 1)))
    if not (verdict.refused or verdict.flags):
        return None
    return f'was made for a task that reads as an order: "{shown(about, 100)}"'


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
