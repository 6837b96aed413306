"""Edit an entry in the user's own editor."""

import sys
from collections.abc import Callable
from datetime import date

import click
from msgspec import UNSET

from agentplane.api import Plane
from agentplane.api.committer import required
from agentplane.api.results import Committed
from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.open import ids_argument, invalid_option, json_option, opened
from agentplane.cli.report import carry_out, report
from agentplane.cli.review import confirming
from agentplane.commands import ChangeKind, Edit, Mask, Merge, SetFields, Tag
from agentplane.errors import AgentplaneError, BadInput
from agentplane.memory.entry import Entry
from agentplane.memory.entry_changes import FieldChanges
from agentplane.plane import drafts
from agentplane.text import days, files


@command(
    "edit DEC-014",
    "edit DEC-014 --mask",
    "edit DEC-014 CAND-7F3K2Q --tag storage --untag db",
    "edit DEC-014 ASM-002 --expires 2026-12-31",
    "edit DEC-014 --evidence src/old.py src/new.py",
    "edit ASM-002 --kind decision",
)
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
@click.option(
    "--expires",
    metavar="DATE",
    shell_complete=complete.expiry,
    help="Last day on which the entries are valid, for example `2026-12-31` or `30d`. `never` removes the date.",
)
@click.option(
    "--scope",
    multiple=True,
    metavar="GLOB",
    shell_complete=complete.files,
    help="Scope that replaces the current one. Can be repeated. An empty GLOB removes the scope.",
)
@click.option(
    "--evidence",
    multiple=True,
    nargs=2,
    metavar="OLD NEW",
    shell_complete=complete.files,
    help="Evidence to replace, and its replacement. Can be repeated. An empty NEW removes the evidence.",
)
@click.option(
    "--add-evidence",
    multiple=True,
    metavar="TEXT",
    shell_complete=complete.files,
    help="Evidence to add. Can be repeated.",
)
@click.option(
    "--check",
    metavar="TEXT",
    help="Condition that the entries depend on. An empty TEXT removes the condition.",
)
@click.option(
    "--kind",
    metavar="KIND",
    shell_complete=complete.kinds,
    help="New kind for an approved entry. The result is a new entry with a new ID, which supersedes the earlier entry.",
)
@click.option("--mask", is_flag=True, help="Mask likely secrets without opening the editor.")
@click.option("--confirm", "codes", metavar="FLAGS", help=confirming.HELP)
@json_option
def edit_command(
    ids: tuple[str, ...],
    add: tuple[str, ...],
    remove: tuple[str, ...],
    expires: str | None,
    scope: tuple[str, ...],
    evidence: tuple[tuple[str, str], ...],
    add_evidence: tuple[str, ...],
    check: str | None,
    kind: str | None,
    mask: bool,
    codes: str | None,
    as_json: bool,
) -> None:
    """Edit an entry or a candidate in your editor ($VISUAL or $EDITOR).

    To change fields of several entries and candidates in one step, without the editor, use --tag, --untag, --expires,
    --scope, --evidence, --add-evidence and --check. Their statements stay the same.
    """
    is_set = bool(scope or evidence or add_evidence) or expires is not None or check is not None
    _check_options(
        ids, tags=bool(add or remove), fields=is_set, kind=kind is not None, mask=mask, codes=codes
    )
    plane = opened(deciding="editing")
    if is_set:
        changes = FieldChanges(
            expires_at=UNSET if expires is None else _day(expires, plane),
            scope=UNSET if not scope else () if scope == ("",) else scope,
            check=UNSET if check is None else check.strip() or None,
            add_tags=add,
            remove_tags=remove,
            evidence=evidence,
            add_evidence=add_evidence,
        )
        done = confirming.carried_out(plane, SetFields(ids, changes), codes)
        report(plane, required(done), as_json=as_json)
        return
    if kind is not None:
        done = confirming.carried_out(plane, ChangeKind(ids[0], kind), codes)
        report(plane, required(done), as_json=as_json)
        return
    if add or remove:
        carry_out(plane, Tag(ids, add, remove), as_json=as_json)
        return
    if mask:
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

    done = edited(plane, entry, core, take)
    if done is not None:
        report(plane, done, as_json=as_json)
    elif as_json:
        output.emit("op", op=None, verb="edit", ids=[], revision=memory.snapshot.ledger.revision())
    else:
        output.note("Nothing was changed.")


def _check_options(
    ids: tuple[str, ...], *, tags: bool, fields: bool, kind: bool, mask: bool, codes: str | None
) -> None:
    """Refuse options that can't be combined."""
    if mask and codes is not None:
        raise BadInput("Use either --mask or --confirm, not both.")
    if (tags and not fields) and (mask or codes is not None):
        raise BadInput("--tag and --untag can't be combined with --mask or --confirm.")
    if mask and (fields or kind):
        raise BadInput("--mask can't be combined with other changes.")
    if kind and (tags or fields):
        raise BadInput(
            "--kind can't be combined with other changes.", todo="Change the kind first, then the fields."
        )
    if len(ids) > 1 and (kind or not (tags or fields)):
        raise BadInput(
            "Edit one entry at a time.",
            todo="Only options that change fields, such as --tag and --expires, accept several IDs.",
        )


def _day(text: str, plane: Plane) -> date | None:
    """Return the expiry date that a person typed, or None for `never`."""
    if text.strip().lower() == "never":
        return None
    day = days.ahead(text, plane.today())
    if day is None:
        todo = "Use a date such as 2026-12-31, a number of days such as 30d, or `never`."
        raise invalid_option("--expires", text, todo)
    return day


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

    done = edited(plane, into, draft, take)
    if done is None:
        raise BadInput(
            "The draft was not changed, so nothing was merged.",
            todo="Combine both statements into one and save the draft.",
        )
    return done


def edited(
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
