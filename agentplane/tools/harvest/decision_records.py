"""The title, decision, context, consequences and status of each decision record of a project."""

import re
from typing import Literal

import msgspec

from agentplane.text import front_matter
from agentplane.tools.harvest.statements import plain


FOLDER = re.compile(
    r"(?i)adrs?|decisions|decision[-_]records?|architect(?:ure|ural)[-_](?:decisions|decision[-_]records?)"
)
"""The names of folders in which projects keep decision records."""
FILE = re.compile(
    r"(?i)(?:[a-z]{1,4}[-_ ]?)?\d{1,8}[-_ .].*\.(?:md|markdown)|adr[-_].*\.(?:md|markdown)|\d{4}-\d\d-\d\d.*\.md"
)
LIKELY = re.compile(r"(?i).*\.(?:md|markdown|adoc|asciidoc|rst|org)")
"""File names that can belong to a record, in a folder of records."""
INDEX = re.compile(r"(?i)(?:readme|index|_index|intro|overview|toc|summary|contributing)\..*")
"""Names of files that introduce a folder."""

_LONGEST = 500
"""Maximum number of characters of a statement from title and decision."""
_LONGEST_TITLE = 200
_LONGEST_WHY = 700
"""Maximum number of characters taken from the context, and from the consequences."""
_LONGEST_CHOICE = 3000
"""Maximum number of characters that are read after `Chosen option`."""
_ASIDE = 120
"""Maximum number of characters between the chosen option and its reason."""
_LONGEST_PART = 20_000
"""Maximum number of characters that are read from a section."""
_TITLE = re.compile(r"(?i)^(?:adr|rfc|decision(?: record)?)?[-_ #]*\d*[\s.:–—-]*")
_STATUS_LINE = re.compile(r"(?im)^[\s*_>|-]*status[\s*_]*[:|][\s*_]*(.+)$")
_OVER: dict[str, tuple[str, ...]] = {
    "superseded": (
        "superseded", "superceded", "replaced", "obsoleted", "abgelöst", "ersetzt", "remplacé", "remplacée", "reemplazada",
        "reemplazado", "substituída", "substituído",
    ),
    "deprecated": ("deprecated", "obsolete", "retired", "veraltet", "überholt", "obsolète", "obsoleta", "obsoleto"),
    "rejected": ("rejected", "declined", "withdrawn", "abandoned", "abgelehnt", "verworfen", "rejeté", "rejetée", "rechazada", "rechazado", "rejeitada"),
}  # fmt: skip
_SETTLED = (
    "accepted", "approved", "implemented", "adopted", "decided", "active", "done", "agreed", "final", "akzeptiert", "angenommen", "entschieden",
    "accepté", "acceptée", "aceptada", "aceptado", "aceita",
)  # fmt: skip
_OPEN = (
    "proposed", "draft", "pending", "proposal", "wip", "in review", "under review", "in discussion", "vorgeschlagen", "entwurf", "proposé", "proposée",
    "propuesta", "proposta",
)  # fmt: skip
_MEANS = {
    **{word: status for status, words in _OVER.items() for word in words},
    **dict.fromkeys(_SETTLED, "accepted"),
    **dict.fromkeys(_OPEN, "proposed"),
}
_STATUS = re.compile(rf"(?i)\b({'|'.join(sorted(_MEANS, key=len, reverse=True))})\b")
_PARTLY = re.compile(
    r"(?i)\b(?:partial\w*|partly|teilweise)[ -]+(?:supersed|superced|replac|deprecat|obsolet|ersetzt|abgelöst)\w*.*|"
    r"\b(?:supersede|supercede|replace|obsolete)[sd]?\s+(?:partly|partially|in part|(?:a )?parts? of|sections?)\b.*"
)
_SUPERSEDES = re.compile(
    r"(?im)\b(?:supersedes|supercedes|replaces|obsoletes|ersetzt|remplace)\b[ \t:]*(?!durch)(.+)$"
)
_SUPERSEDED = re.compile(
    r"(?im)\b(?:superseded|superceded|replaced|obsoleted|abgelöst|ersetzt|remplacée?|reemplazad[ao]|substituíd[ao])\b(.*)$"
)
_REFERENCES = (
    re.compile(r"\]\(([^)\s]{1,300})\)"),
    re.compile(r"\b([\w.-]{1,200}\.(?:md|markdown))\b"),
    re.compile(r"(?i)(?:\b(?:adr|rfc|decision)|#)[- #_]{0,3}(\d{1,8})\b"),
    re.compile(r"(?im)^\W*(?:by|durch|par|por)?\W*(\d{1,8})\b(?!-)"),
)
"""References to a record by a link, a file, a number after a word, or a number. The first match counts."""
_FENCE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)")
_UNDERLINED = re.compile(r"(?m)^(?![-*+#>|\s])([^\n|]+)\n(=+|-{3,})[ \t]*$")
_HEADING = re.compile(r"(?m)^(#{1,6})[ \t]+(\S.*)$")
_CHOSEN = re.compile(
    r"(?im)^[\s*_>-]{0,9}(?:the )?(?:chosen|selected) (?:option|solution|alternative)(?:s|\(s\))?\**\s*"
    r"(?:(?:\w\W?)?\d?\s*[:–—-]|is\b|for \"[^\"\n]{1,200}\"\s*:)\**\s*"
)
"""The words before the chosen option in MADR."""
_QUOTED = re.compile(
    r"(?P<mark>\*\*|\"|“|[*_`'])(?P<option>.+?)(?:(?P=mark)|”)(?=\s*(?:[,.;:(–—-]|$|\b(?:because|since|as|is|was|for|to)\b))"
)
_BECAUSE = re.compile(r"(?i)^(.*?)[\s,;:–—-]*(?:\b(?:because|since)\b|(?<=,)\s*\bas\b)(?:[\s:]+(.+)|\W*)$")
_WE_DECIDED = re.compile(
    r"(?i)\bwe (?:have |'ve |therefore |thus )?(?:decided|chose|chosen|agreed|opted)\b(?! (?:whether|if|how|which|what|between)\b)|"
    r"\bentschieden wir uns\b|\bhaben wir uns\b(?=.{1,200}\bentschieden\b)"
)
_GOAL = re.compile(r"(?i),?\s+(?:in order )?to achieve\b|,\s*accepting\b|,\s+um\b")
"""The words that introduce the purpose or the cost after the decision in a Y-statement."""
_GOES_BELOW = re.compile(r"(?i)(?:\b(?:because|since|as)\W*|:\W*)\Z")
_NUMBER_BEFORE = re.compile(r"(?i)(?:option|alternative|solution)\s+\w{1,3}\s*\((.+)\)")
_GOES_ON = re.compile(r" (?!because\b|since\b|as\b|is\b|was\b|[–—-])")
"""A continuation after a quoted option. It says where the option is used."""
_NUMBERED = re.compile(
    r"(?i)^(?:(?:option|alternative|solution)\s+\(?\w{1,3}(?:\.\d{1,2})?\)?\s*[:.)–—-]+|\(\w{1,2}\)|\w[.)])\s+(?=\S)"
)
"""The number of an option before its name."""
_NUMBER_ALONE = re.compile(r"(?i)(?:option|alternative|solution)\s+\w{1,3}(?:\.\d{1,2})?|[a-h]|\d{1,2}")
_NO_PROSE = re.compile(r"[|<>]|```|~~~|---|!\[|\{")
_ITEM = re.compile(r"(?m)^[ \t]{0,3}(?:[-*+]|\d+[.)])[ \t]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*])")
_HEADS = {
    "status": ("status", "state", "statut", "estado"),
    "decision": (
        "decision outcome", "decision", "decisions", "the decision", "our decision", "outcome", "resolution", "solution", "decision made",
        "decision details", "decision and rationale", "decision & rationale", "what we decided", "conclusion", "proposed solution", "proposal",
        "entscheidung", "beschluss", "ergebnis der entscheidung", "décision", "decisión", "decisão",
    ),
    "context": (
        "context and problem statement", "context", "problem", "problem statement", "background", "context and background", "motivation",
        "issue", "introduction", "discussion", "rationale", "kontext", "problemstellung", "ausgangslage", "kontext und problemstellung", "contexte", "contexto",
    ),
    "consequences": (
        "consequences", "consequence", "implications", "positive consequences", "impact", "konsequenzen", "folgen", "auswirkungen", "conséquences",
        "consecuencias", "consequências",
    ),
}  # fmt: skip

