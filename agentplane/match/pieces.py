"""Texts as the pieces of words that static embeddings know: the byte pair encoding of Llama 2, from its vocabulary alone.

The library that does this takes 20 MB more to encode a sentence. In the file of this tokenizer the merges are in the order of the numbers
of what they make, but for runs of blanks, which come last; so the vocabulary says all of it. No piece holds a blank behind another
character, so each word is encoded by itself. For any other file the library is used.
"""

import hashlib
import re
from pathlib import Path

import msgspec

from agentplane.text import decoding


_BLANK = "\u2581"
_WORD = re.compile(f"{_BLANK}*[^{_BLANK}]+|{_BLANK}+")
_MOST_WORDS = 4096
_FILE = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
"""The sha256 of the file for which all this is true."""


class _Added(msgspec.Struct, frozen=True):
    content: str


class _Model(msgspec.Struct, frozen=True):
    vocab: dict[str, int]


class _Config(msgspec.Struct, frozen=True):
    model: _Model
    added_tokens: list[_Added]


class Pieces:
    """Made from the file in which the tokenizer is kept. Raises ValueError for any other one."""

    def __init__(self, file: Path) -> None:
        data = file.read_bytes()
        if hashlib.sha256(data).hexdigest() != _FILE:
            raise ValueError("another tokenizer")
        config = decoding.Json(_Config).decode(data)
        self._vocab = config.model.vocab
        # A run of blanks is made last.
        last = len(self._vocab)
        self._never = 2 * last
        self._ranks = {
            piece: number + last for piece, number in self._vocab.items() if not piece.strip(_BLANK)
        }
        # These stand for themselves wherever they are in a text.
        self._special = re.compile(
            "(" + "|".join(re.escape(one.content) for one in config.added_tokens) + ")"
        )
        self._known: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """The numbers of the pieces of a text."""
        found: list[int] = []
        for number, part in enumerate(self._special.split(text)):
            if number % 2:
                found.append(self._vocab[part])
            elif part:
                for word in _WORD.findall(_BLANK + part.replace(" ", _BLANK)):
                    found += self._of_word(word)
        return found

    def _of_word(self, word: str) -> list[int]:
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= _MOST_WORDS:
                self._known.clear()
            found = self._known[word] = self._encoded(word)
        return found

    def _encoded(self, word: str) -> list[int]:
        vocab = self._vocab
        symbols = [piece for char in word for piece in ([char] if char in vocab else _bytes(char))]
        # Of each symbol and the one behind it, when they are made one. A merge changes two of these.
        ranks = [*map(self._rank, symbols, symbols[1:])]
        while ranks and (least := min(ranks)) < self._never:
            at = ranks.index(least)
            symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
            del ranks[at]
            if at < len(ranks):
                ranks[at] = self._rank(symbols[at], symbols[at + 1])
            if at:
                ranks[at - 1] = self._rank(symbols[at - 1], symbols[at])
        return [vocab[symbol] for symbol in symbols]

    def _rank(self, one: str, other: str) -> int:
        made = one + other
        return self._ranks.get(made) or self._vocab.get(made, self._never)


def _bytes(char: str) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in char.encode()]
