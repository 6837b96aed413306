"""The types for a source text whose definitions are known."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec


_DIGEST_LENGTH = 32


class Definition(msgspec.Struct, frozen=True):
    """A named part of a source text, such as a function or a constant."""

    name: str
    """The name with the names of its scopes, such as `Class.method`."""
    spans: tuple[tuple[int, int], ...]
    """First and last line of each part, counted from 1. A name can be defined several times, as overloads are."""
    number: int = 0
    """Index among the definitions of the text."""

    @property
    def own(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]

    @property
    def first(self) -> int:
        return self.spans[0][0]

    @property
    def last(self) -> int:
        return max(last for _, last in self.spans)

    @property
    def lines(self) -> int:
        return sum(last - first + 1 for first, last in self.spans)


class Meaning(msgspec.Struct, frozen=True):
    """Code without its comments and layout."""

    digest: str
    """Begins with the way in which it was made, because digests made in two ways can't be compared."""
    weight: int
    """The number of tokens. Two definitions with few tokens can be equal by chance."""


class Source(Protocol):
    """A parsed text."""

    @property
    def definitions(self) -> Sequence[Definition]:
        """The definitions in the order of the text."""

    @property
    def error_line(self) -> int | None:
        """The line of the first syntax error."""

    def meaning(self, definition: Definition) -> Meaning | None:
        """Return the meaning of a definition, in which its own name is left out. None after a syntax error in it."""

    def whole(self) -> Meaning | None:
        """Return the meaning of the whole text, or None after a syntax error."""

    def between(self, first: int, last: int) -> Meaning | None:
        """Return the meaning of these lines. None if their code can't be told from comments, or if they have none."""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGEST_LENGTH]


def meaning_of(way: str, tokens: Iterable[str], weight: int | None = None) -> Meaning:
    """Return the meaning with these tokens."""
    # No token contains this byte, except one that a hostile text made, which then only differs from others.
    listed = list(tokens)
    text = "\0".join(f"{len(token)} {token}" for token in listed).encode(errors="surrogatepass")
    return Meaning(f"{way}:{digest(text)}", len(listed) if weight is None else weight)


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines of a text with their ends."""
    return data.splitlines(keepends=True)


def cut(lines: Sequence[bytes], spans: Iterable[tuple[int, int]]) -> bytes:
    """Return the bytes of these lines."""
    found = b"".join(b"".join(lines[first - 1 : last]) for first, last in spans)
    # The end of the last line of a file is layout.
    return found if found.endswith((b"\n", b"\r")) or not found else found + b"\n"
