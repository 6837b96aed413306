"""The draft of one entry from several entries that say the same thing. A person edits the draft before it is written."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from agentplane.errors import BadInput
from agentplane.memory.entry import Entry, Header, without_label
from agentplane.memory.view import Memory
from agentplane.review.conflicts.resolve import header_and_body
from agentplane.text.markdown import header


_UNITED = ("tags", "evidence")
"""Header keys for which the merged entry gets the values of all entries."""
_LINKS = ("supersedes", "refines", "unrelated")
_RATIONALE = "Rationale"
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"(])")


def drafted(memory: Memory, wanted: Sequence[str]) -> bytes:
    """Return the text of the merged entry. It keeps the header of the first entry.

    The draft has the clearest statement, the tags, evidence and scopes of all entries, and every sentence of their
    rationales once.
    """
    entries = [memory.get(id_) for id_ in dict.fromkeys(wanted)]
    into = entries[0]
    core = memory.snapshot.core(into.file, into.id) or b""
    with suppress(BadInput):  # a header with an unusual layout isn't changed
        core = header.set_fields(core, _fields(entries))
    head, _ = header_and_body(core)
    lines = [f"{into.label}: {clearest(entries).statement}"]
    if rationale := _rationale(entries):
        lines.append(f"{_RATIONALE}: {rationale}")
    return head + "\n".join(lines).encode()


def clearest(entries: Sequence[Entry]) -> Entry:
    """Return the entry whose statement shares the most words with the others. Prefer short sentences."""
    words = [_words(entry.statement) for entry in entries]

    def rank(place: int) -> tuple[int, bool, int, int]:
        met = sum(len(words[place] & other) for at, other in enumerate(words) if at != place)
        statement = entries[place].statement
        return -met, not _is_sentence(statement), len(statement), place

    return entries[min(range(len(entries)), key=rank)]


def _is_sentence(statement: str) -> bool:
    return not statement[:1].islower() and statement.endswith((".", "!", "?"))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _fields(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the header fields that differ from those of the first entry."""
    first, heads = entries[0].head, [entry.head for entry in entries]
    ids = {entry.id for entry in entries}
    fields: dict[str, Any] = {name: _united(heads, name) for name in _UNITED}
    fields |= {name: [id_ for id_ in _united(heads, name) if id_ not in ids] for name in _LINKS}
    # An empty scope is the whole project, which includes every other scope.
    fields["scope"] = _united(heads, "scope") if all(head.scope for head in heads) else []
    if any(head.pinned for head in heads):
        fields["pinned"] = True
    check = next((head.check for head in heads if head.check), None)
    if check is not None and not first.check:
        fields["check"] = check
    before = {name: getattr(first, name) for name in fields}
    return {
        name: value or header.DROP
        for name, value in fields.items()
        if (tuple(value) if isinstance(value, list) else value) != before[name]
    }


def _united(heads: Sequence[Header], name: str) -> list[str]:
    return list(dict.fromkeys(value for head in heads for value in getattr(head, name)))


def _rationale(entries: Sequence[Entry]) -> str:
    """Return the rationales of all entries, without sentences that an earlier one has."""
    seen = {_normal(entry.statement) for entry in entries}
    parts = []
    for entry in entries:
        paragraphs = []
        for paragraph in _rest(entry).split("\n\n"):
            new = [line for line in _new_lines(paragraph, seen) if line]
            if new:
                paragraphs.append("\n".join(new))
        if paragraphs:
            parts.append("\n\n".join(paragraphs))
    gap = "\n\n" if any("\n" in part for part in parts) else " "
    return gap.join(parts)


def _new_lines(paragraph: str, seen: set[str]) -> Iterator[str]:
    """Yield the lines of a paragraph without the sentences that were seen. Add the others to `seen`."""
    for line in paragraph.splitlines():
        new = []
        for sentence in _SENTENCE.split(line):
            key = _normal(sentence)
            if key not in seen or not key:
                new.append(sentence)
            seen.add(key)
        yield " ".join(new).rstrip()


def _normal(sentence: str) -> str:
    return " ".join(_WORD.findall(sentence.casefold()))


def _rest(entry: Entry) -> str:
    """Return the text after the statement, without the label of a rationale."""
    _, _, rest = entry.body.strip().partition("\n")
    return without_label(rest.strip(), _RATIONALE).strip()
