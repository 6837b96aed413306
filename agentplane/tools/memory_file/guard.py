"""The check that memory in the files of tools only has text of entries that are valid on this branch.

It covers the managed blocks of committed files, and `context/active.md` if it is committed. Files unchanged
since the base are skipped. In other files, every line is checked. A block for a smaller budget, of a
disconnected tool, or of an older revision passes if it adds no unapproved text. Text that people wrote around
a block isn't checked.
"""

import os
from collections.abc import Iterator, Sequence
from datetime import date

from agentplane.agents.catalog import TOOLS
from agentplane.context import active, pack_text
from agentplane.errors import AgentplaneError
from agentplane.findings import Finding, Shell
from agentplane.guard.plane_at_commit import Side, file_at, shown
from agentplane.memory.entry import Entry
from agentplane.memory.proposing import Proposal
from agentplane.plane.git import git
from agentplane.plane.git.git import ObjectId
from agentplane.review import delivery
from agentplane.review.gate import gate
from agentplane.review.gate.gate import Context
from agentplane.text import files
from agentplane.tools.memory_file import allowed_lines
from agentplane.tools.memory_file.allowed_lines import Known, Line


_REMEDY = Shell(("agentplane", "sync"), "Run ", ", then commit the updated files.")


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
                # The line itself isn't repeated, because many people can read CI logs.
                what = (
                    f"this line has text from {shown(line.id, 40)}, an entry that seems to contain a secret"
                )
            if what:
                where = f"{shown(prefix + path, 400)}:{line.number}"
                yield Finding("text-unapproved", "error", where, what, (_REMEDY,), path)


def _withheld(base: Side, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries that are withheld from all tools, under the settings of the base."""
    return delivery.searched(entries) if base.settings.gate.finds_secrets else ()


def _complaint(line: Line, known: Known) -> str | None:
    """Return the reason a line isn't from the memory, or None if it is."""
    kind = known.kind(line)
    if kind == "title":
        title = pack_text.read_title(line.text)
        return _of_title(title.about if title else "")
    if kind != "unknown":
        return None
    quoted = f'"{shown(line.raw.strip(), 100)}"'
    if line.id:
        return f"this line of {shown(line.id, 40)} has text that nobody approved on this branch: {quoted}"
    return f"this line of agentplane's block isn't in the approved memory: {quoted}"


def _of_title(about: str) -> str | None:
    """Return the reason a title is refused, or None.

    The task and the paths in it are free text, chosen by whoever asked for the context pack, so the gate
    checks them.
    """
    proposal = Proposal(type="decision", statement=about)
    verdict = gate.check(proposal, Context(today=date(2000, 1, 1)))
    if not (verdict.refused or verdict.flags):
        return None
    return (
        f'this heading names a task that looks like an instruction aimed at the reader: "{shown(about, 100)}"'
    )


def _folder(prefix: str) -> str:
    """Return the path prefix of the project in commits, derived from the prefix of its plane."""
    above = prefix.rstrip("/").rpartition("/")[0]
    return f"{above}/" if above else ""


def _tracked(now: Side, paths: Sequence[str]) -> list[str]:
    """Return the targets of these paths that Git tracks, each once."""
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
