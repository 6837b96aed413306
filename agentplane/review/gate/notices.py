"""The checks of the gate that need only the texts of a proposal. Each yields a notice for each problem."""

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date, timedelta

from agentplane.memory.entry import LINKS
from agentplane.memory.proposing import MAX_TEXT, Proposal
from agentplane.review.gate import order_flags, raw_header, wording
from agentplane.scan.secrets import find
from agentplane.text import visible


LONG = 2000
"""Maximum characters of statement and rationale that a reviewer can comfortably read."""
MOST_CHARACTERS = 2 * MAX_TEXT
"""Limit for all fields together. A longer proposal is refused, and the rest of it isn't checked."""
_MANY = 50
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# The flags of England, Scotland and Wales are a black flag plus characters that could also spell other text.
_COUNTRIES = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|"
    "\U000e0077\U000e006c\U000e0073)\U000e007f"
)

Notice = tuple[str, str, str]
"""Code, message and field of a finding."""


def clipped(texts: Iterable[tuple[str, str]]) -> tuple[list[tuple[str, str]], bool]:
    """Return the texts up to the limit for all of them, and whether nothing is cut off."""
    left = MOST_CHARACTERS
    kept: list[tuple[str, str]] = []
    for where, text in texts:
        if len(text) > left:
            return [*kept, (where, text[:left])], False
        kept.append((where, text))
        left -= len(text) + 1
        if left < 0:
            return kept, False
    return kept, True


def secrets(texts: list[tuple[str, str]]) -> Iterator[Notice]:
    for where, text in texts:
        for secret in find.find(text):
            if secret.sure:
                yield "secret", f"looks like it contains {secret.kind} ({secret.place})", where
            elif where not in ("source", "external_id"):  # these names can be random by design
                yield "random", f"contains {secret.kind} ({secret.place}), which may be a secret", where


def hidden(texts: list[tuple[str, str]]) -> Iterator[Notice]:
    for where, whole in texts:
        text = _COUNTRIES.sub(lambda found: " " * len(found[0]), whole)
        hits: dict[str, tuple[str, int, int]] = {}
        for hit in visible.hidden(text):
            code = hidden_code(hit.char)
            if code in hits:
                name, line, count = hits[code]
            else:
                name, line, count = hit.name, text.count("\n", 0, hit.offset) + 1, 0
            hits[code] = name, line, count + 1
        for code, (name, line, count) in hits.items():
            more = f" and {count - 1} more" if count > 1 else ""
            yield code, f"contains a hidden character: {name} (line {line}){more}", where
        for what in order_flags.unseen(whole):
            yield "hidden", what, where


def hidden_code(char: str) -> str:
    code = ord(char)
    if code < 0x20 or 0x7F <= code <= 0x9F:
        return "escape"
    if char in _OVERRIDES:
        return "bidi"
    return "smuggled" if 0xE0000 <= code <= 0xE0FFF or 0xFFFE <= code <= 0xFFFF else "hidden"


def orders(texts: list[tuple[str, str]]) -> Iterator[Notice]:
    for where, text in texts:
        for code, what in order_flags.noticed(text):
            yield code, what, where


def size(proposal: Proposal) -> Iterator[Notice]:
    size = len(proposal.statement) + len(proposal.rationale or "")
    if size > LONG:
        yield "size", f"has {size:,} characters, which is long for a memory entry", "statement"
    for name in ("evidence", "tags", "scope", *LINKS):
        count = len(getattr(proposal, name))
        if count > _MANY:
            yield "size", f"has {count:,} items, which is unusually many", name


def status(statement: str, proposal: Proposal, today: date) -> Iterator[Notice]:
    # A rationale may describe a past state. Only a statement must stay true.
    if line := wording.news(statement):
        yield "status", f"describes a temporary state (line {line})", "statement"
    if proposal.expires_at:
        try:
            expires = date.fromisoformat(proposal.expires_at)
        except ValueError:
            return
        if expires <= today + timedelta(days=1):
            over = "is in the past" if expires < today else "is today or tomorrow"
            yield "status", over, "expires_at"


def of_header(header: bytes, flagged: Collection[str], *, candidate: bool = True) -> Iterator[Notice]:
    """Yield findings in a raw header. `flagged` has the codes that the fields of the entry were already flagged
    for.

    In the header of a candidate, anything that no program writes is odd. In memory, people may add their own
    keys.
    """
    if not header:
        return
    text = raw_header.text_of(header)
    for what in raw_header.odd(text) if candidate else ():
        yield "hidden", what, "header"
    texts = header_texts(text)
    for code, what, where in (*secrets(texts), *hidden(texts), *orders(texts)):
        # Ids, dates and names of runs look random. A code that a field was already flagged for isn't
        # repeated.
        if code != "random" and code not in flagged:
            yield code, what, where


def header_texts(header: str) -> list[tuple[str, str]]:
    """Return the texts of a raw header that aren't checked as fields."""
    return clipped(raw_header.read(header))[0] if header else []
