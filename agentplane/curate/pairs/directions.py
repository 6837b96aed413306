"""The direction of each statement in a space of meanings. Statements about the same things have similar directions.

A direction depends on its statement alone. So an added entry never changes which other statements are compared,
and every clone compares the same pairs.
"""

import hashlib
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from agentplane.claims.features.sentence_vectors import Sense, text_directions
from agentplane.claims.features.word_similarity import embeds
from agentplane.claims.parse.first_sentence import head_of
from agentplane.claims.parse.statement import parse
from agentplane.curate.pairs.compared import DIRECTION_BYTES
from agentplane.curate.pairs.look_alikes import THING
from agentplane.match.products import products


WIDTH = DIRECTION_BYTES
"""The numbers of a direction: one half for the words that carry the subject, one for the full text."""
_HALF = WIDTH // 2
_UNIT = 254
"""The length of each half. Values beyond a byte are very rare, and are cut off."""
_PLACES = 8
"""The number of places of a word without embeddings."""

Directions = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32]


class Words(msgspec.Struct, frozen=True, gc=False):
    """The words and the choices of a statement."""

    shares: dict[str, float]
    """The share of each word in the words of the statement, without the names that it chooses."""
    things: frozenset[str]
    """The words that name things, without the names that it chooses."""
    families: frozenset[str]
    """The families of its choices, such as `database`."""

    def lone(self, other: "Words") -> int:
        """Return the number of things that only one of the two names, of the one with fewer such things."""
        return min(len(self.things - other.things), len(other.things - self.things))

    def common(self, other: "Words") -> float:
        """Return the share of equal words, in the statement where that share is lower."""
        both = self.shares.keys() & other.shares.keys()
        if not both:
            return 0.0
        mine, others = self.shares, other.shares
        return min(sum([mine[stem] for stem in both]), sum([others[stem] for stem in both]))


def words_of(statement: str) -> Words:
    source = head_of(statement)
    choices = parse(source).choices
    names = {choice.name for choice in choices}
    # Two statements that contradict each other choose different names, and agree in the other words.
    sense = Sense(source)
    shares = {stem: share for stem, share in sense.shares.items() if stem not in names}
    whole = sum(shares.values()) or 1.0
    return Words(
        {stem: share / whole for stem, share in shares.items()},
        frozenset(item.stem for item in sense.line if item.weight >= THING and item.stem not in names),
        frozenset(family for choice in choices for family in choice.families),
    )


def directions_of(statements: Sequence[str]) -> Directions:
    """Return the direction of each statement. Of a long statement, only the first sentence counts."""
    senses = [Sense(head_of(statement)) for statement in statements]
    found = np.zeros((len(statements), WIDTH), dtype=np.int8)
    if not embeds():
        for row, one in enumerate(senses):
            found[row] = _of_words(one.shares)
        return found
    for row, (one, text) in enumerate(zip(senses, text_directions(senses), strict=True)):
        for start, half in ((0, one.whole), (_HALF, text)):
            if half is not None:
                found[row, start : start + len(half)] = np.clip(half, -127, 127)
    return found


def _of_words(shares: dict[str, float]) -> Directions:
    """Return a direction without embeddings. Each word has its own places, chosen by a hash."""
    half = np.zeros(_HALF)
    for stem, share in shares.items():
        digest = hashlib.blake2b(stem.encode(errors="surrogatepass"), digest_size=2 * _PLACES).digest()
        for place, sign in zip(digest[:_PLACES], digest[_PLACES:], strict=True):
            half[place] += share if sign % 2 else -share
    length = float(np.sqrt((half * half).sum()))
    row = np.clip(np.rint(half / (length or 1.0) * _UNIT), -127, 127).astype(np.int8)
    found: Directions = np.concatenate([row, row])
    return found


def nearness(ones: Directions, others: Directions) -> Floats:
    """Return the nearness of each statement to each of the others, up to 2 for the same statement."""
    return products(ones, others) / np.float32(_UNIT * _UNIT)
