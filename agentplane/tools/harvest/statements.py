"""Single statements in Markdown that people or tools wrote as instructions or notes.

A statement is a list item or a sentence that states a rule or a fact and can be understood alone. Commands,
code, tables, steps and long prose are skipped. Each skipped piece has a reason.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

import msgspec


if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode


class Line(msgspec.Struct, frozen=True):
    """A statement and its place in the text."""

    text: str
    line: int
    kind: str
    headings: tuple[str, ...] = ()
    why: str = ""
    """The reason that follows the statement, if any."""


Why = Literal[
    "code",
    "table",
    "quote",
    "numbered step",
    "command or path",
    "only introduces the following lines",
    "negated by its heading",
    "outdated, according to its heading",
    "depends on the surrounding text",
    "too short",
    "contains no rule, choice or fact",
    "prose without a rule",
    "too long for one entry",
    "progress report",
    "about the file itself or its reader",
    "heading",
    "continues the item above",
    "HTML",
]
"""The reason a piece of text is skipped."""


class SkippedText(msgspec.Struct, frozen=True):
    """A piece of text that is skipped."""

    text: str
    line: int
    why: Why


class Read(msgspec.Struct, frozen=True):
    lines: tuple[Line, ...]
    skipped: tuple[SkippedText, ...]


LONGEST = 320
_FEWEST_WORDS = 4
_FEWEST_OF_A_RULE = 2
"""A rule can be short, such as `Use tabs`. Any other text this short is a name or a label."""
_LEAD = 90
_MOST_SENTENCES = 4
_LONGEST_PIECE = 2000
"""Maximum number of characters of a paragraph or an item.

