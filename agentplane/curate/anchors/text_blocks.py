"""Named parts of texts that no grammar parses: sections under headings, and blocks such as a key of a settings file."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentplane.curate.anchors.source import Definition, Meaning, meaning_of


_BREAK = re.compile(r"\r\n|\r|\n")
_WAY = "text1"
_HEADING = re.compile(r"(#{1,6})[ \t]+(?=\S)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}[ \t]*$")
_SLUG_DROPPED = re.compile(r"[^\w\- ]")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_OWN_ID = re.compile(r"[ \t]*\{#([\w.:-]+)\}$")
_SECTION = re.compile(r"[ \t]*\[+([^\[\]]+)\]+[ \t]*(?:[#;].*)?$")
_LONGEST_TITLE = 300
_KEYWORDS = (
    "export|function|local|define|defn|def|func|fun|fn|sub|resource|module|variable|target|create|table|view|or|replace|"
    "const|let|set|type|message|service|enum|input|interface|class|object|struct|trait|protocol|extension|public|"
    "private|internal|static|final|override|val|var|abstract"
)
"""Words that can precede the name that a line defines."""
_TABULAR = (".csv", ".tsv", ".patch", ".diff")


class _Section(NamedTuple):
    """A heading and its line."""

    line: int
    level: int
    title: str


class HeadedSource:
    """A text with headings, in Markdown or reStructuredText. Its definitions are its sections, by slug."""

    error_line: int | None = None

    def __init__(self, text: str) -> None:
        self._lines = lines_in(text)
        self.definitions: Sequence[Definition] = list(_sections(self._lines))

    def meaning(self, definition: Definition) -> Meaning | None:
        first, last = definition.spans[0]
        return self.between(first + 1, last)

    def whole(self) -> Meaning | None:
        return self.between(1, len(self._lines))

    def between(self, first: int, last: int) -> Meaning | None:
        found = list(_paragraphs(self._lines[first - 1 : last]))
        return meaning_of("md1", found, sum(len(one.split()) for one in found))


class BlockSource:
    """A text of any other form. Its definitions are blocks that begin with a name and are indented or bracketed."""

    error_line: int | None = None
    definitions: Sequence[Definition] = ()

    def __init__(self, text: str, path: str) -> None:
        self._lines = lines_in(text)
        self._is_tabular = path.endswith(_TABULAR)

    def named(self, name: str) -> Definition | None:
        """Return the block of a name, such as `tool.ruff` in a TOML file or the target of a makefile."""
        spans = _block_of(self._lines, name)
        return Definition(name, spans) if spans else None

    def meaning(self, definition: Definition) -> Meaning | None:
        parts = [line for first, last in definition.spans for line in self._lines[first - 1 : last]]
        return meaning_of(_WAY, self._plain(parts))

    def whole(self) -> Meaning | None:
        return meaning_of(_WAY, self._plain(self._lines))

    def between(self, first: int, last: int) -> Meaning | None:
        return meaning_of(_WAY, self._plain(self._lines[first - 1 : last]))

    def _plain(self, lines: Sequence[str]) -> list[str]:
        """Return the lines without white space at their ends, and without empty lines at the end."""
        plain = list(lines) if self._is_tabular else [line.rstrip(" \t") for line in lines]
        while plain and not plain[-1]:
            plain.pop()
        return plain


def mentions(text: str, name: str) -> tuple[tuple[int, int], ...]:
    """Return the lines that contain all words of a name."""
    words = [word for word in re.split(r"::|[.#:/()\[\] ]+", name) if word][:8]
    found = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in words]
    if not found or not all(one.search(text) for one in found):
        return ()
    last = found[-1]
    lines = [number for number, line in enumerate(lines_in(text), 1) if last.search(line)]
    exact = [number for number, line in enumerate(lines_in(text), 1) if name in line]
    return tuple((number, number) for number in (exact or lines)[:200])


def has_word(text: str, name: str) -> bool:
    """True if the last part of a dotted name is a word of a text."""
    own = last_part(name)
    return bool(own) and re.search(rf"(?<!\w){re.escape(own)}(?!\w)", text) is not None


def last_part(name: str) -> str:
    """Return the last part of a name such as `Class.method()` or `Class::method`."""
    return parts_of(name)[-1]


def parts_of(name: str) -> list[str]:
    """Return the parts of a name, without parameters and arguments."""
    bare = re.sub(r"[(\[<].*", "", name.strip(), flags=re.DOTALL)
    parts = [part.strip("`'\"") for part in re.split(r"::|[.#/]", bare)]
    return [part for part in parts if part] or [name]


def lines_in(text: str) -> list[str]:
    """Return the lines of a text. Only line breaks end a line, as in editors and compilers."""
    lines = _BREAK.split(text)
    return lines[:-1] if lines and not lines[-1] else lines


def slug(title: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return _SLUG_DROPPED.sub("", _LINK.sub(r"\1", title).lower().strip()).replace(" ", "-")


def decoded(data: bytes) -> str | None:
    """Return the text, or None if the bytes are binary."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            try:
                return data.decode(encoding).removeprefix("\ufeff")
            except UnicodeDecodeError:
                return None
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _sections(lines: Sequence[str]) -> Iterator[Definition]:
    headings = list(_headings(lines))
    seen: dict[str, int] = {}
    for number, heading in enumerate(headings):
        later = (one.line - 1 for one in headings[number + 1 :] if one.level <= heading.level)
        own_id = _OWN_ID.search(heading.title)
        name = own_id[1] if own_id else slug(heading.title)
        count = seen.get(name, 0)
        seen[name] = count + 1
        last = next(later, len(lines))
        yield Definition(f"{name}-{count}" if count else name, ((heading.line, last),), number)


