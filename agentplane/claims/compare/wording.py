"""Comparison of statements by their words: whether two say the same in other words.

It is much simpler than `statement` and makes fewer errors, because it only ignores wording.
"""

import re
import unicodedata

import msgspec


VERSION = 2
"""Version of the stored words. Increase it to compute them again. A test reports when `words_of` changed."""

LONGEST = 1000
"""Number of characters of a statement that are compared."""
_ALIKE = 0.6
_SURE = 0.8
_LETTERS = 0.75


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STOP = _set(
    "a an the this that these those it its and or of for to in on at by with from as into onto via "
    "per is are was were be been being do does did has have had will would should shall must may "
    "might can could need needs we i our us you your they their them there here then so than also "
    "very really just please always use uses used using usage prefer adopt choose pick go let lets "
    "make sure ensure all any each every project repo repository codebase code which who when where "
    "what how because since if"
)
_NEGATIVE = _set(
    "not never no avoid dont cannot without forbid forbidden ban banned stop drop refuse neither nor "
    "none against disallow"
)
_AUXILIARY = _set(
    "do does did must should shall is are was were be can could will would may might has have had "
    "need needs we i you they it and"
)
_CONTRAST = frozenset({"instead", "rather", "over"})
_STEPS = _set("first before after then afterwards followed precedes precede follows")
_CHOICE = _set("prefer preferred choose chose chosen pick picked favour favor favoured")
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
_ALIASES = {
    "db": "database", "dbs": "database", "config": "configuration", "configs": "configuration", "repo": "repository",
    "auth": "authentication", "env": "environment", "docs": "documentation", "doc": "documentation", "param": "parameter",
    "params": "parameter", "deps": "dependency", "dep": "dependency", "postgresql": "postgres", "k8s": "kubernetes",
    "js": "javascript", "ts": "typescript", "py": "python", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "min": "minute", "mins": "minute", "minutes": "minute", "ms": "millisecond", "milliseconds": "millisecond",
    "percent": "%", "prod": "production", "dev": "development", "app": "application", "apps": "application",
    "msg": "message", "msgs": "message", "pkg": "package", "lib": "library", "libs": "library",
}  # fmt: skip
_ENDINGS = (
    "izations",
    "isations",
    "ization",
    "isation",
    "ations",
    "ation",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "er",
    "ed",
    "es",
    "s",
    "e",
)
_TURNED = _set("is are be been was were by for used using with of when")
_PERMISSIVE = _set("may might can could only")
_NAME = re.compile(r"[^\W_]{1,40}_\w{1,60}")
_TOKEN = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[^\W\d_]+|[.;:,!?\n%]")


class Words(msgspec.Struct, frozen=True):
    """The words of a statement: the stems of affirmed and of denied content words, and its numbers."""

    yes: frozenset[str]
    no: frozenset[str]
    numbers: tuple[str, ...]
    order: tuple[str, ...] = ()
    """The stems in order."""
    steps: bool = False
    """True if the statement describes an order of steps."""
    turned: bool = False
    """True if the sentence allows another word order, as in `X is used for Y`."""
    marks: frozenset[str] = frozenset()
    """Words that change the meaning although the others are equal: permissions, and names such as `max_size`.
    """

    @property
    def all(self) -> frozenset[str]:
        return self.yes | self.no


def words_of(text: str) -> Words:
    text = unicodedata.normalize("NFKC", text[:LONGEST]).casefold().replace("\u2019", "'")
    text = (
        text.replace("can't", "can not")
        .replace("won't", "will not")
        .replace("n't", " not")
        .replace("'s ", " ")
    )
    tokens = [_NUMBERS.get(token, token) for token in _TOKEN.findall(text)]
    yes: set[str] = set()
    no: set[str] = set()
    numbers: list[str] = []
    order: list[str] = []
    clause: set[str] = set()
    """The words of the current clause. Its denied words are in `no` already."""
    denied = chose = False
    before = ""
    for word in [*tokens, "."]:
        if word in _CHOICE:
            chose = True
        if not (word[0].isalnum() or word == "%"):
            yes |= clause
            clause, denied = set(), False
            chose = chose and word == ","
            before = ""
            continue
        if word in _NEGATIVE:
            whole = before in _AUXILIARY or not before
            if whole and word != "without":
                no ^= clause
                clause = set()
            denied = not denied
        elif word in _CONTRAST and (word != "over" or chose):
            yes |= clause
            clause, denied = set(), True
        elif word[0].isdigit():
            numbers.append(word.replace(",", ""))
        elif word not in _STOP:
            stem = _stem(word)
            order.append(stem)
            (no if denied else clause).add(stem)
        before = word
    return Words(
        frozenset(yes - no),
        frozenset(no),
        tuple(sorted(numbers)),
        tuple(order),
        steps=not _STEPS.isdisjoint(tokens),
        turned=not _TURNED.isdisjoint(tokens),
        marks=_PERMISSIVE.intersection(tokens).union(_NAME.findall(text)),
    )


def _stem(word: str) -> str:
    word = _ALIASES.get(word, word)
    if len(word) <= 4:
        return word[:-1] if len(word) == 4 and word.endswith("s") and word[-2] not in "su" else word
    for ending in _ENDINGS:
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 3
            and not (ending == "s" and word.endswith("ss"))
        ):
            word = word[: -len(ending)] + ("y" if ending in {"ies", "ied"} else "")
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word.removesuffix("i") if len(word) > 4 else word


class Likeness(msgspec.Struct, frozen=True):
    score: float
    """0 to 1, where 1 means the same words."""
    sure: bool
    """True if the statements differ only in wording, judging by their words."""


def likeness(new: Words, old: Words) -> Likeness | None:
    """Return how alike two statements are, or None if they say something else."""
    if new.numbers != old.numbers or bool(new.no) != bool(old.no) or bool(new.yes) != bool(old.yes):
        return None
    pairs = _pairs(new.all, old.all)
    if not pairs or any((mine in new.no) != (theirs in old.no) for mine, theirs in pairs.items()):
        return None
    shared, mine, theirs = len(pairs), len(new.all), len(old.all)
    if mine > shared and theirs > shared:
        # A different word can be a different choice.
        score, sure = shared / (mine + theirs - shared), False
    else:
        score = shared / max(mine, theirs)
        sure = score >= _SURE and new.marks == old.marks and _ordered(new, old)
    if score < _ALIKE or _letters(new, old) < _LETTERS:
        return None
    return Likeness(score, sure)


def _ordered(new: Words, old: Words) -> bool:
    """True if the order of the words doesn't matter, or is the same."""
    free = (new.turned or old.turned) and not (new.steps or old.steps)
    return free or new.order == old.order


def _letters(new: Words, old: Words) -> float:
    from rapidfuzz import fuzz

    mine, theirs = " ".join(sorted(new.all)), " ".join(sorted(old.all))
    return max(fuzz.token_sort_ratio(mine, theirs), fuzz.token_set_ratio(mine, theirs)) / 100


def _pairs(mine: frozenset[str], theirs: frozenset[str]) -> dict[str, str]:
    """Return the words that are equal, or forms of the same word."""
    from rapidfuzz import fuzz

    pairs = {word: word for word in mine & theirs}
    left = sorted(theirs - pairs.keys())
    for word in sorted(mine - pairs.keys()):
        for other in left:
            stem = min(len(word), len(other))
            related = stem >= 5 and (word.startswith(other) or other.startswith(word))
            if related or (stem >= 6 and fuzz.ratio(word, other) >= 90):
                pairs[word] = other
                left.remove(other)
                break
    return pairs
