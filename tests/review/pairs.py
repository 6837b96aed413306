"""The truth sets: short memory pairs of the kind that coding agents propose, with the kind to expect.

They stand in pairs/, a line a pair: `kind[/how] | on the shelf | proposed`; `@ glob` at the end of a side is
its scope. Each file is by another hand, and none but the fourth, the fifth, eight, nine and ten had seen the program.
Words and limits of `review/` were tuned on `TUNED`; half of the first hand's pairs (by a hash of their text) are set
aside, and so is all of the third judge's. The other two judges' were too, until they had been measured; now they are
tuned on like the others.
"""

import hashlib
from pathlib import Path
from typing import Literal

import msgspec


Expected = Literal["duplicate", "contradiction", "supersession", "compatible", "unrelated"]


class Pair(msgspec.Struct, frozen=True):
    topic: str
    expected: Expected
    how: str
    """What makes a contradiction one: choice, number, polarity, antonym; `scope`: what keeps two apart."""
    first: str
    """What stands on the shelf."""
    second: str
    """What is proposed."""
    first_scope: tuple[str, ...] = ()
    second_scope: tuple[str, ...] = ()

    @property
    def held_out(self) -> bool:
        return hashlib.sha256(f"{self.first}\n{self.second}".encode()).digest()[0] % 2 == 1


def _read(hand: str) -> tuple[Pair, ...]:
    return read(Path(__file__).parent / "pairs" / f"{hand}.txt")


def read(file: Path) -> tuple[Pair, ...]:
    pairs, topic = [], ""
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("["):
            topic = line.strip("[]")
        elif line and not line.startswith("#"):
            kind, first, second = (part.strip() for part in line.split(" | "))
            expected, _, how = kind.partition("/")
            (left, left_scope), (right, right_scope) = map(_side, (first, second))
            pairs.append(
                Pair(topic, msgspec.convert(expected, Expected), how, left, right, left_scope, right_scope)
            )
    return tuple(pairs)


def _side(text: str) -> tuple[str, tuple[str, ...]]:
    words, _, scope = text.partition(" @ ")
    return words, (scope,) if scope else ()


FIRST, SECOND, THIRD, JUDGE = map(_read, ("first", "second", "third", "judge"))
FIVE, SIX, SEVEN, EIGHT, NINE, TEN = map(_read, ("five", "six", "seven", "eight", "nine", "ten"))
JUDGE_TWO, JUDGE_THREE = _read("judge_two"), _read("judge_three")
FOURTH = (*_read("fourth"), *_read("fifth"))
FIRST_TUNED = tuple(pair for pair in FIRST if not pair.held_out)
HELD_OUT = tuple(pair for pair in FIRST if pair.held_out)
JUDGES = (*JUDGE, *JUDGE_TWO)
"""Blind when they were first measured, and read since. The weights that are in use were fitted before."""
TUNED = (*FIRST_TUNED, *SECOND, *THIRD, *FOURTH, *FIVE, *SIX, *SEVEN, *EIGHT, *NINE, *TEN, *JUDGES)
BLIND = ("held_out", "judge_three")
"""The sets that nobody who tunes reads, and that no program prints."""
SETS = {
    "first": FIRST_TUNED,
    "held_out": HELD_OUT,
    "second": SECOND,
    "third": THIRD,
    "fourth": FOURTH,
    "five": FIVE,
    "six": SIX,
    "seven": SEVEN,
    "eight": EIGHT,
    "nine": NINE,
    "ten": TEN,
    "judge": JUDGE,
    "judge_two": JUDGE_TWO,
    "judge_three": JUDGE_THREE,
}
PAIRS = tuple(pair for pairs in SETS.values() for pair in pairs)
