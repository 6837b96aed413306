"""The commands approve, reject, renew, deprecate and pin.

Only a person at a terminal may use them.
"""

from collections.abc import Collection
from typing import Literal

import click

from agentplane.api import Plane
from agentplane.api.committer import required
from agentplane.api.results import Committed
from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.open import ids_argument, ids_option, json_option, opened, run_named
from agentplane.cli.report import carry_out, report
from agentplane.cli.review import confirming
from agentplane.cli.review.edit import edited_merge
from agentplane.commands import Adopt, Approve, ApproveClean, Deprecate, Pin, Reject, Renew, Revert, Unpin
from agentplane.errors import BadInput
from agentplane.memory import ids as entry_ids
from agentplane.text.visible import one_line


@command(
    "approve CAND-7F3K2Q",
    "approve --all-clean --kind fact",
    "approve CAND-7F3K2Q --supersede DEC-014",
    "approve DEC-014",
)
@ids_argument("to review", required=False)
@click.option("--all-clean", is_flag=True, help="Approve every candidate that has no conflicts or flags.")
@click.option(
    "--edits",
    is_flag=True,
    help="Accept only manual edits. If you don't pass IDs, agentplane accepts all manual edits.",
)
@click.option(
    "--from",
    "source",
    metavar="RUN",
    shell_complete=complete.runs,
    help="With --all-clean, approve only candidates from this run.",
)
@click.option(
    "--kind",
    "--type",
    metavar="KIND",
    shell_complete=complete.kinds,
    help="With --all-clean, approve only candidates of this kind.",
)
@click.option(
    "--tag",
    metavar="TAG",
    shell_complete=complete.tags,
    help="With --all-clean, approve only candidates with this tag.",
)
@ids_option("--supersede", "shelf", "Entry to replace. Can be repeated.")
@click.option(
    "--merge-into",
    metavar="ID",
    shell_complete=complete.ids("all"),
    help="Entry or candidate to merge this candidate into. Opens your editor.",
)
@click.option(
    "--keep-both",
    is_flag=True,
    help="Approve the candidate and keep the entry that it conflicts with. Requires --why.",
)
@click.option("--alike", is_flag=True, help="Also remove duplicates of the candidate from the inbox.")
@ids_option("--reject", "inbox", "Candidate to reject in the same operation. Can be repeated.")
@click.option("--confirm", "codes", metavar="FLAGS", help=confirming.HELP)
@click.option("--why", metavar="TEXT", help="Reason to record with the change.")
@json_option
def approve_command(
    ids: tuple[str, ...],
    all_clean: bool,
    edits: bool,
    source: str | None,
    kind: str | None,
    tag: str | None,
    supersede: tuple[str, ...],
    merge_into: str | None,
    keep_both: bool,
    alike: bool,
    reject: tuple[str, ...],
    codes: str | None,
    why: str | None,
    as_json: bool,
) -> None:
    """Approve candidates, or accept manual edits.

    If a candidate conflicts with an approved entry, you have to resolve the conflict. Use --supersede, --merge-into or
    --keep-both, or reject the candidate.

    To accept a manual edit to an approved entry, pass the ID of the entry.

    Text with a high-severity flag needs a separate command. For example, the text may contain a likely secret, hidden
    characters or instructions aimed at the reader. agentplane shows the passage and asks you to confirm it.
    """
    choices = (supersede, merge_into, keep_both)
    _check_options(ids, all_clean or edits, (source, kind, tag), choices, all_clean=all_clean)
    if reject and (all_clean or merge_into is not None or len(ids) != 1):
        raise BadInput(
            "--reject can be used only when you approve exactly one candidate.",
            todo="Approve each candidate in a separate command.",
        )
    if alike and (all_clean or merge_into is not None):
        raise BadInput("--alike can't be used with --all-clean or --merge-into.")
    if codes is not None and len(ids) != 1:
        raise BadInput("--confirm can be used with only one ID.", todo="Use a separate command for each ID.")
    plane = opened(deciding="approving")
    if edits or _review_items(plane, ids) == "edits":
        _check_no_choice(kind="accept", used=any((*choices, reject, alike, all_clean, why)))
        done: Committed = required(confirming.carried_out(plane, Adopt(ids), codes))
    elif merge_into is not None:
        done = edited_merge(plane, ids[0], merge_into, why, codes)
    elif all_clean:
        done = required(plane.do(ApproveClean(run_named(plane, source) or source, kind, tag, why)))
    else:
        from agentplane.review.conflicts.resolve import Choice

        choice = Choice(supersede, keep_both, why, alike, reject)
        done = required(confirming.carried_out(plane, Approve(ids, choice), codes))
    if not as_json:
        for candidate, entry in done.renamed.items():
            output.line(f"{candidate} -> {entry}")
    report(plane, done, as_json=as_json)


