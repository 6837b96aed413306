"""Detection of names from families of alternatives that a statement chooses, refuses or replaces."""

import msgspec

from agentplane.claims.parse import vocabulary as words
from agentplane.claims.parse.quantities import number_of
from agentplane.claims.parse.stems import LIGHT, stem
from agentplane.claims.parse.tokens import Token


_INSTEAD = (("instead", "of"), ("rather", "than"), ("in", "favour", "of"), ("in", "favor", "of"), ("over",), ("to",), ("not",),
            ("no",), ("without",))  # fmt: skip

_LEVELS = words.word_set("debug info critical warning")

_PREFERS = words.word_set(
    "prefer preferred prefers favour favor favours choose chose chosen pick picked use uses"
)

_RATHER = words.word_set("prefer preferred prefers preferable")
"""Verbs as in `prefer A to B`."""

_MOVES = words.word_set(
    "switch switched switches move moved moves migrate migrated migrates migrating change changed rewrite rewritten"
    " port ported convert converted transition transitioned"
)

_REPLACES = words.word_set("replace replaces replacing replaced swap drop dropped retire abandon")

# Families of verbs. `squash feature branches` doesn't choose a kind of branch.
VERBAL = frozenset({"merge strategy", "deletion", "compression", "rendering", "locking"})


class Choice(msgspec.Struct, frozen=True):
    """A name from families of alternatives."""

    name: str
    families: tuple[str, ...]
    chosen: bool
    """False if the statement speaks against the name."""
    replaced: bool = False
    """True if the statement says that the name was chosen before."""
    named: tuple[tuple[str, str], ...] = ()
    """Each family of the name, with its canonical name in that family."""
    qualifies: bool = False
    """True if the name only specifies a thing, as in `JSON field names`. Then it isn't a choice."""


def same_choice(one: Choice, other: Choice) -> bool:
    return one.name == other.name or any(name in other.named for name in one.named)


Families = tuple[tuple[str, str], ...]


def names_in(tokens: list[Token]) -> dict[int, tuple[int, Families]]:
    """Return the names from families: place -> (number of tokens, families). The longest match wins."""
    found: dict[int, tuple[int, Families]] = {}
    end = 0
    for place, token in enumerate(tokens):
        for length in words.MEMBER_LENGTHS.get(token.word, ()) if place >= end else ():
            if place + length > len(tokens):
                continue
            written = " ".join([other.word for other in tokens[place : place + length]])
            families = words.MEMBERS.get(written)
            if families and (length > 1 or _is_name(tokens, place)):
                found[place] = (length, families)
                end = place + length
                break
    return found


_BEHIND_NAMES = words.word_set("is for code services as runs handles rolls serves manages stores builds drives does generates"
                              " formats checks lints holds keeps sends deploys")  # fmt: skip


def _is_name(tokens: list[Token], place: int) -> bool:
    token = tokens[place]
    if token.word not in words.AMBIGUOUS:
        return True
    if len(token.raw) > 1 and token.raw.isupper():
        return True
    if token.word in _LEVELS:
        return any(other.word in ("level", "levels") for other in tokens)
    at = place - 1
    while at > 0 and tokens[at].word in ("a", "an", "the"):
        at -= 1
    before = tokens[at].word if place else ""
    after = tokens[place + 1].word if place + 1 < len(tokens) else ""
    if token.raw[0].isupper():
        return bool(place) or after in _BEHIND_NAMES
    return before in ("use", "using", "`", "with")


def how_refused(tokens: list[Token], place: int) -> str | None:
    """Return how the statement speaks against the name at this place: `not` or `replaced`, or None."""
    before = [
        token.word
        for token in tokens[max(0, place - 5) : place]
        if token.is_word and token.word not in ("a", "an", "the", "plain")
    ]
    for phrase in _INSTEAD:
        if phrase == ("over",) and not any(token.word in _PREFERS for token in tokens[:place]):
            continue
        if phrase == ("to",) and not any(token.word in _RATHER for token in tokens[: max(0, place - 2)]):
            continue
        doing = len(phrase) > 1 and before[-1:] and before[-1].endswith("ing")
        if tuple(before[-len(phrase) :]) == phrase or (
            doing and tuple(before[-len(phrase) - 1 : -1]) == phrase
        ):
            return "not" if phrase[-1] in ("not", "no", "without") else "replaced"
    return None


def mark_replaced(
    tokens: list[Token], names: dict[int, tuple[int, Families]], against: dict[int, str]
) -> None:
    """Mark the X of "replace X with Y", "switch from X to Y" and "X was replaced by Y"."""
    line = [token.word for token in tokens] if names else []
    for place, word in enumerate(line):
        later = [at for at in names if at > place]
        if not later:
            continue
        if word in (
            "replace",
            "replaces",
            "replacing",
            "swap",
            "drop",
            "dropped",
            "deprecate",
            "retire",
            "abandon",
        ):
            against.setdefault(later[0], "replaced")
        if word == "from" and place + 1 <= later[0] <= place + 3 and not _MOVES.isdisjoint(line[:place]):
            against.setdefault(later[0], "replaced")
        if word == "replaced" and place + 1 < len(line) and line[place + 1] in ("by", "with"):
            earlier = [at for at in names if at < place]
            if earlier:
                against.setdefault(earlier[-1], "replaced")
    for token in tokens:
        if token.word in _REPLACES or (token.word in _MOVES and "replaced" in against.values()):
            token.used = True


_FILLS = words.word_set("use uses using is are be via over through with by as")


def qualifies(tokens: list[Token], place: int, length: int) -> bool:
    after = tokens[place + length] if place + length < len(tokens) else None
    if after is None or not after.is_word or after.word in words.STOP or after.word in words.HEADS:
        return False
    if (place and tokens[place - 1].word in _FILLS) or number_of(tokens, place + length):
        return False
    return stem(after.word) not in LIGHT and after.word not in words.MEMBERS