Status = Literal["accepted", "superseded", "deprecated"]


class Decision(msgspec.Struct, frozen=True):
    statement: str
    """The title and the decision."""
    why: str
    """The context and the consequences."""
    line: int
    status: Status = "accepted"
    successors: tuple[str, ...] = ()
    """The records that superseded it, by path or number, as this record names them."""
    replaces: tuple[str, ...] = ()
    """The records that it supersedes, as this record names them."""


class Unusable(msgspec.Struct, frozen=True):
    """A record that gives no decision to import."""

    why: str
    line: int
    title: str


def read(text: str, name: str = "") -> Decision | Unusable:
    """Return the decision in a record. `name` comes from its file, for a record without a title."""
    found, body, begins = front_matter.split(text)
    fields, shift = found or {}, begins - 1
    body = _with_marks(body)
    sections = _sections(body)
    title, line = _title(sections, fields, name)
    line += shift
    status_text = _PARTLY.sub("", _status_text(fields, body, sections))
    status = _status(status_text)
    if status == "rejected":
        return Unusable("the decision was rejected", line, title)
    if status == "proposed":
        return Unusable("the decision is only proposed", line, title)
    if status == "template":
        return Unusable("the status wasn't filled in", line, title)
    decided, because = _decided(_section(sections, "decision"), body)
    if not decided:
        decided, because = _in_one_sentence(body)
    statement = _joined(title, decided)
    if len(re.findall(r"\w+", statement)) < 2 or not (decided or " " in title):
        return Unusable("no decision found", line, title)
    context = _beginning(_section(sections, "context"))
    after = _beginning(_section(sections, "consequences"))
    why = "\n".join(filter(None, (because, context, f"Consequences: {after}" if after else "")))
    replaces = " ".join(map(str, _listed(fields.get("supersedes")))) or "\n".join(
        _SUPERSEDES.findall(status_text)
    )
    return Decision(
        statement,
        why,
        line,
        status or "accepted",
        _references("\n".join(_SUPERSEDED.findall(status_text))) if status == "superseded" else (),
        _references(replaces),
    )