def _check_options(
    ids: tuple[str, ...],
    selects: bool,
    narrowing: tuple[str | None, ...],
    choices: tuple[object, ...],
    *,
    all_clean: bool,
) -> None:
    """Raise BadInput for options that don't go together. `selects` means that an option selects what to approve."""
    if all_clean and ids:
        raise BadInput("Use either candidate IDs or --all-clean, not both.")
    if not selects and not ids:
        raise BadInput(
            "A candidate ID or --all-clean is required.", todo="Run `agentplane inbox` to list candidates."
        )
    if any(narrowing) and not all_clean:
        raise BadInput("--from, --kind and --tag can be used only with --all-clean.")
    if sum(map(bool, choices)) > 1 or (all_clean and any(choices)):
        raise BadInput("Use only one of --supersede, --merge-into, --keep-both and --all-clean.")
    if choices[1] is not None and len(ids) != 1:
        raise BadInput(
            "--merge-into can be used with only one candidate ID.",
            todo="Merge each candidate in a separate command.",
        )


def _review_items(plane: Plane, named: tuple[str, ...]) -> Literal["candidates", "edits"]:
    """Return whether IDs name candidates or manual edits. Unknown IDs count as candidates."""
    if not named:
        return "candidates"
    memory = plane.memory.read()
    edited = {edit.id for edit in memory.all_hand_edits} - {entry.id for entry in memory.inbox}
    meant = {_meant(id_, edited | memory.entries.keys()) for id_ in named}
    if meant <= edited:
        return "edits"
    if meant & edited:
        edits, others = ", ".join(sorted(meant & edited)), ", ".join(sorted(meant - edited))
        raise BadInput(
            f"Manual edits ({edits}) and candidates ({one_line(others, 80)}) can't be reviewed in the same command.",
            todo="Review them in separate commands.",
        )
    return "candidates"


def _meant(named: str, known: Collection[str]) -> str:
    try:
        return entry_ids.match(named, known)
    except BadInput:
        return named


def _check_no_choice(*, kind: Literal["accept", "discard"], used: bool) -> None:
    if used:
        raise BadInput(
            f"These options apply only to candidates. To {kind} a manual edit, pass only the ID of the entry."
        )


@command("reject CAND-7F3K2Q", 'reject CAND-7F3K2Q --why "Covered by DEC-014."', "reject DEC-014")
@ids_argument("to review", required=False)
@click.option(
    "--edits",
    is_flag=True,
    help="Discard only manual edits. If you don't pass IDs, agentplane discards all manual edits.",
)
@click.option("--alike", is_flag=True, help="Also reject duplicates of the candidate.")
@click.option(
    "--why",
    metavar="TEXT",
    help="Reason to record. agentplane shows the reason if the statement is proposed again.",
)
@json_option
def reject_command(ids: tuple[str, ...], edits: bool, alike: bool, why: str | None, as_json: bool) -> None:
    """Reject candidates, or discard manual edits.

    If someone proposes a rejected statement again, agentplane refuses the proposal, even with different wording.

    To discard a manual edit and restore the approved text, pass the ID of the entry. `agentplane undo` restores the
    edit.
    """
    if not ids and not edits:
        raise BadInput("A candidate ID is required.", todo="Run `agentplane inbox` to list candidates.")
    plane = opened(deciding="rejecting")
    if edits or _review_items(plane, ids) == "edits":
        _check_no_choice(kind="discard", used=alike or why is not None)
        carry_out(plane, Revert(ids), as_json=as_json)
    else:
        carry_out(plane, Reject(ids, why, alike), as_json=as_json)


@command("deprecate DEC-014", 'deprecate DEC-014 --why "The service was shut down."')
@ids_argument("shelf")
@click.option("--why", metavar="TEXT", help="Reason to record with the change.")
@json_option
def deprecate_command(ids: tuple[str, ...], why: str | None, as_json: bool) -> None:
    """Mark entries as deprecated. Tools no longer receive them."""
    plane = opened(deciding="deprecating")
    carry_out(plane, Deprecate(ids, why), as_json=as_json)


@command("renew DEC-014", 'renew ASM-002 ASM-003 --why "Measured again"')
@ids_argument("shelf")
@click.option("--why", metavar="TEXT", help="Reason to record with the change.")
@json_option
def renew_command(ids: tuple[str, ...], why: str | None, as_json: bool) -> None:
    """Confirm that entries are still true.

    agentplane records the current state of the evidence. The curator reports later changes to it. The text of the
    entries stays the same.
    """
    plane = opened(deciding="renewing")
    carry_out(plane, Renew(ids, why), as_json=as_json)


@command("pin DEC-014", "pin --remove DEC-014")
@ids_argument("shelf")
@click.option("--remove", is_flag=True, help="Unpin the entries instead.")
@json_option
def pin_command(ids: tuple[str, ...], remove: bool, as_json: bool) -> None:
    """Always include entries in the context, right after the invariants.

    If the context doesn't have space for all entries, agentplane leaves out unpinned entries first. A pinned entry with a
    scope is included only in contexts about a matching path.
    """
    plane = opened(deciding="unpinning" if remove else "pinning")
    carry_out(plane, Unpin(ids) if remove else Pin(ids), as_json=as_json)