A longer piece is prose and isn't searched, because anyone may have written it.
"""
_NORM = re.compile(
    r"(?i)\b(?:must(?: not|n't)?|never|always|do not|don['’]t|shall|cannot|can['’]t|required|mandatory|forbidden|"
    r"prohibited|not allowed|no exceptions|under no circumstances)\b"
)
_CHOICE = re.compile(
    r"(?i)^(?:we |please )?(?:use|prefer|avoid|keep|put|place|store|write|name|follow|ensure|make sure|add|document|test|"
    r"treat|handle|return|raise|throw|log|validate|commit|pin|wrap|mark|define|declare|import|export|limit|separate|group|"
    r"favou?r|choose|adopt|stick to|default to|check|update|include|run|call|create|set|start|stop|ask|read|mock|split|"
    r"only|all|every|each|new|no)\b|\b(?:instead of|rather than|should(?: not|n't)?|prefer(?:red)?)\b"
)
_VERB = re.compile(
    r"(?i)\b(?:is|are|was|has|have|uses?|lives?|runs?|contains?|needs?|requires?|returns?|stores?|handles?|provides?|"
    r"supports?|depends?|means|comes?|goes|gets|takes?|keeps?|writes?|reads?|sends?|holds?|expects?|allows?|causes?|"
    r"fails?|breaks?|works?|answers?|includes?|follows?|exists?|stays?|starts?|wants?|prefers?|likes?)\b"
)
_NEGATED = re.compile(
    r"(?i)\b(?:don['’]?ts?|do not|avoid|never|anti-?patterns?|bad|wrong|forbidden|prohibited|not to|what not|mistakes|"
    r"out of scope|deprecated)\b|[❌🚫⛔]"
)
_OVER = re.compile(
    r"(?i)\b(?:no longer|outdated|obsolete|superseded|revoked|withdrawn|former(?:ly)?|old rules?|used to|previous(?:ly)?|legacy rules?)\b"
)
"""Words before a text, such as its heading, which say that the text is no longer valid."""
_CONDITION = re.compile(r"(?i)^(?:when|if|for|in|before|after|while|on|during|where)\b")
_BOILERPLATE = re.compile(
    r"(?i)this file (?:provides|contains|gives|is)|provides? guidance to|you are (?:an?|the) |^see (?:also )?[\[`@]|"
    r"^(?:todo|note to self|table of contents)\b|https?://\S+$|co-authored-by|generated (?:with|by)"
)
_NEWS = re.compile(
    r"(?i)\b(?:completed|done|to-?dos?|changelog|change ?log|recent(?:ly)?|status|roadmap|next steps|session summar\w+|"
    r"progress|in progress|history|release notes|current (?:state|work|focus|task)|milestones?)\b|✅"
)
_DANGLING = re.compile(
    r"(?i)(?:it|they|this|these|those|that|he|she|there|here|then|also|otherwise|however|read them|for example|e\.g\.|"
    r"example|you(?! (?:must|should|can|cannot|may|need|have to|are not allowed)\b))\b"
)
_WHY = re.compile(r"(?i)^(?:\*\*)?(?:why|reason|rationale|how to apply|because)(?:\*\*)?\s*:\s*(?:\*\*)?\s*")
_PROCEDURE = re.compile(r"(?i)\b(?:steps?|workflow|process|procedure|how to|setup|install\w*|order|first)\b")
"""Words which say that the items of a numbered list are consecutive steps."""
_COMMAND = re.compile(r"^`[^`]+`\s*(?:[-–—:→(].*)?$")
_BEGINS = re.compile(r"^`[^`]* [^`]*`")
"""A text that begins with a command describes the command."""
_BAD_MARK = re.compile(r"^\s*(?:❌|✗|✘|🚫|⛔|👎)")
_MARKS = re.compile(r"^[\s\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff\ufe0f]+")
_LINK = re.compile(r"!?\[([^\]]{0,400})\]\([^)]{0,2000}\)")
_STRONG = re.compile(r"(\*\*|__)(.+?)\1")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*])")
_DO = re.compile(
    r"^(?:DO|Do|(?i:important|note|critical|warning|tip|rule|remember|key point|nb))\s*[:–—!]+\s*"
)
_POINTS_AWAY = re.compile(r"(?i)\b(?:them|it|this|that|these|those|so)[.!]*$")
_FEW_WORDS = 5
_RULE_HEADING = re.compile(
    r"(?i)^(?:use|prefer|avoid|no|only|always|never|don['’]?t|do not|keep|favou?r|follow|run|ask|write|stop)\b|"
    r"\b(?:never|always|must|don['’]?t|do not|cannot|can['’]t|shall)\b"
)
"""Words in a heading that can be a rule."""
_TAG = re.compile(r"(?m)^[ ]{0,3}</?([A-Za-z][\w:.-]{0,60})(?:\s[^<>\n]{0,500})?>[ \t]*$")
_SHOWN_TAG = re.compile(
    r"(?i)example|bad|avoid|wrong|anti|dont|do-not|incorrect|pre$|code|script|style|details"
)
"""Tags around examples."""
_BOX = re.compile(r"^\[[ xX]\]\s+")
_DRAWN = re.compile(r"[├└│─]")


def read(text: str, first: int = 1) -> Read:
    """Return the statements of a text, and the skipped pieces. `first` is the number of its first line."""
    # Commands that only read the plane load this module too, and the parser is slow to load.
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    # Inline Markdown is parsed in this module, because crafted text can make the parser very slow.
    tree = SyntaxTreeNode(
        MarkdownIt("commonmark").enable("table").disable("inline").parse(_TAG.sub(_untagged, text))
    )
    found: list[Line] = []
    skipped: list[SkippedText] = []
    headings: list[tuple[int, str]] = []
    lead = ""
    for node in tree.children:
        if node.type == "heading":
            level = int(node.tag[1:])
            headings = [(depth, title) for depth, title in headings if depth < level]
            title = plain(_inline(node)[:_LONGEST_PIECE])
            headings.append((level, title))
            if _is_rule(title):
                skipped.append(SkippedText(title, _line(node, first), "heading"))
            lead = ""
            continue
        titles = tuple(title for _, title in headings)
        if node.type == "paragraph":
            paragraph, line = _inline(node), _line(node, first)
            if len(paragraph) > _LONGEST_PIECE:
                skipped.append(SkippedText(paragraph, line, "too long for one entry"))
                lead = ""
                continue
            why = _WHY.match(paragraph)
            if why and found:
                found[-1] = _reasoned(found[-1], paragraph[why.end() :])
                continue
            lead = plain(paragraph).rsplit("\n", 1)[-1] if paragraph.rstrip(" *").endswith(":") else ""
            pieces = (
                [SkippedText(paragraph, line, "only introduces the following lines")]
                if lead
                else _sentences(paragraph, line, titles)
            )
            _sort(pieces, found, skipped)
            continue
        if node.type in ("bullet_list", "ordered_list"):
            _sort(_items(node, first, titles, lead), found, skipped)
        elif node.type in _WHOLE:
            skipped.append(_whole(node, first))
        elif node.type == "html_block" and _text_of_html(node):
            skipped.append(SkippedText(_text_of_html(node), _line(node, first), "HTML"))
        lead = ""
    return Read(tuple(sorted(found, key=_place)), tuple(sorted(skipped, key=_place)))


def _place(piece: Line | SkippedText) -> int:
    return piece.line


_WHOLE: dict[str, Why] = {"fence": "code", "code_block": "code", "table": "table", "blockquote": "quote"}
"""Blocks that are skipped as one piece, by the parser's names."""


