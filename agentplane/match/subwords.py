"""The tokenizer of the static embeddings: the byte pair encoding of Llama 2, from its vocabulary alone.

The tokenizers library takes 20 MB more to encode a sentence. In this tokenizer file, the merges have the same
order as the numbers of their results, except for runs of blanks, which come last. So the vocabulary is
enough. No piece contains a blank after another character, so each word can be encoded separately. No piece
contains a letter next to an ASCII digit or sign either, so the parts of `word,` can be encoded separately too.
The library is used for any other file.
"""

import hashlib
import re
from itertools import pairwise
from pathlib import Path

import msgspec

from agentplane.match.recent import Recent
from agentplane.text.json import decode


_BLANK = "\u2581"
_WORD = re.compile(f"{_BLANK}*[^{_BLANK}]+|{_BLANK}+")
_SIGN = r"[\x00-@\[-`{-\x7f]"
_PARTS = re.compile(f"(?<=[A-Za-z])(?={_SIGN})|(?<={_SIGN})(?=[A-Za-z])")
"""The places between a letter and an ASCII character that isn't a letter."""
_MOST_WORDS = 4096
_FILE = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
"""The SHA-256 of the only file with these properties."""


class _Added(msgspec.Struct, frozen=True):
    content: str


class _Model(msgspec.Struct, frozen=True):
    vocab: dict[str, int]


class _Config(msgspec.Struct, frozen=True):
    model: _Model
    added_tokens: list[_Added]


class Pieces:
    """The tokenizer. It is read from the tokenizer file, and raises ValueError for any other file."""

    def __init__(self, file: Path) -> None:
        data = file.read_bytes()
        if hashlib.sha256(data).hexdigest() != _FILE:
            raise ValueError("another tokenizer")
        config = decode.Json(_Config).decode(data)
        self._vocab = config.model.vocab
        # Runs of blanks are merged last.
        last = len(self._vocab)
        self._never = 2 * last
        self._ranks = {
            piece: number + last for piece, number in self._vocab.items() if not piece.strip(_BLANK)
        }
        # Special tokens are never split or merged.
        self._special = re.compile(
            "(" + "|".join(re.escape(one.content) for one in config.added_tokens) + ")"
        )
        self._known: Recent[str, list[int]] = Recent(_MOST_WORDS)

    def ids(self, text: str) -> list[int]:
        """Return the token numbers of a text."""
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
            found = self._encoded(word)
            self._known.put(word, found)
        return found

    def _encoded(self, word: str) -> list[int]:
        """Return the token numbers of a word. Merging the characters of a word in the vocabulary always gives that
        one token.
        """
        whole = self._vocab.get(word)
        if whole is not None:
            return [whole]
        first, *rest = _PARTS.split(word)
        if not rest:
            return self._merged(word)
        return [token for part in (first, *rest) for token in self._of_word(part)]

    def _merged(self, word: str) -> list[int]:
        vocab = self._vocab
        symbols = [piece for char in word for piece in ([char] if char in vocab else _bytes(char))]
        # The rank of the merge of each symbol with the next one. A merge changes two ranks.
        ranks = [self._rank(one + other) for one, other in pairwise(symbols)]
        while ranks and (least := min(ranks)) < self._never:
            at = ranks.index(least)
            symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
            del ranks[at]
            if at < len(ranks):
                ranks[at] = self._rank(symbols[at] + symbols[at + 1])
            if at:
                ranks[at - 1] = self._rank(symbols[at - 1] + symbols[at])
        return [vocab[symbol] for symbol in symbols]

    def _rank(self, merged: str) -> int:
        return self._ranks.get(merged) or self._vocab.get(merged, self._never)


def _bytes(char: str) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in char.encode()]
