"""Single statements out of Markdown that people or tools wrote as instructions or notes.

A statement is a list item or a sentence that says what holds or what is to be done, and that can be understood alone.
Commands, code, tables, steps and long prose are left where they are, and counted.
"""

import re
from collections import Counter
from collections.abc import Iterator

import msgspec
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode


class Line(msgspec.Struct, frozen=True):
    """A statement, and where it stands."""

    text: str
    line: int
    kind: str
    headings: tuple[str, ...] = ()
    why: str = ""
    """Its reason, where one follows it."""


class Read(msgspec.Struct, frozen=True):
    lines: tuple[Line, ...]
    left: Counter[str]
    """How much was left, by what it is."""


LONGEST = 320
_FEWEST_WORDS = 4
_LEAD = 90
_LONGEST_PIECE = 2000
"""Characters of a paragraph or an item; what has more is prose, and is not looked at: nobody knows who wrote it."""
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
    r"(?i)(?:it|they|this|these|those|that|he|she|there|here|then|also|otherwise|however|you|read them|for example|e\.g\.|"
    r"example)\b"
)
_WHY = re.compile(r"(?i)^(?:\*\*)?(?:why|reason|rationale|how to apply|because)(?:\*\*)?\s*:\s*(?:\*\*)?\s*")
_COMMAND = re.compile(r"^`[^`]+`\s*(?:[-–—:→(].*)?$")
_BEGINS = re.compile(r"^`[^`]* [^`]*`")
"""What begins with a command tells what that does."""
_BAD_MARK = re.compile(r"^\s*(?:❌|✗|✘|🚫|⛔|👎)")
_MARKS = re.compile(r"^[\s\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff\ufe0f]+")
_LINK = re.compile(r"!?\[([^\]]{0,400})\]\([^)]{0,2000}\)")
_STRONG = re.compile(r"(\*\*|__)(.+?)\1")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*])")
_DO = re.compile(
    r"^(?:DO|Do|(?i:important|note|critical|warning|tip|rule|remember|key point|nb))\s*[:–—!]+\s*"
)
_BOX = re.compile(r"^\[[ xX]\]\s+")
_DRAWN = re.compile(r"[├└│─]")


def read(text: str, first: int = 1) -> Read:
    """The statements of a text whose first line has this number."""
    # What stands within a line is looked at here; the parser would take its time for what is meant to be slow.
    tree = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").disable("inline").parse(text))
    found: list[Line] = []
    left: Counter[str] = Counter()
    headings: list[tuple[int, str]] = []
    lead = ""
    for node in tree.children:
        if node.type == "heading":
            level = int(node.tag[1:])
            headings = [(depth, title) for depth, title in headings if depth < level]
            headings.append((level, plain(_inline(node)[:_LONGEST_PIECE])))
            lead = ""
            continue
        titles = tuple(title for _, title in headings)
        if node.type == "paragraph":
            said = _inline(node)
            if len(said) > _LONGEST_PIECE:
                left["prose"] += 1
                lead = ""
                continue
            why = _WHY.match(said)
            if why and found:
                found[-1] = _reasoned(found[-1], said[why.end() :])
                continue
            lead = plain(said).rsplit("\n", 1)[-1] if said.rstrip(" *").endswith(":") else ""
            if not lead:
                found += _sentences(said, _line(node, first), titles, left)
            continue
        if node.type in ("bullet_list", "ordered_list"):
            found += _items(node, first, titles, lead, left)
        elif node.type in ("fence", "code_block"):
            left["code"] += 1
        elif node.type == "table":
            left["tables"] += 1
        elif node.type == "blockquote":
            left["quotes"] += 1
        lead = ""
    return Read(tuple(found), left)


