"""The commands supersede, merge and split, which replace approved entries with other approved entries."""

from collections.abc import Callable

import click

from agentplane.api import Plane
from agentplane.api.committer import required
from agentplane.api.results import Committed
from agentplane.cli import complete
from agentplane.cli.help import command
from agentplane.cli.open import ids_argument, json_option, opened
from agentplane.cli.report import carry_out, report
from agentplane.cli.review import confirming
from agentplane.cli.review.edit import edited
from agentplane.commands import MergeEntries, SplitEntry, Supersede
from agentplane.curate import merge_draft, split_draft
from agentplane.errors import BadInput
from agentplane.memory.entry import Entry
from agentplane.memory.entry_changes import accepted


_WHY = click.option("--why", metavar="TEXT", help="Reason to record with the change.")
_YES = click.option("--yes", is_flag=True, help="Accept the draft without opening the editor.")
_CONFIRM = click.option("--confirm", "codes", metavar="FLAGS", help=confirming.HELP)


@command("supersede DEC-014 --by DEC-031", 'supersede DEC-014 --by DEC-031 --why "Moved to SQLite"')
@click.argument("old", metavar="ID", shell_complete=complete.ids("shelf"))
@click.option(
    "--by",
    "new",
    required=True,
    metavar="ID",
    shell_complete=complete.ids("shelf"),
    help="Approved entry that supersedes it. Required.",
)
@_WHY
@json_option
def supersede_command(old: str, new: str, why: str | None, as_json: bool) -> None:
    """Mark an approved entry as superseded by another approved entry.

    Tools no longer receive the superseded entry. To let a candidate replace an entry, run `agentplane approve CANDIDATE
    --supersede ID` instead.
    """
    carry_out(opened(deciding="superseding"), Supersede(old, new, why), as_json=as_json)


@command("merge DEC-014 DEC-031", "merge DEC-014 DEC-031 DEC-040 --yes")
@ids_argument("shelf")
@_YES
@_WHY
@_CONFIRM
@json_option
def merge_command(ids: tuple[str, ...], yes: bool, why: str | None, codes: str | None, as_json: bool) -> None:
    """Merge approved entries that say the same thing into one entry.

    Your editor opens with a draft of the merged text. The first entry keeps its ID, gets this text, and supersedes the
    other entries. To reconcile
    branches after a Git merge, run `agentplane reconcile` instead.
    """
    plane = opened(deciding="merging")
    memory = plane.memory.read()
    # A single word isn't looked up, because it can be the name of a branch.
    entries = accepted(memory, ids) if len(ids) > 1 else []
    if len(entries) < 2:
        raise BadInput(
            "Merging requires at least two entries.",
            todo="Pass the ID of each entry. To reconcile branches after a Git merge, run `agentplane reconcile`.",
        )
    names = tuple(entry.id for entry in entries)
    draft = merge_draft.drafted(memory, names)
    seen = tuple((entry.id, entry.digest) for entry in entries)

    def take(text: bytes) -> Committed | None:
        return confirming.carried_out(plane, MergeEntries(names, text, seen, why), codes)

    done = take(draft) if yes else _from_editor(plane, entries[0], draft, take)
    report(plane, required(done), as_json=as_json)


@command("split DEC-014", "split DEC-014 --yes")
@click.argument("id", metavar="ID", shell_complete=complete.ids("shelf"))
@_YES
@_WHY
@_CONFIRM
@json_option
def split_command(id: str, yes: bool, why: str | None, codes: str | None, as_json: bool) -> None:  # noqa: A002
    """Split an approved entry with several statements into several entries.

    Your editor opens with a draft that has one entry for each statement. Each new entry has the same kind and a new
    ID. Together, they supersede the original entry.
    """
    plane = opened(deciding="splitting")
    memory = plane.memory.read()
    (entry,) = accepted(memory, [id])
    draft = split_draft.draft(memory, entry)

    def take(text: bytes) -> Committed | None:
        command = SplitEntry(entry.id, split_draft.texts(text), entry.digest, why)
        return confirming.carried_out(plane, command, codes)

    done = take(draft) if yes else _from_editor(plane, entry, draft, take)
    report(plane, required(done), as_json=as_json)


def _from_editor(
    plane: Plane, entry: Entry, draft: bytes, take: Callable[[bytes], Committed | None]
) -> Committed:
    """Carry out a command with the text from the editor. A draft that nobody changed isn't a decision."""
    done = edited(plane, entry, draft, lambda text: None if text.strip() == draft.strip() else take(text))
    if done is None:
        raise BadInput(
            "The draft was not changed, so nothing was written.",
            todo="To accept the draft unchanged, run the command with --yes.",
        )
    return done
