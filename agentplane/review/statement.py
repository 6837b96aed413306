"""What one statement says, as structure: its subject, what it chooses, whether it must, how much, and where.

Pure and the same for the same text; `parse` keeps what it has parsed.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import msgspec

from agentplane.review import vocabulary as words


MAX_CHARS = 800
"""Of a statement, so much is read: one that says more in its first paragraph is no statement."""

Modality = Literal["plain", "must", "must not", "may", "need not"]
Bound = Literal["", "at least", "at most"]


class Choice(msgspec.Struct, frozen=True):
    """A name out of families of alternatives."""

    name: str
    families: tuple[str, ...]
    chosen: bool
    """False: it is what the statement speaks against."""
    replaced: bool = False
    """It was chosen before, and the statement says so."""
    qualifies: bool = False
    """It says which thing is meant (`JSON field names`), not what was chosen."""


class Quantity(msgspec.Struct, frozen=True):
    value: float
    dimension: str
    """What is measured: time in seconds, size in bytes, rate per second, percent, port, version, count."""
    shown: str
    bound: Bound = ""

    @property
    def key(self) -> tuple[str, float]:
        return self.dimension, self.value


class Statement(msgspec.Struct, frozen=True):
    text: str
    """Normalised, for comparing as text."""
    subject: tuple[str, ...]
    """The words that say what it is about, stemmed, each once, in order."""
    light: tuple[str, ...]
    """The common words beside them."""
    actions: tuple[str, ...]
    """What is done to the subject."""
    choices: tuple[Choice, ...]
    modality: Modality
    modal: str
    """The words that carry the modality."""
    quantities: tuple[Quantity, ...]
    poles: tuple[tuple[str, int, str], ...]
    """Of each pair of opposites: the pair, the side, the word. A negation is worked in."""
    outcome: tuple[str, ...] = ()
    """X of "the default N is X": a slot that holds one thing."""
    place: tuple[str, ...] = ()
    """What fills the place that a sentence ends with, behind its preposition: `by`, `recency`."""
    denied: tuple[str, ...] = ()
    """What it says aside that it is not: `forward only, never reversible`."""
    written: tuple[tuple[str, str], ...] = ()
    """How the words of the subject stand in the text."""
    names: tuple[str, ...] = ()
    """Words of the subject that are written as names: `Looker`, not `report`."""


class _Token(msgspec.Struct):
    word: str
    raw: str
    used: bool = False

    @property
    def is_word(self) -> bool:
        return self.word[0].isalpha() or self.word[0] == "."


_TOKEN = re.compile(
    r"c\+\+|[cf]\#|(?:node|vue|next|alpine|solid)\.js\b|asp\.net\b|fly\.io\b|py\.test\b"
    r"|[^\W\d_]{1,60}(?:[0-9][^\W_]{0,40})?(?:'[a-z]{1,2}\b)?|\d{1,15}(?:[.,]\d{1,9}){0,4}|[%.;:!?,()`/<>≤≥]",
    re.IGNORECASE,
)
_REASON = words.listed("because since otherwise")
_BREAKS = frozenset(".;!?")
_NEGATORS = words.listed(
    "not never no cannot don't doesn't mustn't nothing nobody none can't won't shouldn't isn't aren't nor neither"
)
_FORBID = words.listed("avoid forbid forbidden prohibited prohibit disallow disallowed ban banned stop")
_PERMIT = words.listed("may can allowed permitted allow permit fine ok okay acceptable")
_FREE = words.listed("optional optionally voluntary")
_NEED = words.listed("need needs required require requires mandatory compulsory obligatory have has needed")
_MUST = words.listed("must always shall")
_USES = words.listed("use uses using with through via on in to by as from into")
_STANDARDS = words.listed(
    "rfc iso pep adr cve issue utf http es oauth tls sha dec inv asm fact ticket latin step"
)
_AT_LEAST = ("at least", "minimum", "no less than", "not less than", "or more", "or newer", "or later", "min", "more than",
             "above", "no fewer than", "over")  # fmt: skip
_AT_MOST = ("at most", "maximum", "no more than", "not more than", "up to", "max", "below", "within", "limit", "limited",
            "under", "less than", "fewer than", "longer than", "exceed", "cap", "capped")  # fmt: skip
_INSTEAD = (("instead", "of"), ("rather", "than"), ("in", "favour", "of"), ("in", "favor", "of"), ("over",), ("not",),
            ("no",), ("without",))  # fmt: skip


def normal(text: str) -> str:
    """Without what is not seen, in one form, on one line."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text[: MAX_CHARS * 2])
        text = text.replace("\u2019", "'").replace("\u2018", "'").replace("\u00a0", " ")
    text = "".join(char if char.isprintable() else " " for char in text[:MAX_CHARS])
    return " ".join(text.split())


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """A word without its endings, then the word that stands for all of one meaning."""
    found = words.SYNONYMS.get(word)
    if found is not None:
        return found
    irregular = words.IRREGULAR.get(word)
    if irregular is not None:
        return words.SYNONYMS.get(irregular, irregular)
    cut = _cut(word.removesuffix("'s").removesuffix("'"))
    if cut.endswith(("er", "or")) and len(cut) >= 6:
        doer = _cut(f"{cut[:-2]}ing")
        if doer in _DONE:
            cut = doer
    return _STEMMED_SYNONYMS.get(cut, cut)


