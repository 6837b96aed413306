"""The vocabulary: families of alternatives, opposites, synonyms and units. The long lists are in `data/`."""

from collections.abc import Iterable, Iterator
from pathlib import Path


COMPACT = 8
"""Minimum length of a name of several words for a second form without its spaces."""


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _rows(name: str) -> Iterator[str]:
    """Yield the rows of a list. A line that begins with spaces continues the row before it."""
    row = ""
    text = (Path(__file__).parents[1] / "data" / f"{name}.txt").read_text("utf-8")
    for line in text.splitlines():
        if line.startswith(" "):
            row += " " + line.strip()
            continue
        if row:
            yield row
        row = "" if line.startswith("#") else line
    if row:
        yield row


def _families() -> dict[str, tuple[tuple[str, str], ...]]:
    """Return each spelling of a member -> its families, with its name in each."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for row in _rows("families"):
        family, _, members = row.partition(": ")
        for member in members.split(";"):
            name, _, others = member.strip().partition("=")
            for written in (name, *(other.strip() for other in others.split(",") if other.strip())):
                if written in STOP or written in NUMBERS or written in UNITS:
                    continue
                found[written] = (*found.get(written, ()), (family, name))
                compact = written.replace(" ", "")
                if " " in written and len(compact) >= COMPACT:
                    found.setdefault(compact, ((family, name),))
    return found


def lengths(table: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return for each first word the lengths in words of the keys that begin with it, the longest first."""
    found: dict[str, set[int]] = {}
    for written in table:
        first, *others = written.split(" ")
        found.setdefault(first, set()).add(1 + len(others))
    return {first: tuple(sorted(counts, reverse=True)) for first, counts in found.items()}


def _poles() -> dict[str, tuple[str, int]]:
    """Return each spelling of a side -> the pair of opposites, and the side."""
    found: dict[str, tuple[str, int]] = {}
    for row in _rows("opposites"):
        axis, _, sides = row.partition(": ")
        for side, words in zip((1, -1), sides.split(" / "), strict=True):
            for word in words.split():
                found.setdefault(word.replace("-", " "), (axis, side))
    return found


def _synonyms() -> dict[str, str]:
    found = {}
    for row in _rows("synonyms"):
        first, *others = (word.replace("-", " ") for word in row.split())
        found.update(dict.fromkeys((first, *others), first))
    return found


def _contexts() -> dict[str, int]:
    """Return each word that names a context -> its line."""
    found: dict[str, int] = {}
    for line, row in enumerate(_rows("contexts")):
        for word in row.split():
            found.setdefault(word, line)
    return found


IRREGULAR = {
    "built": "build", "written": "write", "wrote": "write", "sent": "send", "held": "hold", "ran": "run",
    "shown": "show", "taken": "take", "given": "give", "chosen": "choose", "drawn": "draw", "broken": "break",
    "thrown": "throw", "threw": "throw", "hidden": "hide", "caught": "catch", "bought": "buy", "read-only": "immutable",
    "spoken": "speak", "driven": "drive", "begun": "begin", "kept": "keep", "stored": "store", "used": "use",
    "found": "find", "put": "put", "sold": "sell", "paid": "pay", "lost": "lose", "left": "leave", "met": "meet",
    "split": "split", "children": "child", "people": "user", "indices": "index", "indexes": "index",
    "schemata": "schema", "criteria": "criterion", "data": "data", "media": "media", "frozen": "freeze",
}  # fmt: skip

NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "ninety": 90, "hundred": 100, "thousand": 1000, "once": 1, "twice": 2, "thrice": 3, "single": 1,
    "dozen": 12, "million": 1_000_000,
}  # fmt: skip