def is_record(text: str) -> bool:
    """True if a text has the sections of a decision record, whatever its file is called."""
    fields, body, _ = front_matter.split(text)
    sections = _sections(_with_marks(body))
    has_more = _section(sections, "context") or _status_text(fields or {}, body, sections)
    return bool(_section(sections, "decision") and has_more)


def _with_marks(body: str) -> str:
    """Return the text with number signs before headings that are underlined."""
    return _UNDERLINED.sub(lambda line: f"{'#' if line[2][0] == '=' else '##'} {line[1]}\n", body)


def _title(sections: "list[_Section]", fields: dict[str, object], name: str) -> tuple[str, int]:
    """Return the title and its line number."""
    named = next(((found.heading, found.line) for found in sections if found.level == 1), None)
    known = {head for heads in _HEADS.values() for head in heads}
    if named is None and sections and plain(sections[0].heading).lower() not in known:
        named = sections[0].heading, sections[0].line
    text, line = named or (str(fields.get("title") or re.sub(r"\.\w+$", "", name)), 1)
    text = _clipped(
        _TITLE.sub("", plain(" ".join(text[:_LONGEST_TITLE].split())), count=1).strip(), _LONGEST_TITLE
    )
    return (text if " " in text else text.replace("-", " ").replace("_", " ").strip().capitalize()), line


def _joined(title: str, decided: str) -> str:
    """Join title and decision into one statement. A title that the decision repeats appears once."""
    if not decided or not title:
        return title or decided
    if _words(title) in _words(decided):
        return decided
    if _words(decided) in _words(title):
        return title
    return _clipped(f"{title.rstrip('.:')}: {decided}", _LONGEST)


def _words(text: str) -> str:
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} "


