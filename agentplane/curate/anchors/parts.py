"""The parts of a text that evidence can name: the whole text, lines, or a definition."""

import textwrap
from collections.abc import Sequence
from functools import cached_property

from agentplane.curate.anchors import definitions, text_blocks
from agentplane.curate.anchors.source import Definition, Meaning, Source, cut, digest, lines_of, meaning_of
from agentplane.memory.evidence import File, Heading, Lines, Place, Symbol


class Text:
    """The text of a file, with its lines and definitions."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self._decoded = text_blocks.decoded(data)

    @property
    def is_binary(self) -> bool:
        return self._decoded is None

    @cached_property
    def plain(self) -> str:
        """The text with line feeds as line breaks. Empty for binary data."""
        return (self._decoded or "").replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines as they are in the file, with their ends."""
        is_wide = self.data[:2] in (b"\xff\xfe", b"\xfe\xff")
        return lines_of((self._decoded or "").encode(errors="replace") if is_wide else self.data)

    @cached_property
    def source(self) -> Source:
        return definitions.parse(self.path, self.plain, self.data)

    @cached_property
    def whole(self) -> Meaning | None:
        """The meaning of the whole text."""
        return self.source.whole()

    def cut(self, spans: Sequence[tuple[int, int]]) -> bytes:
        return cut(self.lines, spans)

    def shown(self, spans: Sequence[tuple[int, int]]) -> str:
        """Return these lines as text."""
        lines = self.plain.split("\n")
        return "".join("\n".join(lines[first - 1 : last]) + "\n" for first, last in spans)


class Part:
    """The part of a text that a piece of evidence names."""

    def __init__(
        self, text: Text, definitions: Sequence[Definition], spans: Sequence[tuple[int, int]]
    ) -> None:
        self.text = text
        self.definitions = definitions
        """Empty for lines and whole files."""
        self.spans = spans

    @cached_property
    def content(self) -> str:
        """Digest of the bytes."""
        return digest(self.text.cut(self.spans))

    @cached_property
    def meaning(self) -> Meaning | None:
        """The code without comments and layout, or None after a syntax error and in binary data."""
        if self.text.is_binary:
            return None
        if self.definitions:
            found = [self.text.source.meaning(one) for one in self.definitions]
            return _joined([one for one in found if one is not None]) if all(found) else None
        first, last = self.spans[0]
        if (first, last) == (1, len(self.text.lines)):
            return self.text.whole
        return _joined([self._between(*span) for span in self.spans])

    def _between(self, first: int, last: int) -> Meaning:
        """Return the meaning of lines. If that is only known for all of their code, their text counts."""
        meaning = self.text.source.between(first, last)
        return meaning if meaning is not None else meaning_of("lines1t", self._words(first, last))

    @property
    def as_text(self) -> list[str]:
        """The lines without empty lines and without their common indentation."""
        return [line for span in self.spans for line in self._words(*span)]

    def _words(self, first: int, last: int) -> list[str]:
        lines = textwrap.dedent(self.text.shown(((first, last),))).splitlines()
        return [line.rstrip() for line in lines if line.strip()]

    @property
    def lines(self) -> int:
        return sum(last - first + 1 for first, last in self.spans)

    @property
    def first(self) -> int:
        return self.spans[0][0]

    @property
    def last(self) -> int:
        return self.spans[-1][1]

    @property
    def shown(self) -> str:
        return self.text.shown(self.spans)

    @property
    def name(self) -> str:
        """The full name of the definition, or an empty text."""
        return self.definitions[0].name if self.definitions else ""


def at(text: Text, place: Place) -> Part | None:
    """Return the part of a text that evidence names, or None if the text doesn't have it."""
    match place:
        case File():
            return Part(text, (), ((1, len(text.lines)),))
        case Lines(first=first, last=last):
            return between(text, first, last)
        case Symbol(name=name) | Heading(name=name):
            return named(text, name)


def named(text: Text, name: str) -> Part | None:
    """Return the part of a text that defines a name, or None.

    A name that fits several definitions names all of them, so that a change of any of them is seen.
    """
    found = _matching(text.source, name)
    if found:
        return Part(text, found, sorted({span for one in found for span in one.spans}))
    if spans := text_blocks.mentions(text.plain, name):
        return Part(text, (), spans)
    return None


def is_defined(text: Text, name: str) -> bool:
    """True if a text defines a name, and doesn't only mention it."""
    return bool(_matching(text.source, name))


def has_word(text: Text, name: str) -> bool:
    """True if the last part of a name is a word of a text."""
    return text_blocks.has_word(text.plain, name)


def between(text: Text, first: int, last: int) -> Part | None:
    """Return the lines of a text, or None if it hasn't that many."""
    count = len(text.lines)
    return Part(text, (), ((first, min(last, count)),)) if 1 <= first <= count else None


def part_of(text: Text, definition: Definition) -> Part:
    return Part(text, (definition,), definition.spans)


def _joined(meanings: Sequence[Meaning]) -> Meaning | None:
    if len(meanings) == 1:
        return meanings[0]
    words = [one.digest for one in meanings]
    way = words[0].partition(":")[0] if words else ""
    return meaning_of(f"{way}+", words, sum(one.weight for one in meanings)) if words else None


def _matching(source: Source, name: str) -> tuple[Definition, ...]:
    """Return the definitions that a name means, with the best form of agreement."""
    if isinstance(source, text_blocks.BlockSource):
        block = source.named(name)
        return (block,) if block else ()
    if isinstance(source, text_blocks.HeadedSource):
        wanted = {name.lower(), text_blocks.slug(name)}
        return tuple(one for one in source.definitions if one.name in wanted)[:1]
    parts = text_blocks.parts_of(name)
    dotted = ".".join(parts)
    exact = tuple(one for one in source.definitions if one.name == dotted)
    inner = tuple(one for one in source.definitions if one.name.endswith(f".{dotted}"))
    if exact or inner:
        return exact or _without_nested(inner)
    # The name can begin with the name of the module or the package.
    outer = [one for one in source.definitions if dotted.endswith(f".{one.name}")]
    return tuple(sorted(outer, key=lambda one: -len(one.name))[:1]) if len(parts) > 1 else ()


def _without_nested(found: Sequence[Definition]) -> tuple[Definition, ...]:
    """Return the definitions that aren't inside of another one of them, such as a local function."""
    names = {one.name for one in found}
    return tuple(
        one for one in found if not any(one.name.startswith(f"{other}.") for other in names - {one.name})
    )