def _untagged(tag: re.Match[str]) -> str:
    """Remove a tag that only groups lines, such as `<rules>`.

    Otherwise Markdown reads everything up to the next empty line as HTML.
    """
    return tag[0] if _SHOWN_TAG.search(tag[1]) else ""


def _is_rule(title: str) -> bool:
    """True if a heading can be a rule. Shorter headings, such as `Always`, only introduce the text below."""
    return (
        len(title.split()) >= _FEWEST_WORDS
        and not title.endswith((":", "?"))
        and bool(_RULE_HEADING.search(title))
    )


def _text_of_html(node: "SyntaxTreeNode") -> str:
    """Return the first line with text in a block of HTML."""
    lines = re.sub(r"<[^<>]{0,2000}>", " ", node.content[:_LONGEST_PIECE]).splitlines()
    return next(filter(None, map(str.strip, lines)), "")


def _whole(node: "SyntaxTreeNode", first: int) -> SkippedText:
    inside = node.content if node.type in ("fence", "code_block") else _text_in(node)
    return SkippedText(inside.strip().partition("\n")[0], _line(node, first), _WHOLE[node.type])


def _text_in(node: "SyntaxTreeNode") -> str:
    """Return the text of a node, or of its first descendant that has text."""
    if node.type == "inline":
        return node.content
    return next(filter(None, map(_text_in, node.children)), "")


def _sort(pieces: Iterable[Line | SkippedText], found: list[Line], skipped: list[SkippedText]) -> None:
    for piece in pieces:
        if isinstance(piece, Line):
            found.append(piece)
        else:
            skipped.append(piece)


def _items(
    node: "SyntaxTreeNode", first: int, titles: tuple[str, ...], lead: str
) -> Iterator[Line | SkippedText]:
    around = lead + " ".join(titles[-1:])
    is_over = bool(_OVER.search(" ".join((*titles, lead))))
    is_procedure = node.type == "ordered_list" and not _NORM.search(around)
    against = bool(_NEGATED.search(" ".join((*titles[-1:], lead))))
    condition = lead.rstrip(": ") if lead and len(lead) <= _LEAD and _CONDITION.match(lead) else ""
    for item in node.children:
        source, inner = "", ""
        line = _line(item, first)
        for part in item.children:
            if part.type == "paragraph" and not source:
                source = _inline(part)
            elif part.type == "paragraph":
                yield SkippedText(plain(_inline(part)), _line(part, first), "continues the item above")
            elif part.type == "html_block" and _text_of_html(part):
                yield SkippedText(_text_of_html(part), _line(part, first), "HTML")
            elif part.type in ("bullet_list", "ordered_list"):
                inner = inner or plain(source)
                yield from _items(part, first, titles, inner if inner.endswith(":") else "")
            elif part.type in _WHOLE:
                yield _whole(part, first)
        if len(source) > _LONGEST_PIECE:
            yield SkippedText(source, line, "too long for one entry")
        elif is_over:
            yield SkippedText(source, line, "outdated, according to its heading")
        elif is_procedure and (_PROCEDURE.search(around) or not _NORM.search(plain(source))):
            yield SkippedText(source, line, "numbered step")
        else:
            yield from _item(source, line, titles, condition, against=against)


