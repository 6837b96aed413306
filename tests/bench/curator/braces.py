"""Tokens and definitions of Rust, Java and Go files, by their braces.

This reads only what well-formatted sources of releases contain, and says so if the braces of a file don't match.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple


ENDINGS = {".rs": "rust", ".java": "java", ".go": "go"}
_LEXERS = {
    "rust": re.compile(
        r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)"""
        r"""|(?P<text>b?r(?P<marks>\#*)".*?"(?P=marks)|b?"(?:\\.|[^"\\])*"|b?'(?:\\[^']*|[^'\\])')"""
        r"""|(?P<other>'\w+|\w+|->|=>|::|\S)""",
        re.DOTALL,
    ),
    "java": re.compile(
        r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)"""
        r'''|(?P<text>""".*?"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')'''
        r"""|(?P<other>\w+|->|::|\S)""",
        re.DOTALL,
    ),
    "go": re.compile(
        r"""(?P<skip>\s+|//(?!go:)[^\n]*|/\*.*?\*/)"""
        r"""|(?P<text>`[^`]*`|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')"""
        r"""|(?P<other>//go:[^\n]*|\w+|:=|<-|\S)""",
        re.DOTALL,
    ),
}
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_WORD = re.compile(r"[A-Za-z_]\w*")
_RUST_ITEMS = frozenset({"fn", "struct", "enum", "trait", "const", "static", "type", "impl", "mod", "union"})
_JAVA_TYPES = frozenset({"class", "interface", "enum", "record"})


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class _Item(NamedTuple):
    """A definition: its name, the index of the token with its name, and its first and last token."""

    name: str
    named: int
    first: int
    last: int


def read(text: str, language: str) -> dict:
    """Return tokens and definitions in the form in which definitions.cjs prints them."""
    tokens = [
        _Token(found[0], found.start(), found.end())
        for found in _LEXERS[language].finditer(text)
        if not found["skip"]
    ]
    starts = [found.end() for found in re.finditer("\n", text)]
    line = _Lines(starts)
    is_broken = not _is_balanced(tokens)
    items = [] if is_broken else list(_FINDERS[language](tokens, line))
    return {
        "broken": is_broken,
        "tokens": [(token.text, line(token.start), line(token.end - 1)) for token in tokens],
        "definitions": [_definition(item, tokens, text, line) for item in items],
    }


class _Lines:
    def __init__(self, starts: Sequence[int]) -> None:
        self._starts = starts

    def __call__(self, position: int) -> int:
        from bisect import bisect_right

        return bisect_right(self._starts, position) + 1


def _definition(item: _Item, tokens: Sequence[_Token], text: str, line: _Lines) -> dict:
    inside = tokens[item.first : item.last + 1]
    return {
        "name": item.name,
        "start": line(inside[0].start),
        "end": line(inside[-1].end - 1),
        "text": text[inside[0].start : inside[-1].end],
        "tokens": [token.text for token in inside],
        "without": [token.text for at, token in enumerate(inside, item.first) if at != item.named],
    }


def _is_balanced(tokens: Sequence[_Token]) -> bool:
    pairs, open_ones = {")": "(", "]": "[", "}": "{"}, []
    for token in tokens:
        if token.text in _OPEN:
            open_ones.append(token.text)
        elif token.text in _CLOSE and (not open_ones or open_ones.pop() != pairs[token.text]):
            return False
    return not open_ones