# unit -> (dimension, factor to the base unit). The base units are seconds and bytes.
UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), ("time", 1e-9)),
    **dict.fromkeys(("us", "microsecond", "microseconds"), ("time", 1e-6)),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), ("time", 1e-3)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day", "days"), ("time", 86400.0)),
    **dict.fromkeys(("w", "week", "weeks"), ("time", 604800.0)),
    **dict.fromkeys(("month", "months"), ("time", 2592000.0)),
    **dict.fromkeys(("year", "years", "yr"), ("time", 31104000.0)),
    **dict.fromkeys(("b", "byte", "bytes"), ("size", 1.0)),
    **dict.fromkeys(("kb", "kilobyte", "kilobytes", "k"), ("size", 1e3)),
    **dict.fromkeys(("mb", "megabyte", "megabytes"), ("size", 1e6)),
    **dict.fromkeys(("gb", "gigabyte", "gigabytes"), ("size", 1e9)),
    **dict.fromkeys(("tb", "terabyte", "terabytes"), ("size", 1e12)),
    "kib": ("size", 1024.0),
    "mib": ("size", 1024.0**2),
    "gib": ("size", 1024.0**3),
    "tib": ("size", 1024.0**4),
    **dict.fromkeys(("%", "percent", "pct"), ("percent", 1.0)),
    **dict.fromkeys(("hz", "hertz", "fps", "rps", "qps", "tps"), ("rate", 1.0)),
    **dict.fromkeys(("khz", "kilohertz"), ("rate", 1e3)),
    **dict.fromkeys(("mhz", "megahertz"), ("rate", 1e6)),
    **dict.fromkeys(("ghz", "gigahertz"), ("rate", 1e9)),
    **dict.fromkeys(("baud", "bps"), ("bits per second", 1.0)),
    **dict.fromkeys(("kbps", "kbit"), ("bits per second", 1e3)),
    **dict.fromkeys(("mbps", "mbit"), ("bits per second", 1e6)),
    **dict.fromkeys(("gbps", "gbit"), ("bits per second", 1e9)),
    **dict.fromkeys(("dp", "pt", "em", "rem", "dpi"), ("pixels", 1.0)),
    **dict.fromkeys(("mm", "millimetres", "millimeters"), ("length", 1e-3)),
    **dict.fromkeys(("cm", "centimetres", "centimeters"), ("length", 1e-2)),
    **dict.fromkeys(("metres", "meters", "metre", "meter"), ("length", 1.0)),
    **dict.fromkeys(("km", "kilometres", "kilometers"), ("length", 1e3)),
    **dict.fromkeys(("mv", "millivolts"), ("voltage", 1e-3)),
    **dict.fromkeys(("volt", "volts"), ("voltage", 1.0)),
    **dict.fromkeys(("ma", "milliamps"), ("current", 1e-3)),
    **dict.fromkeys(("db", "decibel", "decibels"), ("loudness", 1.0)),
    **dict.fromkeys(("eur", "euro", "euros"), ("euro", 1.0)),
    **dict.fromkeys(("usd", "dollar", "dollars"), ("dollar", 1.0)),
    **dict.fromkeys(("char", "chars", "character", "characters"), ("characters", 1.0)),
    **dict.fromkeys(("fortnight",), ("time", 1209600.0)),
    **dict.fromkeys(("px", "pixel", "pixels"), ("pixels", 1.0)),
}
# Spelled out, they are units even without a number: "an hour", "per minute", "daily".
PERIODS = {"hourly": 3600.0, "daily": 86400.0, "nightly": 86400.0, "weekly": 604800.0, "monthly": 2592000.0}

_WORDS = {name: word_set(words) for name, _, words in (row.partition(": ") for row in _rows("words"))}
STOP, LIGHT, ACTIONS, HEADS = (_WORDS[name] for name in ("stop", "light", "actions", "heads"))
AMBIGUOUS = (_WORDS["ambiguous"] - _WORDS["plain"]) | word_set("info debug critical warning")
CONTEXTS = _contexts()
MEMBERS = _families()
POLES = _poles()
SYNONYMS = _synonyms()
MEMBER_LENGTHS, POLE_LENGTHS, SYNONYM_LENGTHS = lengths(MEMBERS), lengths(POLES), lengths(SYNONYMS)