def _items(
    node: SyntaxTreeNode, first: int, titles: tuple[str, ...], lead: str, left: Counter[str]
) -> Iterator[Line]:
    if node.type == "ordered_list" and not _NORM.search(lead + " ".join(titles[-1:])):
        left["steps"] += len(node.children)
        return
    against = bool(_NEGATED.search(" ".join((*titles[-1:], lead))))
    condition = lead.rstrip(": ") if lead and len(lead) <= _LEAD and _CONDITION.match(lead) else ""
    for item in node.children:
        said, inner = "", ""
        for part in item.children:
            if part.type == "paragraph" and not said:
                said = _inline(part)
            elif part.type in ("bullet_list", "ordered_list"):
                inner = inner or plain(said)
                yield from _items(part, first, titles, inner if inner.endswith(":") else "", left)
            elif part.type in ("fence", "code_block"):
                left["code"] += 1
        if len(said) > _LONGEST_PIECE:
            left["prose"] += 1
            continue
        yield from _item(said, _line(item, first), titles, condition, left, against=against)


def _item(
    said: str, line: int, titles: tuple[str, ...], condition: str, left: Counter[str], *, against: bool
) -> Iterator[Line]:
    raw = _BOX.sub("", " ".join(said.split()))
    text = plain(raw)
    if not text or text.endswith(":"):
        return
    if _COMMAND.match(raw) or _DRAWN.search(raw) or (_BEGINS.match(raw) and not _NORM.search(text)):
        left["commands and paths"] += 1
    elif _BAD_MARK.match(raw) or (against and not _NEGATED.search(text)):
        # Alone it would say the opposite of what stands above it.
        left["fragments"] += 1
    else:
        yield from _statement(text, line, titles, left, condition)


def _sentences(said: str, line: int, titles: tuple[str, ...], left: Counter[str]) -> Iterator[Line]:
    """Of prose only what demands or decides something; a paragraph of more is left as a whole."""
    sentences = _SENTENCE.split(" ".join(said.split()))
    if len(sentences) > 4:
        left["prose"] += 1
        return
    for sentence in sentences:
        text = plain(sentence)
        if _NORM.search(text) or _CHOICE.search(text):
            yield from _statement(text, line, titles, left)
        elif text:
            left["prose"] += 1


def _statement(
    text: str, line: int, titles: tuple[str, ...], left: Counter[str], condition: str = ""
) -> Iterator[Line]:
    if any(_NEWS.search(title) for title in titles):
        left["reports of progress"] += 1
    elif _BOILERPLATE.search(text):
        left["boilerplate"] += 1
    elif len(condition) + len(text) + 2 > LONGEST:
        left["prose"] += 1
    elif (
        _DANGLING.match(text)
        or len(re.findall(r"\w+", f"{condition} {text}")) < _FEWEST_WORDS
        or not (kind := kind_of(text))
    ):
        left["fragments"] += 1
    else:
        yield Line(f"{condition}: {_inner(text)}" if condition else text, line, kind, titles)


def _inner(text: str) -> str:
    """As it is written within a sentence: names keep their capitals."""
    word = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if word[1:].islower() else text


def kind_of(text: str) -> str | None:
    """The kind of a statement by its words; None: it says nothing that could hold."""
    if _NORM.search(text):
        return "invariant"
    if _CHOICE.search(text):
        return "decision"
    return "fact" if _VERB.search(text) else None


def plain(text: str) -> str:
    """Without emphasis, links and marks; code stays in its ticks."""
    text = _LINK.sub(r"\1", text)
    text = _STRONG.sub(r"\2", text).replace("**", "")
    return _DO.sub("", _MARKS.sub("", text)).strip()


def _reasoned(line: Line, why: str) -> Line:
    said = plain(" ".join(why.split()))
    return msgspec.structs.replace(line, why=f"{line.why} {said}".strip())


def _inline(node: SyntaxTreeNode) -> str:
    return "".join(child.content for child in node.children if child.type == "inline")


def _line(node: SyntaxTreeNode, first: int) -> int:
    return first + (node.map[0] if node.map else 0)