def _headings(lines: Sequence[str]) -> Iterator[_Section]:
    fence = ""
    levels: list[str] = []
    for number, line in enumerate(lines, 1):
        if found := _FENCE.match(line):
            mark = found[1]
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not line.strip().strip(mark[0]):
                fence = ""
            continue
        if fence:
            continue
        if heading := _HEADING.match(line):
            title = line[heading.end() :].rstrip().rstrip("#").rstrip()
            yield _Section(number, len(heading[1]), title[:_LONGEST_TITLE])
        elif (
            number > 1
            and (under := _UNDERLINE.match(line))
            and _is_title(lines, number - 2, len(line.rstrip()))
        ):
            if under[1] not in levels:
                levels.append(under[1])
            level = 1 if under[1] == "=" else 2 if under[1] == "-" else levels.index(under[1]) + 1
            yield _Section(number - 1, level, lines[number - 2].strip()[:_LONGEST_TITLE])


def _is_title(lines: Sequence[str], place: int, width: int) -> bool:
    """True if the line at this place is a title for an underline of this width."""
    title = lines[place]
    alone = place == 0 or not lines[place - 1].strip() or _UNDERLINE.match(lines[place - 1]) is not None
    is_text = (
        bool(title.strip())
        and not title.startswith((" ", "\t", "|", "-", "#", ">"))
        and not _UNDERLINE.match(title)
    )
    return alone and is_text and width >= min(3, len(title.rstrip()))


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Yield the paragraphs, in which line breaks don't count. Lines of code keep their form."""
    fence = ""
    words: list[str] = []
    for line in lines:
        found = _FENCE.match(line)
        if found or fence or line.startswith(("    ", "\t")) or not line.strip():
            if words:
                yield " ".join(words)
                words = []
            if found and not fence:
                fence = found[1]
            elif found and found[1].startswith(fence):
                fence = ""
            if line.strip():
                yield f"| {line.rstrip()}"
        else:
            words += line.split()
    if words:
        yield " ".join(words)


def _block_of(lines: Sequence[str], name: str) -> tuple[tuple[int, int], ...]:
    """Return the lines of the block with a name, or nothing."""
    parts = parts_of(name.strip().strip("`'\""))
    # A section can have a name with dots, such as `[tool.ruff]`.
    for count in range(len(parts), 0, -1):
        section = _section(lines, ".".join(parts[:count]))
        if section is not None:
            return (
                _nested(lines, parts[count:], section)
                if count < len(parts)
                else ((section[0] + 1, section[1]),)
            )
    return _nested(lines, parts, (0, len(lines)))


def _section(lines: Sequence[str], name: str) -> tuple[int, int] | None:
    """Return the indices of the lines of a section, from its heading in brackets to the next one."""
    for number, line in enumerate(lines):
        if (found := _SECTION.match(line)) and found[1].replace('"', "").replace("'", "").strip() == name:
            return number, _end_of_section(lines, number)
    return None


def _nested(
    lines: Sequence[str], parts: Sequence[str], within: tuple[int, int]
) -> tuple[tuple[int, int], ...]:
    """Return the block of the last part, inside the blocks of the parts before it."""
    first, last = within
    for place, part in enumerate(parts):
        block = _named_block(lines, part, first, last)
        if block is None:
            return ()
        first, last = block
        if place < len(parts) - 1:
            first += 1
    return ((first + 1, last),)


def _named_block(lines: Sequence[str], part: str, first: int, last: int) -> tuple[int, int] | None:
    key = re.compile(
        rf"[ \t]*(?:[-*+][ \t]+)?(?:(?i:{_KEYWORDS})\b[ \t]*)*"
        rf"[\"'`]?(?<!\w){re.escape(part)}(?!\w)[\"'`]?[^\w\n]*?(?:[:=({{]|$|[ \t])"
    )
    for number in range(first, last):
        if key.match(lines[number]):
            return number, min(last, _end_of_block(lines, number))
    return None


def _end_of_section(lines: Sequence[str], start: int) -> int:
    for number in range(start + 1, len(lines)):
        if _SECTION.match(lines[number]):
            end = number
            break
    else:
        end = len(lines)
    return _without_empty_end(lines, start, end)


def _end_of_block(lines: Sequence[str], start: int) -> int:
    """Return the end of the block that begins in a line: the lines that are indented more, and a closing bracket."""
    indent = _indent(lines[start])
    number = start + 1
    while number < len(lines) and (not lines[number].strip() or _indent(lines[number]) > indent):
        number += 1
    if (
        number < len(lines)
        and lines[number].strip()[:1] in ("}", "]", ")")
        and _indent(lines[number]) == indent
    ):
        number += 1
        return number
    return _without_empty_end(lines, start, number)


def _without_empty_end(lines: Sequence[str], start: int, end: int) -> int:
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
