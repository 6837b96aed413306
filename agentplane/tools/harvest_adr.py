"""Decision records that a project keeps already: one decision each, with its status."""

import re
from collections import Counter

import msgspec

from agentplane.tools import harvest_front
from agentplane.tools.harvest_lines import plain


FOLDERS = (
    "docs/adr", "docs/adrs", "docs/ADR", "doc/adr", "adr", "docs/decisions", "docs/architecture/decisions",
    "doc/architecture/decisions", "docs/architecture/adr", "docs/architecture-decisions", "docs/design/adr", "architecture/decisions", "decisions",
)  # fmt: skip
FILE = re.compile(
    r"(?i)(?:adr[-_ ]?)?\d{1,8}[-_ .].*\.(?:md|markdown)|adr[-_].*\.(?:md|markdown)|\d{4}-\d\d-\d\d.*\.md"
)

_LONGEST = 300
_LONGEST_WHY = 700
_LONGEST_PART = 20_000
"""Characters of a section that are looked at."""
_TITLE = re.compile(r"(?i)^(?:adr|decision(?: record)?)?[-_ #]*\d*[\s.:–—-]*")
_STATUS_LINE = re.compile(r"(?im)^[\s*_>-]*status[\s*_]*:[\s*_]*(.+)$")
_STATUS = re.compile(r"(?i)\b(superseded|superceded|replaced|deprecated|rejected|declined|withdrawn|proposed|draft|pending|accepted|"
                     r"approved|implemented|adopted|decided|active|done)\b")  # fmt: skip
_SETTLED = frozenset(("accepted", "approved", "implemented", "adopted", "decided", "active", "done"))
_OVER = frozenset(("superseded", "superceded", "replaced", "deprecated", "rejected", "declined", "withdrawn"))
_FENCE = re.compile(r"(?ms)^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)")
_HEADING = re.compile(r"(?m)^(#{1,6})[ \t]+(\S.*)$")
_CHOSEN = re.compile(
    r"(?is)chosen option\s*:\s*[\"“”'*_`]*(.+?)[\"“”'*_`]*(?:,?\s+(?:because|since|as)\s+(.+?)(?:\n\n|$)|\.?\s*(?:\n|$))"
)
_WE = re.compile(r"(?i)^(?:we|the team|this project|all|every|each)\b")
_ACTS = re.compile(r"(?i)^(?:use|adopt|store|keep|replace|remove|add|make|move|split|separate|introduce|allow|do not|don['’]t|no|"
                   r"support|switch|write|run|deploy|record|generate|implement|extract|drop|prefer|always|never|only|all)\b")  # fmt: skip
_NO_PROSE = re.compile(r"[#|<>]|```|~~~|---|[-*+] |\d+[.)] ")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*])")


class Decision(msgspec.Struct, frozen=True):
    statement: str
    why: str
    line: int


def read(text: str, left: Counter[str]) -> Decision | None:
    """The decision that stands in a record; None, and counted, where it is not in force or cannot be told."""
    found, body, begins = harvest_front.split(text)
    fields, shift = found or {}, begins - 1
    sections = _sections(body)
    title, line = next(((name, number) for level, name, number, _ in sections if level == 1), ("", 1))
    title = _TITLE.sub("", plain(title or str(fields.get("title") or ""))).strip()
    title = title if " " in title else title.replace("-", " ").capitalize()
    status = _status(fields, body, sections)
    if status in _OVER:
        left["superseded, deprecated or rejected"] += 1
        return None
    if status is not None and status not in _SETTLED:
        left["not decided yet"] += 1
        return None
    decided = _section(sections, "decision outcome", "decision", "outcome", "resolution", "solution")
    statement, why = _said(title, decided)
    if len(re.findall(r"\w+", statement)) < 2:
        left["without a decision"] += 1
        return None
    context = _section(sections, "context and problem statement", "context", "problem", "background")
    return Decision(statement, (why or _first(context, _LONGEST_WHY)), line + shift)


def _said(title: str, decided: str) -> tuple[str, str]:
    """Statement and reason: the option that was chosen, or the sentence that decides, or else the title."""
    decided = decided[:_LONGEST_PART]
    chosen = _CHOSEN.search(re.sub(r"[ \t]+", " ", decided[:4000]))
    if chosen:
        option, why = plain(" ".join(chosen[1].split())), plain(" ".join((chosen[2] or "").split()))
        named = title if _ACTS.match(title) else f"{title}: {option}" if title else option
        return named[:_LONGEST], why[:_LONGEST_WHY]
    first = _first(decided, _LONGEST)
    rest = plain(" ".join(decided.split()))[len(first) :].strip()
    if _ACTS.match(title):
        return title, _first(decided, _LONGEST_WHY)
    if not first or first.endswith(":"):
        return "", ""
    if not title or _WE.match(first) or _ACTS.match(first):
        return first, rest[:_LONGEST_WHY]
    named = f"{title}: {first}"
    return (named, rest[:_LONGEST_WHY]) if len(named) <= _LONGEST else (first, rest[:_LONGEST_WHY])


def _first(text: str, most: int) -> str:
    """The first sentence of a text, or as many as fit."""
    parts = re.split(r"\n\s*\n", text[:_LONGEST_PART])
    paragraph = next((part for part in parts if part.strip() and not _NO_PROSE.match(part.lstrip())), "")
    said = ""
    for sentence in _SENTENCE.split(plain(" ".join(paragraph.split()))):
        if said and (len(said) + len(sentence) > most or most == _LONGEST):
            break
        said = f"{said} {sentence}".strip()
    return said if len(said) <= most else ""


_Section = tuple[int, str, int, str]
"""Level, heading, line, and the text below it."""


def _sections(body: str) -> list[_Section]:
    heads = list(_HEADING.finditer(_FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), body)))
    found, line, start = [], 1, 0
    for place, head in enumerate(heads):
        end = heads[place + 1].start() if place + 1 < len(heads) else len(body)
        line += body.count("\n", start, head.start())
        start = head.start()
        found.append((len(head[1]), _named(head[2]), line, body[head.end() : end].strip()))
    return found


def _named(heading: str) -> str:
    """Without the number signs that may close a heading."""
    text = heading.rstrip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if bare != text and bare.endswith((" ", "\t")) else text


def _section(sections: list[_Section], *names: str) -> str:
    for name in names:
        for _, heading, _, text in sections:
            if text and re.fullmatch(rf"(?:\d+[.)]?\s*)?{name}\W*", plain(heading).lower()):
                return text
    return ""


def _status(fields: dict[str, object], body: str, sections: list[_Section]) -> str | None:
    """The last word on its status; None where it says nothing."""
    said = str(fields.get("status") or "") or _section(sections, "status")
    if not said:
        line = _STATUS_LINE.search(body[:3000])
        said = line[1] if line else ""
    found = [word.lower() for word in _STATUS.findall(re.sub(r"~~.*?~~", "", said[:400]))]
    over = next((word for word in found if word in _OVER), None)
    return over or (found[-1] if found else None)
