"""A consistent view of one plane, and the settings that count for what tools get of it."""

import msgspec

from agentplane.plane.layout import Layout
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.settings import Settings
from agentplane.plane.store import records
from agentplane.plane.store.pages import Page
from agentplane.plane.trust import rules
from agentplane.text.markdown import document


class Snapshot(msgspec.Struct, frozen=True):
    """A consistent view of the plane's files and ledger at one moment."""

    layout: Layout
    settings: Settings
    ledger: Ledger
    pages: dict[str, Page]
    writing: bool = False
    """True if another process was in the middle of a change. Then this is the committed state, not the files'
    state.
    """

    def core(self, file: str, id_: str) -> bytes | None:
        """Return the current bytes of an entry in its file."""
        page = self.pages.get(file)
        block = page.document.find(id_) if page else None
        return page.document.core(block) if page and block else None

    def approved_text(self, id_: str) -> bytes | None:
        """Return an id's approved text. None if the last operation removed it or it was pruned."""
        mark = self.ledger.known.get(id_)
        if mark is None or mark.digest is None:
            return None
        core = self.core(mark.file, id_)
        if core is not None and document.digest(core) == mark.digest:
            return core
        return self.text_of(mark.op, mark.digest)

    def text_of(self, op: str, digest: str | None) -> bytes | None:
        """Return a text from an operation's record. None without a digest or for a pruned text."""
        return records.load(self.layout, op, digest).text(digest)


def deliverable(snapshot: Snapshot) -> Snapshot:
    """Return a plane in which permissive settings count only if the log has them.

    Such settings are manual edits that count without a review, and a disabled search for secrets. If the log
    can't be written, the stricter value of settings and log counts.
    """
    if not settings_changed(snapshot.settings, snapshot.ledger):
        return snapshot
    noted, now = rules.restored(snapshot.ledger.settings), snapshot.settings
    if noted.trust.hand_edits != "accept":
        now = msgspec.structs.replace(now, trust=msgspec.structs.replace(now.trust, hand_edits="review"))
    if noted.gate.finds_secrets and not now.gate.finds_secrets:
        now = msgspec.structs.replace(now, gate=msgspec.structs.replace(now.gate, secret=noted.gate.secret))
    return msgspec.structs.replace(snapshot, settings=now)


def settings_changed(current: Settings, ledger: Ledger) -> bool:
    """True if the trust settings differ from the last ones in the log.

    A plane that is being created has no history yet. If branches meet, the operation that settles them comes
    first, because it must be the same in every clone.
    """
    if not ledger.ops or ledger.unsettled:
        return False
    return rules.differing(current) != ledger.settings