def _match(tokens: Sequence[_Token], at: int) -> int:
    """Return the index of the bracket that closes the one at an index."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place].text in _OPEN) - (tokens[place].text in _CLOSE)
        if depth == 0:
            return place
    return len(tokens) - 1


def _rust(tokens: Sequence[_Token], line: _Lines) -> Iterator[_Item]:
    yield from _rust_items(tokens, 0, len(tokens), "")


def _rust_items(tokens: Sequence[_Token], at: int, end: int, outer: str) -> Iterator[_Item]:
    while at < end:
        first = at
        while at < end and tokens[at].text == "#":
            at = _match(tokens, at + 1 + (tokens[at + 1].text == "!")) + 1
        # `const fn` and `unsafe impl` have words before.
        while at < end and not (
            tokens[at].text in _RUST_ITEMS
            and not (
                tokens[at].text == "const" and tokens[at + 1].text in ("fn", "unsafe", "extern", "async")
            )
        ):
            if tokens[at].text in (";", "{"):
                break
            at = _match(tokens, at) + 1 if tokens[at].text in _OPEN else at + 1
        if at >= end:
            return
        kind, named = tokens[at].text, at + 1
        brace = at
        while brace < end and tokens[brace].text not in ("{", ";"):
            brace = _match(tokens, brace) + 1 if tokens[brace].text in _OPEN else brace + 1
        if brace >= end:
            return
        # `const NAME: T = T { … };` has a brace before its semicolon.
        if kind in ("const", "static", "type"):
            while brace < end and tokens[brace].text != ";":
                brace = _match(tokens, brace) + 1 if tokens[brace].text in _OPEN else brace + 1
        last = _match(tokens, brace) if tokens[brace].text == "{" else brace
        if kind == "impl":
            owner = _rust_owner(tokens[at + 1 : brace])
            if owner:
                yield from _rust_items(tokens, brace + 1, last, owner)
        elif kind in _RUST_ITEMS and _WORD.fullmatch(tokens[named].text) and kind != "mod":
            yield _Item(f"{outer}.{tokens[named].text}" if outer else tokens[named].text, named, first, last)
        at = last + 1


def _rust_owner(head: Sequence[_Token]) -> str:
    """Return the type of `impl Trait for Type<T>`."""
    words = [token.text for token in head]
    if words and words[0] == "<":
        depth = 0
        for at, word in enumerate(words):
            depth += (word == "<") - (word == ">")
            if depth == 0:
                words = words[at + 1 :]
                break
    if "for" in words:
        words = words[words.index("for") + 1 :]
    found = [word for word in words if _WORD.fullmatch(word) and word not in ("dyn", "mut")]
    return found[0] if found and "::" not in words else ""


def _java(tokens: Sequence[_Token], line: _Lines) -> Iterator[_Item]:
    yield from _java_items(tokens, 0, len(tokens), ())


def _java_items(tokens: Sequence[_Token], at: int, end: int, outer: tuple[str, ...]) -> Iterator[_Item]:
    while at < end:
        first, named, called, is_type = at, None, False, False
        while at < end and tokens[at].text not in (";", "{", "="):
            text = tokens[at].text
            if text == "@" and tokens[at + 1].text != "interface":
                at += 2
                while tokens[at].text == ".":
                    at += 2
                at = _match(tokens, at) + 1 if tokens[at].text == "(" else at
                continue
            if text in _JAVA_TYPES and not called:
                is_type, named = True, at + 1
            if text == "(":
                if not is_type and not called and _WORD.fullmatch(tokens[at - 1].text):
                    named, called = at - 1, True
                at = _match(tokens, at) + 1
                continue
            at += 1
        if at >= end:
            return
        if tokens[at].text == "=":
            named = at - 1
            while at < end and tokens[at].text != ";":
                at = _match(tokens, at) + 1 if tokens[at].text in _OPEN else at + 1
        elif tokens[at].text == ";" and not called and not is_type:
            named = at - 1 if outer else None
        last = _match(tokens, at) if tokens[at].text == "{" else at
        if named is not None and _WORD.fullmatch(tokens[named].text):
            names = (*outer, tokens[named].text)
            yield _Item(".".join(names), named, first, last)
            # The constants of an enum look like calls.
            is_enum = any(token.text == "enum" for token in tokens[first:named])
            if is_type and not is_enum and tokens[at].text == "{":
                yield from _java_items(tokens, at + 1, last, names)
        at = last + 1


def _go(tokens: Sequence[_Token], line: _Lines) -> Iterator[_Item]:
    at = 0
    while at < len(tokens):
        kind, first = tokens[at].text, at
        if kind == "func":
            owner = ""
            at += 1
            if tokens[at].text == "(":
                close = _match(tokens, at)
                words = [token.text for token in tokens[at:close] if _WORD.fullmatch(token.text)]
                owner = words[1] if len(words) > 1 else words[0]
                at = close + 1
            named = at
            last = _end_of_line(tokens, at, line)
            yield _Item(f"{owner}.{tokens[named].text}" if owner else tokens[named].text, named, first, last)
        elif kind in ("type", "var", "const") and tokens[at + 1].text != "(":
            last = _end_of_line(tokens, at, line)
            yield _Item(tokens[at + 1].text, at + 1, first, last)
        else:
            last = _end_of_line(tokens, at, line)
        at = last + 1


def _end_of_line(tokens: Sequence[_Token], at: int, line: _Lines) -> int:
    """Return the last token of the statement: the one before a line break outside of brackets."""
    while at < len(tokens):
        if tokens[at].text in _OPEN:
            at = _match(tokens, at)
        if at + 1 >= len(tokens) or line(tokens[at + 1].start) > line(tokens[at].end - 1):
            return at
        at += 1
    return len(tokens) - 1


_FINDERS = {"rust": _rust, "java": _java, "go": _go}
