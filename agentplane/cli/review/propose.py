"""The command propose, which anyone may use."""

import os
import sys
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from agentplane.api import Plane
from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.memory import entry_rows
from agentplane.cli.open import ids_option, json_option, opened, run_named
from agentplane.commands import Propose
from agentplane.errors import AgentplaneError, BadInput, Refused
from agentplane.memory.proposing import Proposal
from agentplane.review.conflicts.relation import Relation
from agentplane.text.visible import one_line, visible


@command(
    'propose "Store amounts in cents." --rationale "Floats lose cents."',
    'propose --type fact "The API answers 429." --evidence app/api.py:3',
    "propose - < statement.txt",
)
@click.argument("words", nargs=-1, required=True, metavar="STATEMENT")
@click.option(
    "--type",
    "--kind",
    "kind",
    shell_complete=complete.kinds,
    default="decision",
    show_default=True,
    help="Kind of the entry, for example decision, fact or assumption.",
)
@click.option("--rationale", metavar="TEXT", help="Rationale for the entry.")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    shell_complete=complete.tags,
    help="Tag for the entry. Can be repeated.",
)
@click.option(
    "--evidence",
    multiple=True,
    shell_complete=complete.files,
    metavar="REF",
    help="Evidence: a path, path:line, path#symbol, commit or URL. Can be repeated.",
)
@click.option(
    "--source",
    metavar="RUN",
    help="ID of the run to record as the source of the entry [default: the current run].",
)
@click.option("--confidence", type=float, metavar="NUMBER", help="Confidence in the statement, from 0 to 1.")
@click.option(
    "--scope", multiple=True, metavar="GLOB", help="Paths that the entry applies to. Can be repeated."
)
@ids_option("--supersedes", "shelf", "Entry to replace. Can be repeated.")
@click.option(
    "--replaces",
    metavar="ID",
    shell_complete=complete.ids("inbox"),
    help="Candidate to replace: one that you proposed and a reviewer sent back.",
)
@click.option(
    "--expires",
    "expires_at",
    metavar="DATE",
    help="Expiry date. After this date, tools no longer receive the entry.",
)
@click.option(
    "--check", metavar="CONDITION", help='Condition that must stay true, such as "file: uv.lock exists".'
)
@click.option(
    "--again",
    is_flag=True,
    help="Propose the statement even if it was rejected before (interactive only).",
)
@json_option
def propose_command(
    words: tuple[str, ...],
    kind: str,
    rationale: str | None,
    tags: tuple[str, ...],
    evidence: tuple[str, ...],
    source: str | None,
    confidence: float | None,
    scope: tuple[str, ...],
    supersedes: tuple[str, ...],
    replaces: str | None,
    expires_at: str | None,
    check: str | None,
    again: bool,
    as_json: bool,
) -> None:
    """Propose an entry for review. STATEMENT is one sentence, or `-` to read it from standard input."""
    if len(words) > 1:
        what = f"The statement must be one argument, but you passed {len(words)}: {one_line(' '.join(words), 60)}."
        raise BadInput(what, todo="Put the statement in quotes.")
    (statement,) = words
    proposal = Proposal(
        type=kind,
        statement=_read_stdin() if statement == "-" else statement,
        rationale=rationale,
        tags=list(tags),
        evidence=list(evidence),
        source=source,
        confidence=confidence,
        scope=list(scope),
        expires_at=expires_at,
        check=check,
    )
    plane = opened(deciding="proposing again" if again else None)
    known = run_named(plane, source)
    superseded = _entries_named(plane, supersedes) if supersedes else []
    proposal = msgspec.structs.replace(
        proposal, source=known or source or _run_around(plane), supersedes=superseded
    )
    try:
        relation = Relation("replaces", replaces) if replaces else None
        offered = plane.inbox.offer(Propose(proposal, again, relation))
    except Refused as error:
        if as_json:
            output.emit("propose", refused=error.what, **_repeated(error))
        raise
    id_ = offered.reviewed.entry.id
    reviewed = entry_rows.readable_candidate(offered.memory, offered.reviewed)
    if as_json:
        fields = entry_rows.as_candidate(reviewed)
        output.emit("propose", id=id_, conflicts=fields["conflicts"], flags=fields["flags"])
        return
    output.line(id_)
    from agentplane.review.conflicts.resolve import described

    for conflict in reviewed.conflicts:
        output.note(f"  {visible(described(conflict))}")
    for flag in reviewed.flags:
        output.note(f"  {visible(flag)}")
    if source and not known:
        output.note(f"  Run not found: {one_line(source, 40)}.")
    output.note("Added to the inbox for review.")


def _repeated(error: Refused) -> dict[str, Any]:
    """Return the earlier rejection that a refused proposal repeats, and the number of refusals."""
    from agentplane.review.gate.verdicts import Repeated

    if not isinstance(error, Repeated):
        return {}
    return {"earlier": msgspec.to_builtins(error.earlier), "times": error.times}


def _run_around(plane: Plane) -> str | None:
    """Return the open run that this process belongs to."""
    from agentplane.runs.open.find import open_run_here

    run = open_run_here(plane.layout, os.environ, os.getpid())
    return run.run_id if run else None


def _entries_named(plane: Plane, named: Sequence[str]) -> list[str]:
    """Return the IDs of the entries that were named.

    An unknown ID is returned unchanged and flagged later.
    """
    memory, found = plane.memory.read(), []
    for id_ in named:
        try:
            found.append(memory.get(id_).id)
        except AgentplaneError:
            found.append(id_)
    return found


def _read_stdin() -> str:
    try:
        read: str | bytes = getattr(sys.stdin, "buffer", sys.stdin).read()
        return read if isinstance(read, str) else read.decode()
    except UnicodeDecodeError:
        raise BadInput("Standard input isn't valid UTF-8.", todo="Save the text as UTF-8.") from None