def _cut(word: str) -> str:
    if len(word) <= 3:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, least in (
        ("ally", 5),
        ("ly", 4),
        ("ation", 4),
        ("ing", 3),
        ("ed", 3),
        ("ion", 4),
        ("ment", 4),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: -len(ending)]
            if ending == "ation":
                word += "at"
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsze":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


_STEMMED_SYNONYMS = {
    _cut(written): stands for written, stands in words.SYNONYMS.items() if " " not in written
}
# What is done, for the one who does it: a logger logs.
_DONE = frozenset(_cut(word) for word in words.ACTIONS) | {
    _cut(word) for word in words.SYNONYMS if word.endswith(("ing", "ed"))
}
_LIGHT = frozenset(stem(word) for word in words.LIGHT) | {_cut(word) for word in words.LIGHT} | words.LIGHT


def _bare(word: str) -> str:
    return words.IRREGULAR.get(word) or _cut(word)


def _inflected(word: str) -> bool:
    return word in words.IRREGULAR or word.endswith(("s", "ed", "ing"))


_POLES = {_bare(word): pole for word, pole in words.POLES.items() if " " not in word and len(word) > 3}
_ACTIONS = frozenset(stem(word) for word in words.ACTIONS)


@lru_cache(maxsize=16_384)
def parse(text: str) -> Statement:
    clean = normal(text)
    sentences: list[list[_Token]] = [[]]
    for match in _TOKEN.finditer(clean):
        raw = match.group()
        if raw in _BREAKS:
            if sentences[-1]:
                sentences.append([])
        else:
            sentences[-1].append(_Token(raw.lower(), raw))
    reader = _Reader()
    for sentence in sentences:
        for aside, clause in _clauses(sentence):
            reader.read(clause, aside=aside)
    return reader.statement(" ".join(clean.lower().strip(" .!").split()))


def _clauses(sentence: list[_Token]) -> list[tuple[bool, list[_Token]]]:
    """A sentence without its reason, and what it adds behind a comma about what is not: `X, never Y`."""
    for place in range(3, len(sentence)):
        if sentence[place].word in _REASON:
            sentence = sentence[:place]
            break
    for place in range(2, len(sentence) - 1):
        if sentence[place].word in (",", ":") and sentence[place + 1].word in _NEGATORS:
            return [(False, sentence[:place]), (True, sentence[place + 1 :])]
    return [(False, sentence)] if sentence else []