def _item(
    source: str, line: int, titles: tuple[str, ...], condition: str, *, against: bool
) -> Iterator[Line | SkippedText]:
    raw = _BOX.sub("", " ".join(source.split()))
    text = plain(raw)
    if not text:
        return
    if text.endswith(":"):
        yield SkippedText(text, line, "only introduces the following lines")
    elif _COMMAND.match(raw) or _DRAWN.search(raw) or (_BEGINS.match(raw) and not _NORM.search(text)):
        yield SkippedText(text, line, "command or path")
    elif _BAD_MARK.match(raw) or (against and not _NEGATED.search(text)):
        yield SkippedText(text, line, "negated by its heading")
    else:
        yield _statement(text, line, titles, condition)


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph. Line breaks don't matter."""
    return _SENTENCE.split(" ".join(paragraph.split()))


def _sentences(paragraph: str, line: int, titles: tuple[str, ...]) -> Iterator[Line | SkippedText]:
    """Yield the sentences of prose that demand or decide something.

    All other sentences are skipped. A paragraph of many sentences is skipped as a whole.
    """
    parts = list(_numbered(paragraph, line))
    if len(parts) > _MOST_SENTENCES:
        yield SkippedText(paragraph, line, "prose without a rule")
        return
    for sentence, at in parts:
        text = plain(sentence)
        if any(map(_OVER.search, titles)):
            yield SkippedText(text, at, "outdated, according to its heading")
        elif _NORM.search(text) or _CHOICE.search(text):
            yield _statement(text, at, titles)
        elif text:
            yield SkippedText(text, at, "prose without a rule")


def _numbered(paragraph: str, line: int) -> Iterator[tuple[str, int]]:
    """Yield the sentences of a paragraph, each with the line on which it begins."""
    lines = [number for number, row in enumerate(paragraph.splitlines(), line) for _ in row.split()]
    place = 0
    for sentence in sentences(paragraph):
        yield sentence, lines[place] if lines else line
        place += len(sentence.split())


def _statement(text: str, line: int, titles: tuple[str, ...], condition: str = "") -> Line | SkippedText:
    kind = kind_of(text)
    if why := _unfit(text, titles, condition, kind):
        return SkippedText(text, line, why)
    return Line(f"{condition}: {_inner(text)}" if condition else text, line, kind or "fact", titles)


def _unfit(text: str, titles: tuple[str, ...], condition: str, kind: str | None) -> Why | None:
    """Return why a text can't be a statement on its own, or None if it can."""
    if any(_NEWS.search(title) for title in titles):
        return "progress report"
    if _BOILERPLATE.search(text):
        return "about the file itself or its reader"
    if len(condition) + len(text) + 2 > LONGEST:
        return "too long for one entry"
    if _DANGLING.match(text) or (
        _POINTS_AWAY.search(text) and len(text.split()) <= _FEW_WORDS and not condition
    ):
        return "depends on the surrounding text"
    fewest = _FEWEST_WORDS if kind in (None, "fact") else _FEWEST_OF_A_RULE
    if len(re.findall(r"\w+", f"{condition} {text}")) < fewest:
        return "too short"
    return None if kind else "contains no rule, choice or fact"


def _inner(text: str) -> str:
    """Return a text in the form it has within a sentence. Names keep their capitals."""
    word = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if word[1:].islower() else text


def kind_of(text: str) -> str | None:
    """Return the kind of a statement, judged by its words, or None if it states nothing."""
    if _NORM.search(text):
        return "invariant"
    if _CHOICE.search(text):
        return "decision"
    return "fact" if _VERB.search(text) else None


def plain(text: str) -> str:
    """Return a text without emphasis, links and marks. Code stays in its backticks."""
    text = _LINK.sub(r"\1", text)
    text = _STRONG.sub(r"\2", text).replace("**", "")
    return _DO.sub("", _MARKS.sub("", text)).strip()


def _reasoned(line: Line, why: str) -> Line:
    reason = plain(" ".join(why.split()))
    return msgspec.structs.replace(line, why=f"{line.why} {reason}".strip())


def _inline(node: "SyntaxTreeNode") -> str:
    return "".join(child.content for child in node.children if child.type == "inline")


def _line(node: "SyntaxTreeNode", first: int) -> int:
    return first + (node.map[0] if node.map else 0)
