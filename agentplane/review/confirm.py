"""Text with a flag of high severity counts as approved only if a person saw the spot and confirmed that one text.

Every op that approves text is checked here, whichever door it came through. Nothing is taken as confirmed for several
entries at once.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.memory.entry import Entry
from agentplane.memory.shelf import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store import Plan
from agentplane.text.visible import one_line


# Commands that only look don't need the gate, which takes long to load.
if TYPE_CHECKING:
    from agentplane.review.gate_answers import Flag

_MOVES = ("approve", "supersede")
"""Verbs that put the text of a candidate on the shelf as it is."""
_WRITES = ("merge", "edit", "adopt")
"""Verbs that approve a text which a person wrote."""
_COMMANDS = ("approve", "edit", "adopt")
_NAMED = 4
_MANY = 50
"""From so many texts on, what the gate said before is read."""


class Confirmation(msgspec.Struct, frozen=True):
    """A person saw the flagged spots of one text, and approves it as it is."""

    digest: str
    """Of the text that the person saw."""
    codes: tuple[str, ...]
    """The codes of the flags."""


class Unconfirmed(Refused):
    """An op would approve text that a person has to confirm on its own."""

    def __init__(
        self, verb: str, entry: Entry, flags: "Sequence[Flag]", *, together: Sequence[str] = ()
    ) -> None:
        """`together`: the flagged ones, if the op approves other texts as well."""
        self.entry = entry
        self.flags = tuple(flags)
        self.codes = tuple(dict.fromkeys(flag.code for flag in flags))
        self.alone = not together
        name = one_line(entry.id, 40)
        if together:
            named = ", ".join(one_line(id_, 40) for id_ in together[:_NAMED])
            more = f" and {len(together) - _NAMED} more" if len(together) > _NAMED else ""
            todo = f"Decide about each on its own: `agentplane {verb} {name}`."
            super().__init__(
                f"{named}{more} can't be approved with other entries ({self.flags[0].said})", todo=todo
            )
            return
        more = f", and {len(flags) - 1} more" if len(flags) > 1 else ""
        option = f"--confirm {','.join(self.codes)}"
        how = f"run `agentplane {verb} {name} {option}`" if verb in _COMMANDS else f"add `{option}`"
        mask = f"mask the secret with `agentplane edit {name} --mask`, or " if "secret" in self.codes else ""
        todo = f"{mask}{how} to approve it as it is."
        super().__init__(
            f"{name} needs your confirmation: {self.flags[0].said}{more}", todo=todo[:1].upper() + todo[1:]
        )

    @property
    def confirmation(self) -> Confirmation:
        """What a person says who saw the spots and approves."""
        return Confirmation(self.entry.digest, self.codes)


def checked(memory: Memory, plan: Plan, confirmation: Confirmation | None) -> Plan:
    """Return the plan, which then records what was confirmed. Raises Unconfirmed if something is missing."""
    texts = _approved_by(memory, plan)
    flagged = [(entry, flags) for entry, flags in zip(texts, _flags(memory, texts), strict=True) if flags]
    if not flagged:
        if confirmation is not None:
            raise BadInput("There is no flag to confirm.", todo="Approve it without --confirm.")
        return plan
    verb = "approve" if plan.verb in _MOVES else plan.verb
    entry, flags = flagged[0]
    if len(texts) > 1:
        raise Unconfirmed(verb, entry, flags, together=[one.id for one, _ in flagged])
    codes = tuple(dict.fromkeys(flag.code for flag in flags))
    if confirmation is None or confirmation.digest != entry.digest or set(codes) - set(confirmation.codes):
        raise Unconfirmed(verb, entry, flags)
    return msgspec.structs.replace(plan, confirmed=codes)


def _approved_by(memory: Memory, plan: Plan) -> list[Entry]:
    """The texts that an op approves, each as an entry."""
    found: list[Entry] = []
    for edit in plan.edits:
        if edit.file == INBOX or edit.text is None:
            continue
        if plan.verb in _MOVES and edit.was is not None:
            found.append(memory.get(edit.was))
        elif plan.verb in _WRITES:
            found += memory.entries_in(edit.text, edit.file)
    return found


def _flags(memory: Memory, entries: Sequence[Entry]) -> "list[tuple[Flag, ...]]":
    from agentplane.review import gate, gate_kept  # takes long to load

    actions = msgspec.structs.asdict(memory.snapshot.settings.gate)
    if len(entries) < _MANY:
        return [gate.high_flags(entry, actions) for entry in entries]
    kept = gate_kept.kept_high(memory)
    return [kept(entry) for entry in entries]