class _Reader:
    def __init__(self) -> None:
        self.subject: dict[str, None] = {}
        self.light: dict[str, None] = {}
        self.choices: dict[tuple[str, bool, bool], Choice] = {}
        self.quantities: dict[tuple[str, float], Quantity] = {}
        self.poles: dict[str, tuple[str, int, str]] = {}
        self.modality: Modality = "plain"
        self.modal = ""
        self.outcome: tuple[str, ...] = ()
        self.actions: dict[str, None] = {}
        self.names: dict[str, None] = {}
        self.written: dict[str, str] = {}
        self.denied: dict[str, None] = {}
        self.place: tuple[str, ...] = ()

    def statement(self, text: str) -> Statement:
        subject = tuple(self.subject)
        return Statement(
            text=text,
            subject=subject,
            light=tuple(self.light),
            actions=tuple(self.actions),
            choices=tuple(self.choices.values()),
            modality=self.modality,
            modal=self.modal,
            quantities=tuple(self.quantities.values()),
            poles=tuple(self.poles[axis] for axis in sorted(self.poles)),
            outcome=self.outcome,
            names=tuple(self.names),
            written=tuple(self.written.items()),
            denied=tuple(word for word in self.denied if word not in self.subject),
            place=self.place,
        )

    def read(self, tokens: list[_Token], *, aside: bool = False) -> None:
        """Takes in one clause. Whether the whole must or must not is said by the first that says enough."""
        for token in tokens:
            if token.is_word and (stemmed := stem(token.word)) in _ACTIONS:
                self.actions.setdefault(stemmed)
        names = _names(tokens)
        against = {place: how for place in names if (how := _against(tokens, place))}
        for place in against:
            before = tokens[place - 1]
            if before.word in ("not", "no"):
                before.used = True
        _mark_replaced(tokens, names, against)
        modality, modal = _modality(tokens)
        ended = _phrase(tokens, ("no", "longer")) or any(token.word == "anymore" for token in tokens)
        forbids = modality == "must not"
        denies = aside or (forbids and len(self.subject) >= 2)
        if not self.place:
            self.place = _place(tokens)
        first = self.modality == "plain" and len(self.subject) < 2 and not aside
        if first and not (names and ended):
            self.modality, self.modal = modality, modal
        for place, (length, found) in names.items():
            how = against.get(place)
            refused = how is not None or (forbids and not any(kind == "not" for kind in against.values()))
            choice = Choice(
                found[0][1],
                tuple(family for family, _ in found),
                chosen=not refused,
                replaced=how == "replaced" or (ended and refused),
                qualifies=found[0][0] not in _VERBAL and _qualifies(tokens, place, length),
            )
            self.choices.setdefault((choice.name, choice.chosen, choice.qualifies), choice)
            for token in tokens[place : place + length]:
                token.used = True
        _join_standards(tokens)
        self._joined(tokens)
        self._measure(tokens)
        self._sides(tokens, forbids)
        self._slot(tokens)
        self._rest(tokens, self.denied if denies else self.subject)

    def _measure(self, tokens: list[_Token]) -> None:
        for place, token in enumerate(tokens):
            if token.used:
                continue
            quantity = _quantity(tokens, place)
            if quantity:
                self.quantities.setdefault(quantity.key, quantity)

    def _sides(self, tokens: list[_Token], forbids: bool) -> None:
        place = 0
        while place < len(tokens):
            for length in (3, 2, 1):
                written = " ".join(token.word for token in tokens[place : place + length])
                found = words.POLES.get(written) or (
                    _POLES.get(_bare(written)) if length == 1 and _inflected(written) else None
                )
                if found and not any(token.used for token in tokens[place : place + length]):
                    axis, side = found
                    timed = axis == "before" and _number_follows(tokens, place + length)
                    if not timed and not _names_a_thing(tokens, place, length):
                        shown = f"not {written}" if forbids else written
                        self.poles.setdefault(axis, (axis, -side if forbids else side, shown))
                        for token in tokens[place : place + length]:
                            token.used = True
                    break
            place += 1

    def _slot(self, tokens: list[_Token]) -> None:
        """X of "the default N is X", where X is one word at the end."""
        line = [token.word for token in tokens if token.is_word]
        if "is" not in line[2:] or line[0] != "the" or any(token.used for token in tokens):
            return
        tail = line[line.index("is", 2) + 1 :]
        if 1 <= len(tail) <= 2 and not words.STOP.intersection(tail):
            self.outcome = tuple(map(stem, tail))
            for word in tail:
                self.written.setdefault(stem(word), word)

    def _joined(self, tokens: list[_Token]) -> None:
        """Words that mean something together: `pull request`, `two-factor`."""
        place = 0
        while place < len(tokens):
            step = 1
            for length in (4, 3, 2):
                span = tokens[place : place + length]
                if len(span) == length and not any(token.used for token in span):
                    found = words.SYNONYMS.get(" ".join(token.word for token in span))
                    if found:
                        self.subject.setdefault(found)
                        self.written.setdefault(found, " ".join(token.word for token in span))
                        for token in span:
                            token.used = True
                        step = length
                        break
            place += step

    def _rest(self, tokens: list[_Token], into: dict[str, None]) -> None:
        for place, token in enumerate(tokens):
            if place and token.raw[0].isupper() and not token.used:
                self.names.setdefault(stem(token.word))
            self._word(token, into)

    def _word(self, token: _Token, into: dict[str, None]) -> None:
        word = token.word
        if token.used or not token.is_word or word in words.STOP or word in words.NUMBERS or len(word) < 2:
            return
        if "'" in word and not word.endswith("'s"):
            return
        stemmed = stem(word)
        if word in _LIGHT or stemmed in _LIGHT:
            self.light.setdefault(stemmed)
        else:
            into.setdefault(stemmed)
            self.written.setdefault(stemmed, word)


