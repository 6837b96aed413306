"""The title of a session, from its first prompt."""

import re


MOST = 72
_READ = 6_000
_INJECTED = re.compile(r"<(system-reminder|[a-z]+[-_][a-z-_]+)\b[^>]*>.*?</\1>", re.DOTALL)
"""Text that tools add around a person's words."""
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_LEADING = re.compile(r"^\s*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)]|\[[ xX]\])\s+)+")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_MARKS = re.compile(r"\*\*|__|~~|`+|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|</?[A-Za-z][^>\n]*>")
_RULE = re.compile(r"[\s#>*_=~`|:-]*")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+(?=\S)")
_GREETING = re.compile(
    r"(?i)(?:hi|hello|hey|hallo|good (?:morning|evening)|ok(?:ay)?|thanks?|please)\b.{0,12}"
)
"""A greeting, which is a poor title for the request below it."""
_ENDS = " .,;:-–—"
_LEAST = 12
"""Minimum length of a first sentence. A shorter one, for example `Hi.`, is joined with the next sentence."""


def of(text: str) -> str | None:
    """Return the first sentence of a text, without Markdown and cut at a word, or None if it has no words."""
    without = _FENCED.sub("\n", _INJECTED.sub("\n", text[:_READ]))
    lines = [found for line in without.splitlines() if (found := _plain(line))]
    line = next((line for line in lines if not _GREETING.fullmatch(line)), lines[0] if lines else "")
    return _cut(_first_sentence(line)) or None


def _plain(line: str) -> str:
    if _RULE.fullmatch(line):
        return ""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", _LEADING.sub("", line))).split())


def _first_sentence(line: str) -> str:
    found = ""
    for sentence in _SENTENCE.split(line):
        found = f"{found} {sentence}".strip()
        if len(found) >= _LEAST:
            break
    return found


def _cut(text: str) -> str:
    if len(text) <= MOST:
        return text
    head = text[: MOST - 1]
    at_a_word = head.rpartition(" ")[0] if text[MOST - 1] != " " else head
    # A word as long as a line has no place to cut at.
    return f"{(at_a_word if len(at_a_word) >= MOST // 2 else head).rstrip(_ENDS)}…"
