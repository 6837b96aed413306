"""Detection of denied words in a statement: `use A, not B`, `no A without B`, `A instead of B`."""

from collections.abc import Iterator, Sequence

import msgspec

from agentplane.claims.features.word_weights import Item
from agentplane.claims.parse import vocabulary as words


_NEGATORS = words.word_set(
    "not never no cannot don't doesn't mustn't nothing nobody none can't won't shouldn't isn't aren't nor neither didn't"
    " wasn't nowhere"
)
REFUSING = words.word_set(
    "ignore ignores ignored ignoring skip skips skipped refuse refuses refused forbid forbidden forbids ban banned avoid"
    " avoids impossible disabled disable disables exclude excludes excluded omit omits omitted lacks prohibited disallow"
    " disallowed blank declined denied denies deny blocked untouched reject rejects rejected unchecked inactive exempt"
    " discouraged unsupported bypass bypasses prevents prevent"
)
_TAIL = words.word_set("without regardless except non")
"""Words that deny the words after them."""
_TAIL_PAIRS = (("instead", "of"), ("rather", "than"), ("free", "of"), ("apart", "from"), ("other", "than"),
               ("independent", "of"), ("out", "of"), ("drop", "support"), ("dropped", "support"), ("decided", "against"))  # fmt: skip
_CANCELS = words.word_set("without unless until except")
_NONE = words.word_set("nobody nothing none no nowhere anything anyone")
_LIMITS = words.word_set(
    "more less fewer later larger bigger greater smaller shorter higher lower older exceed exceeds exceeding beyond above"
    " below"
)
_AUXILIARY = words.word_set(
    "must do does did is are be may should can could will would was were has have shall need been"
)
_SUBORDINATE = words.word_set("if when whenever while because since so which who that where")
_STARTS = _SUBORDINATE | {"but"}
_PARTICLE = words.word_set(
    "is are be to default defaults turn turns turned switch switches switched left leave keep kept stays stay"
)
_LEAVES = words.word_set("leave leaves left keep keeps kept")
_WRONG = words.word_set("error errors mistake mistakes bug bugs invalid illegal")
_CALLED = words.word_set("is are counts count treated")
"""Verbs as in `trailing commas are a syntax error`."""
REACH = 6
FIRST = 4
"""Minimum number of words in the first clause. A shorter clause continues after its comma."""


class Denials(msgspec.Struct, frozen=True):
    """The denials in one statement."""

    words: tuple[bool, ...]
    """For each word, True if it is denied. Two denials cancel each other."""
    times: int
    """Number of denials in the statement itself, without its conditions, reasons and relative clauses."""
    first: int
    """Number of denials in its first clause. Later clauses often repeat them."""


def denials_in(line: Sequence[Item]) -> Denials:
    word_list = [item.written.lower() for item in line]
    flips = [0] * len(line)
    begins = []
    for at, begin, end, whole in _spans(line, word_list):
        flips[begin:end] = [flip + 1 for flip in flips[begin:end]]
        if whole and word_list[at] in REFUSING:
            flips[at] -= 1  # It denies the rest of the clause, but not itself.
        if not whole or word_list[begin] not in _SUBORDINATE:
            begins.append(begin)
    first = next((at for at in range(FIRST, len(line)) if line[at].clause != line[0].clause), len(line))
    words = tuple(flip % 2 == 1 for flip in flips)
    return Denials(words, len(begins), sum(begin < first for begin in begins))