_Found = tuple[tuple[str, str], ...]


def _names(tokens: list[_Token]) -> dict[int, tuple[int, _Found]]:
    """Where names out of families stand: place -> (how many tokens, families). The longest counts."""
    found: dict[int, tuple[int, _Found]] = {}
    place = 0
    while place < len(tokens):
        step = 1
        for length in (4, 3, 2, 1):
            if place + length > len(tokens):
                continue
            written = " ".join(token.word for token in tokens[place : place + length])
            families = words.MEMBERS.get(written)
            if families and (length > 1 or _is_name(tokens, place)):
                found[place] = (length, families)
                step = length
                break
        place += step
    return found


_LEVELS = words.listed("debug info critical warning")


def _is_name(tokens: list[_Token], place: int) -> bool:
    token = tokens[place]
    if token.word not in words.AMBIGUOUS:
        return True
    if len(token.raw) > 1 and token.raw.isupper():
        return True
    if token.word in _LEVELS:
        return any(other.word in ("level", "levels") for other in tokens)
    before = tokens[place - 1].word if place else ""
    after = tokens[place + 1].word if place + 1 < len(tokens) else ""
    if token.raw[0].isupper():
        return bool(place) or after in ("is", "for", "code", "services", "as")
    return before in ("use", "using", "`", "with")


_PREFERS = words.listed(
    "prefer preferred prefers favour favor favours choose chose chosen pick picked use uses"
)


def _against(tokens: list[_Token], place: int) -> str | None:
    """Whether the name at this place is what the statement speaks against."""
    before = [
        token.word
        for token in tokens[max(0, place - 3) : place]
        if token.word not in ("a", "an", "the", "plain")
    ]
    for phrase in _INSTEAD:
        if phrase == ("over",) and not any(token.word in _PREFERS for token in tokens[:place]):
            continue
        if tuple(before[-len(phrase) :]) == phrase:
            return "not" if phrase[-1] in ("not", "no", "without") else "replaced"
    return None


def _join_standards(tokens: list[_Token]) -> None:
    """`RFC 7807` is one word."""
    for token, number in pairwise(tokens):
        if token.word in _STANDARDS and number.word[0].isdigit() and not token.used and not number.used:
            token.word += number.word
            number.used = True


def _place(tokens: list[_Token]) -> tuple[str, ...]:
    """The last preposition and at most two words behind it, or what is used as something."""
    line = [token.word for token in tokens if token.is_word]
    for at, word in enumerate(line[:-3]):
        if word in ("use", "uses"):
            for end in (at + 2, at + 3):
                if end < len(line) and line[end] in ("as", "for", "to"):
                    return ("use", *map(stem, line[at + 1 : end]))
    for at in range(len(line) - 2, max(0, len(line) - 5), -1):
        if line[at] in _FILLED:
            return ("by", *(stem(word) for word in line[at + 1 :] if word not in ("a", "an", "the")))
    return ()


_FILLED = words.listed("with by on as in using from")


def _mark_replaced(
    tokens: list[_Token], names: dict[int, tuple[int, _Found]], against: dict[int, str]
) -> None:
    """Of "replace X with Y", "switch from X to Y" and "X was replaced by Y", the X."""
    line = [token.word for token in tokens]
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
        moves = any(verb in line[:place] for verb in _MOVES)
        if word == "from" and moves and place + 1 <= later[0] <= place + 3:
            against.setdefault(later[0], "replaced")
        if word == "replaced" and place + 1 < len(line) and line[place + 1] in ("by", "with"):
            earlier = [at for at in names if at < place]
            if earlier:
                against.setdefault(earlier[-1], "replaced")
    for token in tokens:
        if token.word in _REPLACES or (token.word in _MOVES and "replaced" in against.values()):
            token.used = True


_MOVES = words.listed(
    "switch switched switches move moved moves migrate migrated migrates migrating change changed rewrite rewritten"
    " port ported convert converted transition transitioned"
)
_REPLACES = words.listed("replace replaces replacing replaced swap drop dropped retire abandon")