def _decided(section: str, body: str = "") -> tuple[str, str]:
    """Return the decision as a sentence, and its reason if the same paragraph gives one.

    `body` is the record, which names the options.
    """
    section = section[:_LONGEST_PART]
    found = _CHOSEN.search(section[:4000])
    if found:
        option, why = _option(*_parts(section[found.end() : found.end() + _LONGEST_CHOICE]))
        if option:
            named = _named_option(body, option) if _NUMBER_ALONE.fullmatch(option) else option
            return _clipped(named, _LONGEST), _clipped(f"Because {why}" if why else "", _LONGEST_WHY)
    return _clipped(_first(section), _LONGEST), ""


def _in_one_sentence(body: str) -> tuple[str, str]:
    """Return the decision in a Y-statement and the rest of its sentence.

    It is used for a record without a decision section.
    """
    for part in _paragraphs(body[:_LONGEST_PART]):
        for sentence in _SENTENCE.split(part):
            found = _WE_DECIDED.search(sentence)
            if found:
                before, after = sentence[: found.start()].strip(" ,;:"), sentence[found.end() :]
                goal = _GOAL.search(after)
                choice = found[0] + (after[: goal.start()] if goal else after)
                rest = after[goal.start() :].strip(" ,.") if goal else ""
                decided = choice[:1].upper() + choice[1:].strip()
                reasons = (f"{one[:1].upper()}{one[1:]}." for one in (before, rest) if one)
                return _clipped(f"{decided.rstrip(' ,.')}.", _LONGEST), _clipped(
                    " ".join(reasons), _LONGEST_WHY
                )
    return "", ""


def _parts(text: str) -> tuple[str, str]:
    """Split a paragraph into the text before a list, on one line, and the list.

    A pure list is split after its first item.
    """
    unquoted = re.sub(r"(?m)^[ \t]*>[ \t]?", "", text.lstrip())
    paragraph, *more = re.split(r"\n\s*\n", unquoted, maxsplit=2)
    if more and _GOES_BELOW.search(paragraph[-40:]):
        paragraph = f"{paragraph}\n{more[0]}"
    first, *items = (" ".join(part.split()) for part in _ITEM.split(paragraph))
    if not first and items:
        first, *items = items
    return first, "; ".join(item.rstrip(".;") for item in items if item)


def _option(text: str, listed: str) -> tuple[str, str]:
    """Return the chosen option without its number, and the reason after it. `listed` is the list below."""
    quoted = _QUOTED.match(text)
    if (
        quoted
        and _NUMBER_ALONE.fullmatch(quoted["option"])
        and text[quoted.end() :].lstrip()[:1] in (":", "–", "—")
    ):
        text, quoted = quoted["option"] + text[quoted.end() :], None
    option, rest = (quoted["option"], text[quoted.end() :]) if quoted else ("", _NUMBERED.sub("", text))
    if quoted is None or _GOES_ON.match(rest):
        sentence = _SENTENCE.split(rest)[0]
        because = _BECAUSE.match(sentence)
        option = f"{option}{because[1] if because else sentence}"
    because = _BECAUSE.match(rest)
    near = because is not None and len(because[1]) < max(_ASIDE, len(option) + 1)
    why = (because[2] or "") if because and near else ""
    if near and (not why or why.endswith(":")):
        why = f"{why} {listed}".strip()
    option = plain(option).strip('"“”*_ ')
    named = re.sub(r"(?i)\s*\((?:option|alternative) \w{1,3}\)\W*$", "", option).rstrip(" ,;:.–—-")
    inside = _NUMBER_BEFORE.fullmatch(named)
    return (inside[1] if inside else _NUMBERED.sub("", named).strip('"“”*_ ')), plain(why)


def _named_option(body: str, number: str) -> str:
    """Return the name of an option that the record chose by number."""
    heads = re.finditer(
        rf"(?im)^[# \t*\d.+-]{{0,12}}{re.escape(number)}\**\s*[:.)–—-]+\s*(\S.*)$", body[:_LONGEST_PART]
    )
    return next((plain(head[1]).strip('"*_ ') for head in heads), number)


