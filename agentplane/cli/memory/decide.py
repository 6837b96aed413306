"""The commands approve, reject, deprecate, pin, unpin, adopt and revert.

Only a person at a terminal may use them.
"""

import click

from agentplane.api.committer import required
from agentplane.cli import complete, output
from agentplane.cli.memory import confirming
from agentplane.cli.memory.edit import edited_merge
from agentplane.cli.open import ids_argument, ids_option, json_option, opened, run_named
from agentplane.cli.report import carry_out, report
from agentplane.commands import Adopt, Approve, ApproveClean, Deprecate, Pin, Reject, Revert, Unpin
from agentplane.errors import BadInput


@click.command()
@ids_argument("inbox", required=False)
@click.option("--all-clean", is_flag=True, help="Every candidate without a conflict or flag, in one op.")
@click.option(
    "--from",
    "source",
    metavar="RUN",
    shell_complete=complete.runs,
    help="With --all-clean: only from this run.",
)
@click.option(
    "--kind",
    "--type",
    metavar="KIND",
    shell_complete=complete.kinds,
    help="With --all-clean: only this kind.",
)
@click.option("--tag", help="With --all-clean: only with this tag.")
@ids_option("--supersede", "shelf", "Replace this entry.")
@click.option(
    "--merge-into",
    metavar="ID",
    shell_complete=complete.ids("all"),
    help="Merge the candidate into this entry or candidate, in your editor.",
)
@click.option("--keep-both", is_flag=True, help="It stands beside what it conflicts with; say --why.")
@click.option("--alike", is_flag=True, help="Candidates that say the same leave the inbox with it.")
@ids_option("--reject", "inbox", "Also reject this candidate, in the same operation.")
@click.option("--confirm", "codes", metavar="FLAGS", help=confirming.HELP)
@click.option("--why", help="The reason; it is kept.")
@json_option
def approve_command(
    ids: tuple[str, ...],
    all_clean: bool,
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
    """Move candidates to the shelf.

    A candidate that conflicts with what was decided before is refused until you say what becomes of
    both: --supersede, --merge-into, --keep-both, or `agentplane reject`.

    A text with a likely secret, hidden characters or orders to its reader is approved on its own. You see the spot and
    confirm it.
    """
    _check_options(ids, all_clean, (source, kind, tag), (supersede, merge_into, keep_both))
    if reject and (all_clean or merge_into is not None or len(ids) != 1):
        raise BadInput(
            "--reject works with a single candidate to approve", todo="Approve the candidates individually."
        )
    if alike and (all_clean or merge_into is not None):
        raise BadInput("--alike goes with candidates that are named, and not with --merge-into")
    if codes is not None and len(ids) != 1:
        raise BadInput("--confirm works with a single candidate", todo="Confirm the candidates individually.")
    plane = opened(deciding="approving")
    if merge_into is not None:
        done = edited_merge(plane, ids[0], merge_into, why, codes)
    elif all_clean:
        command = ApproveClean(run_named(plane, source) or source, kind, tag, why)
        done = required(plane.do(command))
    else:
        from agentplane.review.conflicts.resolve import Choice

        choice = Choice(supersede, keep_both, why, alike, reject)
        done = required(confirming.carried_out(plane, Approve(ids, choice), codes))
    if not as_json:
        for candidate, entry in done.renamed.items():
            output.line(f"{candidate} -> {entry}")
    report(plane, done, as_json=as_json)


def _check_options(
    ids: tuple[str, ...], all_clean: bool, narrowing: tuple[str | None, ...], choices: tuple[object, ...]
) -> None:
    """Raise BadInput for options that don't go together."""
    if all_clean and ids:
        raise BadInput("--all-clean takes every one that is clean", todo="leave out the ids, or --all-clean.")
    if not all_clean and not ids:
        raise BadInput("name candidates, or say --all-clean", todo="`agentplane inbox` shows them.")
    if any(narrowing) and not all_clean:
        raise BadInput("--from, --kind and --tag go with --all-clean")
    if sum(map(bool, choices)) > 1 or (all_clean and any(choices)):
        raise BadInput("--supersede, --merge-into and --keep-both exclude each other and --all-clean")
    if choices[1] is not None and len(ids) != 1:
        raise BadInput("--merge-into goes with one candidate", todo="merge them one by one.")


@click.command()
@ids_argument("inbox")
@click.option("--alike", is_flag=True, help="And the candidates that say the same.")
@click.option("--why", help="The reason; it is kept.")
@json_option
def reject_command(ids: tuple[str, ...], alike: bool, why: str | None, as_json: bool) -> None:
    """Drop candidates. What is proposed again in other words is then refused, with the reason."""
    plane = opened(deciding="rejecting")
    carry_out(plane, Reject(ids, why, alike), as_json=as_json)


@click.command()
@ids_argument("shelf")
@click.option("--why", help="The reason; it is kept.")
@json_option
def deprecate_command(ids: tuple[str, ...], why: str | None, as_json: bool) -> None:
    """Take entries out of force; they stay on the shelf as deprecated."""
    plane = opened(deciding="deprecating")
    carry_out(plane, Deprecate(ids, why), as_json=as_json)


@click.command()
@ids_argument("shelf")
@json_option
def pin_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Pin entries: each comes right after the invariants in what tools are given.

    What is not pinned is left out first. An entry that is about other paths stays out of packs that are not about it.
    """
    plane = opened(deciding="pinning")
    carry_out(plane, Pin(ids), as_json=as_json)


@click.command()
@ids_argument("shelf")
@json_option
def unpin_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Take the pins of entries away."""
    plane = opened(deciding="unpinning")
    carry_out(plane, Unpin(ids), as_json=as_json)


@click.command()
@ids_argument("by hand", required=False)
@click.option("--confirm", "codes", metavar="FLAGS", help=confirming.HELP)
@json_option
def adopt_command(ids: tuple[str, ...], codes: str | None, as_json: bool) -> None:
    """Approve what was edited by hand; without an ID, all of it."""
    if codes is not None and len(ids) != 1:
        raise BadInput("--confirm works with a single entry", todo="Confirm the entries individually.")
    plane = opened(deciding="adopting")
    done = required(confirming.carried_out(plane, Adopt(ids), codes))
    report(plane, done, as_json=as_json)


@click.command()
@ids_argument("by hand", required=False)
@json_option
def revert_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Put back what was approved before an edit by hand; without an ID, all of it.

    What stood there by hand is kept in the op: `agentplane undo` brings it back.
    """
    plane = opened(deciding="reverting")
    carry_out(plane, Revert(ids), as_json=as_json)