# Families of verbs: `squash feature branches` is no kind of branches.
_VERBAL = frozenset({"merge strategy", "deletion", "compression", "rendering", "locking"})


def _qualifies(tokens: list[_Token], place: int, length: int) -> bool:
    after = tokens[place + length] if place + length < len(tokens) else None
    if after is None or not after.is_word or after.word in words.STOP or after.word in words.HEADS:
        return False
    if place and tokens[place - 1].word in ("use", "using"):
        return False
    return stem(after.word) not in _LIGHT and after.word not in words.MEMBERS


def _names_a_thing(tokens: list[_Token], place: int, length: int) -> bool:
    """An adjective before its noun, ahead of the verb: `public endpoints`, not `endpoints are public`."""
    after = tokens[place + length] if place + length < len(tokens) else None
    if after is None or after.word in words.STOP or not after.is_word or after.word in words.MEMBERS:
        return False
    written = tokens[place].word
    adjective = written.endswith(_ADJECTIVES) and written not in _VERBS
    return adjective and (not place or tokens[place - 1].word in _DETERMINERS)


_ADJECTIVES = ("ic", "al", "te", "ble", "ed", "den", "nal")
_DETERMINERS = words.listed("the a an all every each our any of for in on to from")


def _number_follows(tokens: list[_Token], place: int) -> bool:
    """`after 5 minutes`, `after half a minute`: how long, not in which order."""
    following = tokens[place : place + 2]
    return any(
        token.word in words.NUMBERS
        or token.word[0].isdigit()
        or (token.used and token.word in ("half", "quarter", "a", "an"))
        for token in following
    )


_VERBS = words.listed("delete mutate activate deactivate include exclude enable disable remove hide omit")


def _phrase(tokens: list[_Token], phrase: tuple[str, ...]) -> bool:
    line = [token.word for token in tokens]
    return any(tuple(line[at : at + len(phrase)]) == phrase for at in range(len(line)))


def _modality(tokens: list[_Token]) -> tuple[Modality, str]:
    line = [token.word for token in tokens if not token.used]
    negators = [at for at, word in enumerate(line) if word in _NEGATORS and not _bounds(line, at)]
    for at, word in enumerate(line):
        if word in (
            "longer",
            "more",
            "exceed",
            "exceeds",
            "later",
            "beyond",
            "greater",
            "larger",
            "fewer",
            "less",
        ):
            # `not held longer than`: a limit.
            least = 0 if word in ("exceed", "exceeds", "beyond") or "than" in line[at : at + 2] else len(line)
            negators = [place for place in negators if not max(at - 5, least - 1) < place < at]
        negated = any(at - 3 < place < at for place in negators)
        if word in _FREE:
            return ("must", "must") if negated else ("need not", word)
        if word in _NEED:
            if word in ("have", "has") and line[at + 1 : at + 2] != ["to"]:
                continue
            if negated or line[at + 1 : at + 2] == ["not"]:
                return "need not", "need not"
    bad = [word for word in line if word in _FORBID and not (word == "stop" and line[0] != "stop")]
    if bad:
        return ("may", "may") if negators else ("must not", "avoid" if bad[0] == "avoid" else bad[0])
    if negators:
        return "must not", _spoken(line, negators[0])
    for word in line:
        if word in _PERMIT and word != "can":
            return "may", word
    for word in line:
        if word in _MUST or word in ("required", "mandatory", "prefer", "should"):
            return "must", word
    return "plain", ""


def _bounds(line: list[str], at: int) -> bool:
    """`no more than`, `not only`: no negation."""
    return line[at + 1 : at + 2] in (
        ["more"],
        ["less"],
        ["fewer"],
        ["later"],
        ["only"],
        ["least"],
        ["matter"],
    )


def _spoken(line: list[str], at: int) -> str:
    if (
        line[at] == "not"
        and at
        and line[at - 1] in ("must", "do", "should", "may", "shall", "does", "is", "are")
    ):
        return f"{line[at - 1]} not"
    if line[at] == "no" and line[at + 1 : at + 2] == ["longer"]:
        return "no longer"
    return line[at]


