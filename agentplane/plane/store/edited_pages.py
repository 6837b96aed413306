"""Planned edits applied to the memory files, before anything is written."""

from typing import Any

import msgspec

from agentplane.errors import BadInput
from agentplane.plane.store import pages, records
from agentplane.plane.store.pages import Page
from agentplane.plane.store.plan import Edit
from agentplane.plane.store.records import Change
from agentplane.plane.store.snapshot import Snapshot
from agentplane.text.json import canonical
from agentplane.text.markdown import document
from agentplane.text.markdown.draft import Draft


class EditedPages:
    """The pages that an operation changes."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.drafts: dict[str, Draft] = {}

    def apply(self, edit: Edit, texts: dict[str, Any]) -> Change:
        draft = self._draft(edit.file)
        found = draft.core(edit.id)
        gap = None
        if edit.text is None and found is not None:
            gap = draft.remove(edit.id, edit.gap.lead if edit.gap else "")
        elif edit.text is not None and found is None:
            gap = draft.insert(edit.id, edit.text, edit.gap)
        elif edit.text is not None and edit.text != found:
            draft.replace(edit.id, edit.text)
        left = draft.core(edit.id)
        digest = None if left is None else document.digest(left)
        mark = self.snapshot.ledger.known.get(edit.id)
        before = self.snapshot.approved_text(edit.id) if mark and mark.digest != digest else None
        for text in (found, left, before, edit.after_text):
            if text is not None:
                texts[document.digest(text)] = records.encode_text(text)
        return Change(
            id=edit.id,
            file=edit.file,
            before=mark.digest if mark else None,
            after=digest if edit.after is msgspec.UNSET else edit.after,
            found=None if found is None else document.digest(found),
            left=digest,
            gap=gap,
            was=edit.was,
        )

    def pages(self) -> dict[str, Page]:
        """Return the new pages, after a check that each has the intended content and nothing else."""
        return {file: self._page(file, draft) for file, draft in self.drafts.items()}

    def _page(self, file: str, draft: Draft) -> Page:
        old = self.snapshot.pages.get(file)
        try:
            made = draft.checked(pages.known_headers(old))
        except BadInput as error:
            raise BadInput(error.what, where=self.snapshot.layout.shown(file), todo=error.todo) from None
        return Page(file, canonical.sha256(made.data), made)

    def _draft(self, file: str) -> Draft:
        if file not in self.drafts:
            page = self.snapshot.pages.get(file)
            self.drafts[file] = Draft(page.document if page else document.parse(pages.new_file(file)))
        return self.drafts[file]
