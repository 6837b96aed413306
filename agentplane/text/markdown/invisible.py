"""Parts of a Markdown text that are invisible once it is rendered.

Examples are comments, hidden HTML and unused references. Code is displayed in its source form, so a comment
in a code span or a fence counts as visible. The scan goes through the text once from the left, as a renderer
does, so an unfinished fence can't hide a comment from it.
"""

import re
from collections.abc import Iterator

import msgspec


class Unseen(msgspec.Struct, frozen=True):
    kind: str
    """The kind with its article, for example `an HTML comment`."""
    text: str
    offset: int


_MAY = re.compile(
    r"<[!?a-zA-Z]|^ {0,3}\[|\]\(|\{\s*(?:display|color)|\n{20}|[^\S\n]{120}|\u2800|\\(?:phantom|color)",
    re.MULTILINE,
)
_NEXT = re.compile(
    r"(?P<fence>^ {0,3}(?:`{3,}(?=[^`\n]*$)|~{3,}))|(?P<escaped>\\[`<\[])|(?P<code>`+)|(?P<comment><!--)|(?P<other><(?:!\[CDATA\[|![A-Za-z]|\?))"
    r"|(?P<tag><[A-Za-z][A-Za-z0-9-]{0,30}(?=[\s/>]))",
    re.MULTILINE,
)
_REFERENCE = re.compile(
    r"^ {0,3}\[(?P<label>[^\[\]\n]{1,999})\]:[^\S\n]*\n?[^\S\n]*(?P<target><[^<>\n]*>|\S+)?(?P<rest>[^\n]*)",
    re.MULTILINE,
)
_EMPTY_LINK = re.compile(r"(?<!!)\[\s*\]\((?P<target>[^()\n]{3,500})\)")
_FAR = re.compile(r"(?<!\s)\s{20,}+(?=\S)")
_BLANKS = re.compile(r"[^\S\n]{120}")
_TAG_END = re.compile(r"(?:[^>\"']|\"[^\"]*\"|'[^']*')*+>")
_HIDES = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0?\.?0*\s*(?:[;\"'!]|$)|font-size\s*:\s*[01](?:\.\d+)?(?:px|pt|em|rem|%)?\s*(?:[;\"'!]|$)"
    r"|(?:^|[;\"'\s])color\s*[:=]\s*[\"']?\s*(?:white|transparent|#f{3,8}\b|#ffffff00|rgba?\(\s*255\s*,\s*255\s*,\s*255|rgba\([^)]*,\s*0?\.?0+\s*\))"
    r"|text-indent\s*:\s*-\d{3,}|(?:left|top|right|margin-left|margin-top)\s*:\s*-\d{3,}|clip\s*:\s*rect|clip-path\s*:|(?:max-)?(?:height|width)\s*:\s*0|transform\s*:\s*scale\(\s*0"
    r"|\btype\s*=\s*[\"']?hidden|\bclass\s*=\s*[\"'][^\"']*\b(?:sr-only|visually-hidden|screen-reader-text|hidden|d-none)\b|(?:^|\s)hidden(?:\s|=|/|$)",
    re.IGNORECASE,
)
_SILENT = frozenset(
    (
        "script",
        "style",
        "template",
        "noscript",
        "title",
        "head",
        "dialog",
        "datalist",
        "iframe",
        "object",
        "noframes",
        "rp",
        "audio",
        "video",
        "canvas",
    )
)
_FOLDED = frozenset(("details",))
_WORDS = re.compile(r"\w+", re.UNICODE)
_MOST = 20
_LONGEST_TAG = 2000


def parts(text: str) -> tuple[Unseen, ...]:
    """Return at most twenty invisible parts, in the order of the text."""
    if not _MAY.search(text):
        return ()
    found: list[Unseen] = []
    for one in _parts(text):
        found.append(one)
        if len(found) >= _MOST:
            break
    return tuple(sorted(found, key=lambda one: one.offset))


def _parts(text: str) -> Iterator[Unseen]:
    shown = list(text)
    at = 0
    while hit := _NEXT.search(text, at):
        kind, start = hit.lastgroup, hit.start()
        if kind == "escaped":
            at = hit.end()
        elif kind == "fence":
            at = _end_of_fence(text, hit)
            shown[start:at] = _blank(text[start:at])
        elif kind == "code":
            at = _end_of_code(text, hit)
            shown[start:at] = _blank(text[start:at])
        elif kind == "comment":
            end, inner = _end_of_comment(text, hit.end())
            yield Unseen("an HTML comment", inner, start)
            shown[start:end] = _blank(text[start:end])
            at = end
        elif kind == "other":
            end = text.find("]]>" if "[CDATA" in hit[0] else ">", hit.end())
            end = len(text) if end < 0 else end
            yield Unseen("an HTML declaration or instruction", text[hit.end() : end], start)
            at = end
        else:
            end = _end_of_tag(text, hit.end())
            at = end
            yield from _of_tag(text, hit[0][1:].lower(), text[hit.end() : end], end, start)
    bare = "".join(shown)
    yield from _references(bare, text)
    for hit in _EMPTY_LINK.finditer(bare):
        yield Unseen("a link without text", hit["target"], hit.start())
    for hit in _FAR.finditer(bare):
        if hit[0].count("\n") >= 20 or _BLANKS.search(hit[0]):
            yield Unseen("text far outside the visible area", text[hit.end() : hit.end() + 400], hit.end())


def _blank(part: str) -> str:
    """Return a text of the same length that means nothing in Markdown. Line ends stay."""
    return re.sub(r"[^\n]", "x", part)


def _end_of_fence(text: str, hit: "re.Match[str]") -> int:
    mark = hit[0].strip()
    end_of_line = text.find("\n", hit.end())
    if end_of_line < 0:
        return len(text)
    closing = re.compile(rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[^\S\n]*$", re.MULTILINE)
    closed = closing.search(text, end_of_line)
    return closed.end() if closed else len(text)


def _end_of_code(text: str, hit: "re.Match[str]") -> int:
    """Return the end of the code span that begins here.

    If it isn't closed on the same line, return the end of its marks.
    """
    line_end = text.find("\n", hit.end())
    line = text[hit.end() : line_end if line_end >= 0 else len(text)]
    for run in re.finditer("`+", line):
        if len(run[0]) == len(hit[0]):
            return hit.end() + run.end()
    return hit.end()


def _end_of_comment(text: str, begin: int) -> tuple[int, str]:
    for empty in (">", "->"):
        if text.startswith(empty, begin):
            return begin + len(empty), ""
    ends = [(end, len(mark)) for mark in ("-->", "--!>") if (end := text.find(mark, begin)) >= 0]
    end, size = min(ends, default=(len(text), 0))
    return end + size, text[begin:end]


def _end_of_tag(text: str, begin: int) -> int:
    """Return the offset after the `>` of a tag. A `>` inside quotes doesn't end the tag."""
    found = _TAG_END.match(text, begin, begin + _LONGEST_TAG)
    return found.end() if found else begin


def _of_tag(text: str, name: str, attributes: str, end: int, start: int) -> Iterator[Unseen]:
    if not attributes:
        return
    hides = bool(_HIDES.search(attributes[:-1]))
    if not (hides or name in _SILENT or (name in _FOLDED and not re.search(r"\bopen\b", attributes))):
        return
    close = text.lower().find(f"</{name}", end) if len(text) < 200_000 else -1
    inner = text[end : close if close >= 0 else min(len(text), end + 2000)]
    if hides:
        yield Unseen("hidden HTML", inner or attributes[:-1], start)
    elif close >= 0 and len(_WORDS.findall(inner[:400])) > 1:
        what = "a collapsed section" if name in _FOLDED else f"text inside <{name}>"
        yield Unseen(what, inner, start)


def _references(bare: str, text: str) -> Iterator[Unseen]:
    for hit in _REFERENCE.finditer(bare):
        label, target = hit["label"], hit["target"] or ""
        rest = hit["rest"].strip()
        if label.startswith("^"):
            if f"[{label}]" not in bare[: hit.start()] + bare[hit.end() :]:
                yield Unseen("an unused footnote", text[hit.end("label") + 2 : hit.end()], hit.start())
            continue
        comment = label.strip().lower() in ("//", "comment", "#", "_", "-", ".") or target in ("#", "<>", "")
        quoted = rest[:1] in "\"'(" and len(rest) > 1
        used = bare.lower().count(f"[{label.lower()}]") > 1
        if (comment and rest) or (not used and (quoted or len(_WORDS.findall(label)) > 3)):
            yield Unseen("a Markdown comment", rest.strip("\"'()") or label, hit.start())