def _quantity(tokens: list[_Token], place: int) -> Quantity | None:
    token = tokens[place]
    word = token.word
    line = [other.word for other in tokens]
    after = line[place + 1] if place + 1 < len(line) else ""
    if word in words.PERIODS:
        token.used = True
        return Quantity(words.PERIODS[word], "time", word)
    if (
        word in ("every", "each")
        and (after in words.UNITS or after == "night")
        and after not in ("second", "m", "d")
    ):
        dimension, length = words.UNITS.get(after, ("time", words.PERIODS["nightly"]))
        if dimension == "time" and len(after) > 2:
            token.used = tokens[place + 1].used = True
            return Quantity(length, "time", f"{word} {after}")
    if word in ("half", "quarter") or (word in ("a", "an") and after in words.UNITS and len(after) > 3):
        return _spoken_time(tokens, place)
    if word == "once" and after in ("per", "a", "an", "every", "each") and line[place + 2 : place + 3]:
        unit = words.UNITS.get(line[place + 2])
        if unit and unit[0] == "time":
            for used in tokens[place : place + 3]:
                used.used = True
            return Quantity(unit[1], "time", " ".join(line[place : place + 3]))
    value = _value(word)
    if value is None or (word in ("one", "single", "once") and not _counts(line, place)):
        return None
    before = line[place - 1] if place else ""
    around = " ".join(line[max(0, place - 5) : place + 6])
    bound = _bound(line, place)
    unit_at = place + 1
    if after in words.UNITS and not (len(after) == 1 and word.isalpha()):
        dimension, factor = words.UNITS[after]
        for used in tokens[place : place + 2]:
            used.used = True
        shown = f"{word}{'' if after == '%' else ' '}{after}"
        return Quantity(_exact(value * factor), dimension, shown, bound)
    token.used = True
    for at in range(unit_at, min(len(line) - 1, unit_at + 3)):
        if line[at] in ("per", "a", "an", "every", "/", "each") and line[at + 1] in words.UNITS:
            dimension, factor = words.UNITS[line[at + 1]]
            if dimension == "time":
                for used in tokens[at : at + 2]:
                    used.used = True
                return Quantity(_exact(value / factor), "rate", f"{word} per {line[at + 1]}", bound)
    if before in ("port", "ports"):
        return Quantity(value, "port", f"port {word}")
    if word.count(".") or before in ("version", "v") or "version" in around or "or newer" in around:
        return Quantity(_version(word), "version", word)
    return Quantity(value, "count", word, bound)


def _counts(line: list[str], place: int) -> bool:
    """Whether `one` counts something here, and does not stand for somebody."""
    after = line[place + 1 : place + 2]
    return bool(after) and after[0] not in words.STOP and after[0].isalpha()


def _spoken_time(tokens: list[_Token], place: int) -> Quantity | None:
    """`half a minute`, `a quarter of an hour`, `an hour`."""
    line = [token.word for token in tokens[place : place + 4]]
    share = {"half": 0.5, "quarter": 0.25}.get(line[0], 1.0)
    if place and tokens[place - 1].word in ("per", "/"):
        return None
    for at, word in enumerate(line[1:], 1):
        if word in ("a", "an", "of"):
            continue
        found = words.UNITS.get(word)
        if found is None or found[0] != "time":
            return None
        for token in tokens[place : place + at + 1]:
            token.used = True
        return Quantity(_exact(share * found[1]), "time", " ".join(line[: at + 1]))
    return None


def _value(word: str) -> float | None:
    if word in words.NUMBERS:
        return float(words.NUMBERS[word])
    if not word[0].isdigit():
        return None
    plain = word.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+", word) else word.replace(",", ".")
    try:
        return float(plain)
    except ValueError:
        return 0.0


def _version(word: str) -> float:
    """1.9 before 1.10: the parts as one number."""
    total = 0.0
    for place, part in enumerate(word.replace(",", ".").split(".")[:3]):
        total += min(float(part), 9e8) / 1000.0**place
    return total


def _exact(value: float) -> float:
    return float(f"{value:.9g}")


def _bound(line: list[str], place: int) -> Bound:
    before = f" {' '.join(line[max(0, place - 4) : place])} "
    after = f" {' '.join(line[place + 1 : place + 6])} "
    never = any(word in _NEGATORS for word in line[:place])
    for phrases, bound in ((_AT_LEAST, "at least"), (_AT_MOST, "at most")):
        for phrase in phrases:
            if f" {phrase} " in before or (phrase in ("or more", "or newer", "or later", "at least", "at most")
                                           and f" {phrase} " in after):  # fmt: skip
                if phrase == "more than" and never:
                    return "at most"
                return "at least" if bound == "at least" else "at most"
    return ""
