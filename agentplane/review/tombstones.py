"""Past rejections, so that what was rejected is known again when it comes back in other words."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import msgspec

from agentplane.plane import records
from agentplane.plane.store import Snapshot
from agentplane.plane.undo import out_of_force


class Rejection(msgspec.Struct, frozen=True, gc=False):
    id: str
    text: str
    """The statement, without its label."""
    reason: str | None
    when: str
    op: str
    type: str = ""


class Repeat(msgspec.Struct, frozen=True):
    rejection: Rejection
    alike: float
    """0 to 1; 1: the same words."""
    sure: bool
    """Whether nothing but the wording differs, as far as words can tell."""


def rejections(snapshot: Snapshot) -> list[Rejection]:
    """What was rejected and not taken back, oldest first. Pruned texts are gone from here too."""
    notes = snapshot.ledger.ops
    undone = out_of_force(notes)
    wanted = {note.op for note in notes if note.verb == "reject" and note.op not in undone}
    # A reject that was undone and redone is in force again under its own name.
    if not wanted:
        return []
    found = []
    for line in records.each(snapshot.layout):
        if b'"verb":"reject"' not in line:
            continue
        try:
            stored = records.read_line(line)
        except (ValueError, msgspec.MsgspecError):
            continue
        record = stored.record
        if record.op not in wanted:
            continue
        for change in record.changes:
            text = stored.text(change.found)
            if text is not None:
                kind, said = _said(text)
                found.append(Rejection(change.id, said, stored.why, record.ts, record.op, kind))
    return found


_KIND = re.compile(r"^type: *[\"']?([\w-]{1,40})", re.MULTILINE)
_LABEL = re.compile(r"\s*[A-Z][\w-]{0,30}:\s")


def _said(core: bytes) -> tuple[str, str]:
    """Kind and statement of an entry's text."""
    text = core.decode(errors="replace").replace("\r\n", "\n").lstrip("\ufeff")
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    kind = _KIND.search(head)
    statement = body.partition("\nRationale:")[0]
    label = _LABEL.match(statement)
    return kind[1] if kind else "", (statement[label.end() :] if label else statement).strip()


LONGEST = 1000
"""Characters of a statement that are compared."""
_NEAR = 55.0
_MOST_NEAR = 48
_ALIKE = 0.6
_SURE = 0.8


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
_TOKEN = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[^\W\d_]+|[.;:,!?\n%]")


class Words(msgspec.Struct, frozen=True):
    """What a statement says: the stems of its content words, those that it says no to, and its numbers."""

    yes: frozenset[str]
    no: frozenset[str]
    numbers: tuple[str, ...]

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
    clause: set[str] = set()
    """What the clause has said so far; its denied words are in `no` already."""
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
            (no if denied else clause).add(_stem(word))
        before = word
    return Words(frozenset(yes - no), frozenset(no), tuple(sorted(numbers)))


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


class Tombstones:
    """Rejections to compare with. Only those whose letters are near are taken apart."""

    def __init__(self, rejected: Iterable[Rejection]) -> None:
        self.rejections: Sequence[Rejection] = tuple(rejected)

    def __bool__(self) -> bool:
        return bool(self.rejections)

    @cached_property
    def _texts(self) -> list[str]:
        return [rejection.text[:LONGEST].lower() for rejection in self.rejections]

    def find(self, statement: str) -> Repeat | None:
        """The rejection that this repeats; of several the most alike, then the latest."""
        if not self.rejections or not statement.strip():
            return None
        said = words_of(statement)
        if not said.all:
            return None
        best: Repeat | None = None
        for place in self._near(statement):
            rejection = self.rejections[place]
            repeat = _compare(said, rejection)
            if repeat and (best is None or (repeat.sure, repeat.alike) > (best.sure, best.alike)):
                best = repeat
        return best

    def _near(self, statement: str) -> list[int]:
        """The places of what shares the most letters and words, the latest first."""
        from rapidfuzz import fuzz, process

        query = statement[:LONGEST].lower().encode(errors="replace").decode()
        hits: list[Any] = process.extract(
            query, self._texts, scorer=fuzz.token_set_ratio, score_cutoff=_NEAR, limit=_MOST_NEAR
        )
        return sorted((int(hit[2]) for hit in hits), reverse=True)


def _compare(said: Words, rejection: Rejection) -> Repeat | None:
    from rapidfuzz import fuzz

    old = words_of(rejection.text)
    if said.numbers != old.numbers or bool(said.no) != bool(old.no) or bool(said.yes) != bool(old.yes):
        return None
    pairs = _pairs(said.all, old.all)
    if any((mine in said.no) != (theirs in old.no) for mine, theirs in pairs.items()):
        return None
    shared = len(pairs)
    mine, theirs = len(said.all), len(old.all)
    if not shared:
        return None
    alike = shared / max(mine, theirs)
    apart = mine > shared and theirs > shared
    line, old_line = " ".join(sorted(said.all)), " ".join(sorted(old.all))
    letters = max(fuzz.token_sort_ratio(line, old_line), fuzz.token_set_ratio(line, old_line)) / 100
    if apart:
        # One word in place of another can be another choice.
        other = shared / (mine + theirs - shared)
        return Repeat(rejection, other, sure=False) if other >= _ALIKE and letters >= 0.75 else None
    if alike < _ALIKE or letters < 0.75:
        return None
    return Repeat(rejection, alike, sure=alike >= _SURE)


def _pairs(mine: frozenset[str], theirs: frozenset[str]) -> dict[str, str]:
    """Words that are the same, or forms of the same."""
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
