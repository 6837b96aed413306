"""Anchors drawn from the releases of packages, each with the states that are right for it."""

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tests.bench.curator import truth
from tests.bench.curator.braces import ENDINGS
from tests.bench.curator.releases import History, cache
from tests.bench.curator.trees import PYTHON, SCRIPT, TEXTS, Source, Tree, trees_of
from tests.bench.curator.truth import Anchor, LeftOut, Truth, truth_of


SEED = 20261120
DRAWN = 40
"""Anchors of each package, drawn without a look at what became of them."""
SEARCHED = 600
"""More anchors of each package, from which those with rarer states are taken."""
RARE = 6
"""Anchors of each rarer state and each package."""
_KINDS = (("symbol", 0.5), ("lines", 0.35), ("file", 0.15))
_MOST_LINES = 12
_RULES = ("draw.py", "truth.py", "trees.py", "braces.py", "definitions.cjs")
_LONGEST = 4_000


class Case(msgspec.Struct, frozen=True):
    package: str
    anchor: Anchor
    old: int
    new: int
    """Indexes of the releases."""
    truth: Truth
    is_rare: bool = False
    """True if it was taken because its state is rare."""


class Draw(msgspec.Struct, frozen=True):
    cases: tuple[Case, ...]
    left_out: dict[str, int]


def kept_draw(history: History, seed: int = SEED) -> Draw:
    """Return the draw of a package. It takes a while, and is kept until its rules change."""
    here = Path(__file__).parent
    rules = b"".join((here / name).read_bytes() for name in _RULES)
    rules += f"{seed} ".encode() + " ".join(release.version for release in history.releases).encode()
    kept = cache() / "draws" / f"{history.project.name}-{hashlib.sha256(rules).hexdigest()[:12]}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(msgspec.json.encode(draw(history, trees_of(history), seed)))
    return msgspec.json.decode(kept.read_bytes(), type=Draw)


def draw(history: History, trees: Sequence[Tree], seed: int) -> Draw:
    """Draw anchors of a package with a fixed seed."""
    dice = random.Random(f"{seed} {history.package}")
    left_out: Counter[str] = Counter()
    cases = list(_drawn(dice, history, trees, DRAWN, left_out))
    known = {(case.anchor, case.old, case.new) for case in cases}
    rare: Counter[frozenset[str]] = Counter()
    for case in _drawn(dice, history, trees, SEARCHED, Counter()):
        key = case.truth.accepted
        is_common = key in (frozenset({truth.UNCHANGED}), frozenset({truth.CHANGED}))
        if not is_common and rare[key] < RARE and (case.anchor, case.old, case.new) not in known:
            rare[key] += 1
            cases.append(msgspec.structs.replace(case, is_rare=True))
    return Draw(tuple(cases), left_out)


def _drawn(
    dice: random.Random, history: History, trees: Sequence[Tree], count: int, left_out: Counter[str]
) -> Iterator[Case]:
    made = 0
    while made < count:
        old = dice.randrange(len(trees) - 1)
        new = dice.randrange(old + 1, len(trees))
        anchor = _anchor(dice, trees[old])
        if anchor is None:
            continue
        found = truth_of(anchor, trees[old], trees[new])
        if isinstance(found, LeftOut):
            left_out[found.reason] += 1
            continue
        made += 1
        yield Case(history.package, anchor, old, new, found)


def _anchor(dice: random.Random, tree: Tree) -> Anchor | None:
    (kind,) = dice.choices([kind for kind, _ in _KINDS], [share for _, share in _KINDS])
    # One of ten is a text, such as a guide or a configuration.
    endings = TEXTS if kind != "symbol" and dice.random() < 0.1 else (*PYTHON, *SCRIPT, *ENDINGS)
    sources = [
        source
        for path, source in tree.sources.items()
        if path.endswith(endings) and _is_usable(source, endings)
    ]
    if not sources:
        return None
    source = dice.choice(sources)
    match kind:
        case "symbol":
            return Anchor(source.path, dice.choice(source.definitions).name) if source.definitions else None
        case "lines":
            first = dice.randrange(1, len(source.lines))
            last = min(first + dice.randrange(_MOST_LINES), len(source.lines) - 1)
            return Anchor(source.path, first=first, last=last)
        case _:
            return Anchor(source.path)


def _is_usable(source: Source, endings: Sequence[str]) -> bool:
    return (
        source.text is not None
        and 1 < len(source.lines) < _LONGEST
        and (endings is TEXTS or source.is_parsed)
    )