def _first(section: str) -> str:
    """Return the first sentence of a section, or the whole list that it introduces."""
    parts = _paragraphs(section)
    if not parts:
        return ""
    first = _SENTENCE.split(parts[0])[0]
    whole = parts[0].rstrip().endswith(":") or first.endswith(":")
    return f"{parts[0].rstrip()} {parts[1]}" if whole and len(parts) > 1 else first


def _beginning(section: str) -> str:
    """Return the beginning of a section, as whole sentences."""
    beginning = ""
    for part in _paragraphs(section[:_LONGEST_PART]):
        for sentence in _SENTENCE.split(part):
            if len(beginning) + len(sentence) + 1 > _LONGEST_WHY:
                return beginning or _clipped(sentence, _LONGEST_WHY)
            beginning = f"{beginning} {sentence}".strip()
    return beginning


def _paragraphs(section: str) -> list[str]:
    """Return the paragraphs of a section. The items of a list are joined with semicolons."""
    found = []
    for part in re.split(r"\n\s*\n", _HEADING.sub("\n", _FENCE.sub("\n", section))):
        if not part.strip() or _NO_PROSE.match(part.lstrip()):
            continue
        head, *items = _ITEM.split(part)
        pieces = [plain(" ".join(piece.split())) for piece in (head, *items)]
        listed = "; ".join(piece.rstrip(".;") for piece in pieces[1:] if piece)
        found.append(" ".join(filter(None, (pieces[0], f"{listed}." if listed else ""))))
    return found


def _clipped(text: str, most: int) -> str:
    """Cut a text between words."""
    return text if len(text) <= most else f"{text[: most - 1].rpartition(' ')[0].rstrip(',;:')}…"


class _Section(msgspec.Struct, frozen=True):
    level: int
    heading: str
    line: int
    text: str
    """The text, including nested sections."""


def _sections(body: str) -> list[_Section]:
    heads = list(_HEADING.finditer(_FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), body)))
    found, line, start = [], 1, 0
    for place, head in enumerate(heads):
        level = len(head[1])
        end = next((one.start() for one in heads[place + 1 :] if len(one[1]) <= level), len(body))
        line += body.count("\n", start, head.start())
        start = head.start()
        found.append(_Section(level, _named(head[2]), line, body[head.end() : end].strip()))
    return found


def _named(heading: str) -> str:
    """Return a heading without the number signs that may close it."""
    text = heading.rstrip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if bare != text and bare.endswith((" ", "\t")) else text


def _section(sections: list[_Section], part: str) -> str:
    heads = [(plain(one.heading[:_LONGEST_TITLE]).lower(), one.text) for one in sections]
    named = [(re.sub(r"^\d+[.)]?\s*|\W+$", "", heading), text) for heading, text in heads]
    return next((text for name in _HEADS[part] for heading, text in named if heading == name and text), "")


def _status_text(fields: dict[str, object], body: str, sections: list[_Section]) -> str:
    """Return the status text of a record, from its header, a section or a line."""
    if fields.get("status"):
        more = [f"superseded by {link}" for link in _listed(fields.get("superseded-by") or fields.get("superseded_by"))]  # fmt: skip
        return " ".join(map(str, [*_listed(fields["status"]), *more]))
    text = _section(sections, "status")
    if not text:
        line = _STATUS_LINE.search(body[:3000])
        text = line[1] if line else ""
    return re.sub(r"~~.*?~~", "", text[:1000])


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _status(text: str) -> Status | Literal["rejected", "proposed", "template"] | None:
    """Return the last status in a text, or None if there is none."""
    found = [_MEANS[word.lower()] for word in _STATUS.findall(text)]
    if "|" in text and len(set(found)) > 2:
        return "template"
    over = next((status for status in found if status in _OVER), None)
    return over or (found[-1] if found else None)  # type: ignore[return-value]  # the words of `_MEANS`


def _references(text: str) -> tuple[str, ...]:
    """Return the records that a text names."""
    found = next(filter(None, (pattern.findall(text) for pattern in _REFERENCES)), [])
    return tuple(dict.fromkeys(one.partition("#")[0].rpartition("/")[2] or one for one in found))