def _spans(line: Sequence[Item], word_list: Sequence[str]) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the place of each denying word, the span that it denies, and True if the span is a whole clause."""
    parts = _parts(line, word_list)
    for at in range(len(word_list)):
        begin, end = parts[at]
        whole = _whole(word_list, at, begin, end)
        if whole and not _cancelled(word_list, at, begin):
            yield at, begin, end if end - begin > 2 else len(line), True
        elif not whole and _denies_rest(word_list, at) and not _answers(word_list, at):
            yield at, at + 1, _end(line, word_list, at + 1, end), False


def _parts(line: Sequence[Item], word_list: Sequence[str]) -> list[tuple[int, int]]:
    """Return the start and end of the clause of each word."""
    starts = [
        at
        for at in range(len(line))
        if at == 0 or line[at].clause != line[at - 1].clause or word_list[at] in _STARTS
    ]
    found = []
    for begin, end in zip(starts, [*starts[1:], len(line)], strict=True):
        found += [(begin, end)] * (end - begin)
    return found


def _whole(word_list: Sequence[str], at: int, begin: int, end: int) -> bool:
    """True if this word denies its whole clause."""
    word = word_list[at]
    before = word_list[at - 1] if at > begin else ""
    if word in _WRONG and not _CALLED.isdisjoint(word_list[max(begin, at - 3) : at]):
        return True
    if (
        word in REFUSING
        or (word in ("off", "out") and before in _PARTICLE)
        or _kept_out(word_list, at, begin)
    ):
        return not _bounded(word_list[begin:end])
    if word not in _NEGATORS or _bounded(word_list[at : at + REACH]):
        return False
    if word == "not":
        return before in _AUXILIARY
    return word != "no" or at - begin < 2 or before in _AUXILIARY or before in ("there", "pays")


def _kept_out(word_list: Sequence[str], at: int, begin: int) -> bool:
    """True for `leave A out of B`."""
    return (
        word_list[at] == "out"
        and word_list[at + 1 : at + 2] == ["of"]
        and not _LEAVES.isdisjoint(word_list[begin:at])
    )


def _bounded(word_list: Sequence[str]) -> bool:
    """True if the words set a limit instead of denying: `not longer than`, `no more than`, `larger ones are
    rejected`.
    """
    if not _LIMITS.isdisjoint(word_list):
        # `not accepted any more` sets no limit.
        return any(word in _LIMITS and word_list[at - 1 : at] != ["any"] for at, word in enumerate(word_list))
    return any(word == "longer" and "than" in word_list[at : at + 3] for at, word in enumerate(word_list))


def _cancelled(word_list: Sequence[str], at: int, begin: int) -> bool:
    """True if a second word cancels the denial: `no A without B`, `A without B is rejected`, `nobody but A`."""
    rest = word_list[at + 1 :]
    if not _CANCELS.isdisjoint(rest) or word_list[0] in _CANCELS or "without" in word_list[begin:at]:
        return True
    if word_list[at] in _NONE or word_list[at] in ("not", "never"):
        return (
            "but" in rest[:3] or "other" in rest[:4] or ("before" in rest and word_list[at] not in REFUSING)
        )
    return False


def _answers(word_list: Sequence[str], at: int) -> bool:
    """True if this word cancels another denial."""
    cancels = word_list[at] in _CANCELS or word_list[at : at + 2] == ["other", "than"]
    return cancels and any(
        word in _NEGATORS or word in REFUSING for word in word_list if word != word_list[at]
    )


def _denies_rest(word_list: Sequence[str], at: int) -> bool:
    word, after = word_list[at], word_list[at + 1] if at + 1 < len(word_list) else ""
    if word in _TAIL or (word, after) in _TAIL_PAIRS:
        return True
    return word in ("not", "no") and after != "only" and not _bounded(word_list[at : at + REACH])


def _end(line: Sequence[Item], word_list: Sequence[str], at: int, end: int) -> int:
    """Return the end of the span after `without` or `non`: `without a network | the app works`, `non-root |
    user`.
    """
    if word_list[at - 1] == "non":
        return min(at + 1, end)
    if word_list[at - 1] != "without":
        return end
    content_found = False
    for place in range(at, end):
        if content_found and word_list[place] in ("the", "a", "an", "no", "we", "you", "must", "is", "are"):
            return place
        content_found = content_found or line[place].weight > 0
    return end
