"""Edit an entry in the user's own editor."""

import sys
from collections.abc import Callable

import click

from agentplane.api import Plane
from agentplane.api.results import Committed
from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.open import ids_argument, json_option, opened
from agentplane.cli.report import carry_out, report
from agentplane.cli.review import confirming
from agentplane.commands import Edit, Mask, Merge, Tag
from agentplane.errors import AgentplaneError, BadInput
from agentplane.memory.entry import Entry
from agentplane.plane import drafts
from agentplane.text import files


@command("edit DEC-014", "edit DEC-014 --mask", "edit DEC-014 CAND-7F3K2Q --tag storage --untag db")
@ids_argument("all")
@click.option(
    "--tag",
    "add",
    multiple=True,
    metavar="TAG",
    shell_complete=complete.tags,
    help="Tag to add. Can be repeated.",
)
@click.option(
    "--untag",
    "remove",
    multiple=True,
    metavar="TAG",
    shell_complete=complete.tags,
    help="Tag to remove. Can be repeated.",
)
@click.option("--mask", is_flag=True, help="Mask likely secrets without opening the editor.")
@click.option("--confirm", "codes", metavar="FLAGS", help=confirming.HELP)
@json_option
def edit_command(
    ids: tuple[str, ...],
    add: tuple[str, ...],
    remove: tuple[str, ...],
    mask: bool,
    codes: str | None,
    as_json: bool,
) -> None:
    """Edit an entry or a candidate in your editor ($VISUAL or $EDITOR).

    To change the tags of several entries and candidates in one step, without the editor, use --tag and --untag.
    """
    if (add or remove) and (mask or codes is not None):
        raise BadInput("--tag and --untag can't be combined with --mask or --confirm.")
    if len(ids) > 1 and not (add or remove):
        raise BadInput("Edit one entry at a time.", todo="Only --tag and --untag accept several IDs.")
    plane = opened(deciding="editing")
    if add or remove:
        carry_out(plane, Tag(ids, add, remove), as_json=as_json)
        return
    if mask:
        if codes is not None:
            raise BadInput("Use either --mask or --confirm, not both.")
        carry_out(plane, Mask(ids[0]), as_json=as_json)
        output.note(
            "The history still contains the earlier text. If the secret is real, rotate it and run `agentplane prune`."
        )
        return
    memory = plane.memory.read()
    entry = memory.get(ids[0])
    core = memory.snapshot.core(entry.file, entry.id) or b""

    def take(text: bytes) -> Committed | None:
        return confirming.carried_out(plane, Edit(entry.id, text, entry.digest), codes)

    done = _edited(plane, entry, core, take)
    if done is not None:
        report(plane, done, as_json=as_json)
    elif as_json:
        output.emit("op", op=None, verb="edit", ids=[], revision=memory.snapshot.ledger.revision())
    else:
        output.note("Nothing was changed.")


def edited_merge(
    plane: Plane, candidate: str, target: str, why: str | None = None, codes: str | None = None
) -> Committed:
    """Merge a candidate into an entry, with a draft of both texts in the editor."""
    from agentplane.review.conflicts import resolve

    memory = plane.memory.read()
    into, draft = resolve.merged_draft(memory, candidate, target)
    # Of two candidates, the first is rewritten.
    first, second = memory.get(candidate).id, memory.get(target).id

    def take(text: bytes) -> Committed | None:
        # A person who closes the editor on an unchanged draft made no decision.
        unsaved = text.strip() == draft.strip()
        if unsaved:
            return None
        return confirming.carried_out(plane, Merge(first, second, text, into.digest, why), codes)

    done = _edited(plane, into, draft, take)
    if done is None:
        raise BadInput(
            "The draft was not changed, so nothing was merged.",
            todo="Combine both statements into one and save the draft.",
        )
    return done


def _edited(
    plane: Plane, entry: Entry, core: bytes, take: Callable[[bytes], Committed | None]
) -> Committed | None:
    """Open the editor on a draft until its text is accepted. The draft is kept until then."""
    path = drafts.keep(plane.layout, entry.id, core + b"\n", plane.store.token)
    before = files.read(path)
    while True:
        drafts.edit(path, before)
        try:
            done = take(files.read(path))
        except AgentplaneError as error:
            if not path.exists():
                raise BadInput("The editor deleted the draft, so nothing was changed.") from None
            output.error(error)
            if not _again():
                raise BadInput("Nothing was changed.", todo=f"Your text is saved in {path}.") from None
        else:
            path.unlink(missing_ok=True)
            return done


def _again() -> bool:
    try:
        return sys.stdin.isatty() and output.confirmed("Edit again?", default=True)
    except click.Abort:
        return False
