"""Text with a flag of high severity counts as approved only if a person saw the spot and confirmed that one
text.

Every operation that approves a text which a person chose or wrote is checked here, in every interface. Bulk
approvals and the policy accept only texts without a flag. No confirmation covers several entries at once.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.layout import INBOX
from agentplane.plane.store.plan import Plan
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


# Commands that only read don't need the gate, which takes long to load.
if TYPE_CHECKING:
    from agentplane.review.gate.verdicts import Flag

_COMMANDS = {
    "approve": "approve", "edit": "edit", "adopt": "approve", "merge-entries": "merge", "split-entry": "split",
    "set-fields": "edit",
}  # fmt: skip
"""The command for each verb."""
_WITH_ID = ("approve", "edit", "adopt")
"""The verbs whose command is complete with the id of the flagged text."""
SPLIT = "split-entry"
RETIRING = ("merge-entries", SPLIT, "change-kind")
"""The verbs that take the earlier texts of their new texts out of use."""
_NAMED = 4
_MANY = 50
"""From this number of texts on, the cached results of the gate are read."""


class Confirmation(msgspec.Struct, frozen=True):
    """A person's confirmation of one text, after seeing its flagged spots."""

    digest: str
    """The digest of the text that the person saw. Empty if the person named the flags and saw no text yet."""
    codes: tuple[str, ...]
    """The codes of the flags."""


class Unconfirmed(Refused):
    """Error for an operation that would approve text that a person has to confirm separately."""

    def __init__(
        self,
        verb: str,
        entry: Entry,
        flags: "Sequence[Flag]",
        *,
        together: Sequence[str] = (),
        changed: bool = False,
    ) -> None:
        """`together` are the flagged entries, if the operation approves other texts as well. `changed` means
        that another text was confirmed.
        """
        self.entry = entry
        self.flags = tuple(flags)
        self.codes = tuple(dict.fromkeys(flag.code for flag in flags))
        self.alone = not together
        name = one_line(entry.id, 40)
        if together:
            named = ", ".join(one_line(id_, 40) for id_ in together[:_NAMED])
            more = f" and {len(together) - _NAMED} more" if len(together) > _NAMED else ""
            todo = f"Review each entry separately: `agentplane {_COMMANDS.get(verb, verb)} {name}`."
            if verb == SPLIT:
                todo = "Reword the flagged text of all parts but one."
            super().__init__(
                f"{named}{more} can't be approved together with other entries ({self.flags[0].text})",
                todo=todo,
            )
            return
        more = f", and {counted(len(flags) - 1, 'more flag')}" if len(flags) > 1 else ""
        option = f"--confirm {','.join(self.codes)}"
        how = f"run `agentplane {_COMMANDS[verb]} {name} {option}`" if verb in _WITH_ID else f"add `{option}`"
        mask = f"mask the secret with `agentplane edit {name} --mask`, or " if "secret" in self.codes else ""
        todo = f"{mask}{how} to approve the text unchanged."
        what = "was changed after you confirmed its flags" if changed else "needs your confirmation"
        super().__init__(f"{name} {what}: {self.flags[0].text}{more}", todo=todo[:1].upper() + todo[1:])

    @property
    def confirmation(self) -> Confirmation:
        """Return the confirmation of a person who saw the spots and approves."""
        return Confirmation(self.entry.digest, self.codes)


def checked(
    memory: Memory, plan: Plan, confirmation: Confirmation | None, *, as_proposed: bool = False
) -> Plan:
    """Return the plan with its confirmation recorded. Raise Unconfirmed if a confirmation is missing.

    `as_proposed` means that the operation approves candidates unchanged, as new entries or as changes to
    entries. Then the person saw the candidates. Otherwise, the person saw the text that the operation writes.
    """
    texts = _candidates(memory, plan) if as_proposed else _written(memory, plan)
    flagged = [(entry, flags) for entry, flags in zip(texts, _flags(memory, texts), strict=True) if flags]
    if not flagged:
        if confirmation is not None:
            raise BadInput("No flag needs confirmation.", todo="Leave out --confirm.")
        return plan
    verb = "approve" if as_proposed else plan.verb
    entry, flags = flagged[0]
    if len(flagged if plan.verb == SPLIT else texts) > 1:
        raise Unconfirmed(verb, entry, flags, together=[one.id for one, _ in flagged])
    codes = tuple(dict.fromkeys(flag.code for flag in flags))
    if confirmation is None or confirmation.digest != entry.digest or set(codes) - set(confirmation.codes):
        changed = confirmation is not None and confirmation.digest not in ("", entry.digest)
        raise Unconfirmed(verb, entry, flags, changed=changed)
    return msgspec.structs.replace(plan, confirmed=codes)


def _candidates(memory: Memory, plan: Plan) -> list[Entry]:
    """Return the candidates whose text an operation approves."""
    return [memory.get(edit.was) for edit in plan.edits if edit.file != INBOX and edit.was is not None]


def _written(memory: Memory, plan: Plan) -> list[Entry]:
    """Return the texts that an operation writes among the approved entries, each as an entry.

    An entry that the operation only takes out of use isn't one of them.
    """
    texts = [(edit.text, edit.file) for edit in plan.edits if edit.file != INBOX and edit.text is not None]
    entries = (entry for text, file in texts for entry in memory.entries_in(text, file))
    return [entry for entry in entries if plan.verb not in RETIRING or entry.head.status == "accepted"]


def _flags(memory: Memory, entries: Sequence[Entry]) -> "list[tuple[Flag, ...]]":
    from agentplane.review.gate import (
        gate,
        verdict_cache,  # takes long to load
    )

    actions = msgspec.structs.asdict(memory.snapshot.settings.gate)
    if len(entries) < _MANY:
        return [gate.high_flags(entry, actions) for entry in entries]
    high_flags = verdict_cache.cached_high(memory)
    return [high_flags(entry) for entry in entries]
