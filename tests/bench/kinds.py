"""`python -m tests.bench.kinds`: precision and recall of conflict detection for each kind, for each truth set.

`--fit` works out the weights of agentplane/claims/features/fitted_weights.py anew, from the pairs that may be tuned on. `--file` measures
pairs of another hand, which lie elsewhere, and prints none of them.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agentplane.claims.compare import word_order
from agentplane.claims.compare.evidence import Evidence
from agentplane.claims.features import fitted_weights, measures, similarity, word_similarity
from agentplane.claims.features.measures import PRODUCTS, QUIET, signals_of
from agentplane.claims.features.sentence_vectors import sense
from agentplane.claims.parse.statement import parse
from agentplane.claims.verdict import columns_of, rule_relation
from agentplane.match import vectors
from agentplane.match.corpus import Corpus
from agentplane.match.corpus import Text as Compared
from agentplane.review.conflicts.conflicts import Conflict, Text, compare
from tests.review.pairs import BLIND, PAIRS, SETS, TUNED, Pair, read


Floats = npt.NDArray[np.float64]
HELD_BACK = 20.0
"""How strongly weights are drawn to zero, in pairs."""
HANDS = {name: pairs for name, pairs in SETS.items() if name not in BLIND}
LATEST = ("five", "six", "seven", "eight", "nine", "ten", "judge", "judge_two")
"""Hands that rules and words were hardly tuned on."""
STRANGE = (2, 5, 9, 14, 20)
"""Of the neighbours of a statement, those at these places are taken for unrelated when weights are fitted."""
STRANGER = 0.06
"""What one of them counts beside a pair."""
NEIGHBOUR = 3.0
"""What a compatible neighbour counts: what is flagged in vain costs more trust than what is missed."""
RANKS = (1, 5, 12, 24)
PARTLY = frozenset({"cover_small", "modifier", *QUIET, "against", "quiet", "speaks"})
"""Signals that count only in a product."""
CLASSES = {"contradiction": 1, "supersession": 1, "duplicate": 2}


def found(pair: Pair) -> Conflict | None:
    """What is said of a pair when its second statement is proposed and the first one is a decision."""
    shelf = Text(id="DEC-001", type="decision", statement=pair.first, scope=pair.first_scope)
    proposal = Text(
        id="CAND-1", type="decision", statement=pair.second, scope=pair.second_scope, status="proposed"
    )
    return compare(proposal, shelf)


def figures(pairs: Sequence[Pair]) -> dict[str, dict[str, float]]:
    return table(kinds_of(pairs))


def kinds_of(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """What each is, and what is said of it."""
    return [(pair.expected, conflict.kind if (conflict := found(pair)) else "none") for pair in pairs]


def table(said: Sequence[tuple[str, str]]) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for kind in ("contradiction", "duplicate", "supersession"):
        hits = sum(expected == kind and got == kind for expected, got in said)
        rows[kind] = {
            "precision": _share(hits, sum(got == kind for _, got in said)),
            "recall": _share(hits, sum(expected == kind for expected, _ in said)),
            "pairs": sum(expected == kind for expected, _ in said),
        }
    for kind in ("compatible", "unrelated"):
        of_kind = [got for expected, got in said if expected == kind]
        rows[kind] = {
            "flagged": _share(sum(got != "none" for got in of_kind), len(of_kind)) if of_kind else 0.0,
            "pairs": len(of_kind),
        }
    return rows


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 1.0


@lru_cache(maxsize=20_000)
def signals(pair: Pair) -> dict[str, float]:
    new, old = sorted((parse(pair.second), parse(pair.first)), key=lambda one: one.source)
    evidence = Evidence(new, old)
    rules = rule_relation(evidence)
    return model_inputs(signals_of(evidence, rules.kind if rules else ""))


def model_inputs(signals: Mapping[str, float]) -> dict[str, float]:
    """All inputs of the model: the signals and their products."""
    found = {name: value for name, value in signals.items() if name not in PARTLY}
    return found | {name: signals[one] * signals[other] for name, (one, other) in PRODUCTS.items()}


Fitted = tuple[tuple[float, float], dict[str, tuple[float, float]]]


def strangers(pairs: Sequence[Pair]) -> list[Pair]:
    """What a shelf holds besides: near statements that belong to other pairs. A few are true conflicts all the same."""
    shelf = list(dict.fromkeys(pair.first for pair in pairs))
    own: dict[str, set[str]] = {}
    for pair in pairs:
        own.setdefault(pair.second, set()).add(pair.first)
    wanted = sorted(own)
    corpus = Corpus([Compared(first) for first in shelf])
    near = corpus.ranked_each([Compared(second) for second in wanted], max(RANKS))
    return [
        Pair("", "unrelated", "", first, second)
        for second, found in zip(wanted, near, strict=True)
        for at in STRANGE
        if (first := shelf[found.places[at]]) not in own[second]
    ]


def fit(pairs: Sequence[Pair], without: frozenset[str] = frozenset()) -> Fitted:
    """Bias and weights of a multinomial logistic regression against `neither`. The inputs in `without` count as zero."""
    beside = strangers(pairs)
    rows = [signals(pair) for pair in (*pairs, *beside)]
    names = list(rows[0])
    values = np.array([[0.0 if name in without else row[name] for name in names] for row in rows])
    wanted = np.eye(3)[[CLASSES.get(pair.expected, 0) for pair in (*pairs, *beside)]]
    told = [NEIGHBOUR if pair.expected == "compatible" else 1.0 for pair in pairs]
    counts = np.array(told + [STRANGER] * len(beside))
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-6
    weights = _descended(np.c_[(values - mean) / spread, np.ones(len(rows))], wanted, counts)
    weights -= weights[:, :1]
    plain = weights[:-1] / spread[:, None]
    bias = weights[-1] - mean @ plain
    return (_rounded(bias), {name: _rounded(row) for name, row in zip(names, plain, strict=True)})


def _rounded(row: Floats) -> tuple[float, float]:
    return round(float(row[1]), 3), round(float(row[2]), 3)


def _descended(values: Floats, wanted: Floats, counts: Floats) -> Floats:
    """By Newton's method: a few steps to where it no longer falls."""
    width = values.shape[1]
    held = np.full(width, HELD_BACK)
    held[-1] = 0.001
    weights = np.zeros((width, 3))
    for _ in range(30):
        sums = values @ weights
        power = np.exp(sums - sums.max(axis=1, keepdims=True))
        shares = power / power.sum(axis=1, keepdims=True)
        slope = values.T @ ((shares - wanted) * counts[:, None]) + held[:, None] * weights
        step = np.linalg.solve(_bend(values, shares, counts, held), slope.T.ravel()).reshape(3, width).T
        weights -= step
        if np.abs(step).max() < 1e-5:
            break
    return weights


def _bend(values: Floats, shares: Floats, counts: Floats, held: Floats) -> Floats:
    """How the slope changes with the weights."""
    width = values.shape[1]
    bend = np.diag(np.tile(held, 3) + 1e-6)
    for one in range(3):
        for other in range(3):
            rise = counts * shares[:, one] * (float(one == other) - shares[:, other])
            block = values.T @ (values * rise[:, None])
            bend[one * width : (one + 1) * width, other * width : (other + 1) * width] += block
    return bend


@contextmanager
def weights_of(with_vectors: Fitted) -> Iterator[None]:
    before, fitted_weights.WITH = fitted_weights.WITH, with_vectors
    columns_of.cache_clear()
    try:
        yield
    finally:
        fitted_weights.WITH = before
        columns_of.cache_clear()


@contextmanager
def no_embeddings() -> Iterator[None]:
    """As if wordllama were not installed."""
    known = (
        word_similarity._vectors,
        word_similarity._direction,
        sense,
        signals,
    )
    available, vectors.available = vectors.available, lambda: "embeddings are off"
    try:
        for each in known:
            each.cache_clear()
        yield
    finally:
        vectors.available = available
        for each in known:
            each.cache_clear()


def crossed() -> None:
    """What the weights give for a hand that they were not fitted to. Rules and words had seen it."""
    said: list[tuple[str, str]] = []
    for left_out, measured_on in HANDS.items():
        with weights_of(fit([pair for hand, pairs in HANDS.items() if hand != left_out for pair in pairs])):
            got = kinds_of(measured_on)
        _print(f"{left_out}, fitted to the others", table(got))
        said += got if left_out in LATEST else []
    _print(f"{', '.join(LATEST)} together", table(said))


def groups() -> dict[str, frozenset[str]]:
    """The inputs of the model by the function that measures them. A product belongs to each group of its two signals."""
    pair = TUNED[0]
    evidence = Evidence(parse(pair.second), parse(pair.first))
    single = {
        "meaning of words": set(similarity.meaning_signals(evidence)),
        "shared and unmatched words": set(measures._words(evidence)),
        "numbers, choices and denials": set(measures._values(evidence.new, evidence.old, evidence)),
        "names and positions": set(measures._shape(evidence.alignment, evidence)),
        "form of the sentence": set(word_order.form_signals(evidence)),
        "what the rules say": {"rules_contradiction", "rules_duplicate", "against", "quiet"},
    }
    inputs = set(signals(pair))
    products = {name: set(parts) for name, parts in PRODUCTS.items()}
    return {
        name: frozenset((inputs & own) | {product for product, parts in products.items() if parts & own})
        for name, own in single.items()
    }


def ablated(without: frozenset[str]) -> Fitted:
    """Weights that are fitted to the pairs for tuning while these inputs are always zero."""
    bias, weights = fit(TUNED, without)
    return bias, {name: (0.0, 0.0) if name in without else row for name, row in weights.items()}


def ablation() -> dict[str, dict[str, dict[str, float]]]:
    """The figures of the sets that nobody who tunes has read, with one group of inputs left out at a time."""
    held_out = [pair for name in BLIND for pair in SETS[name]]
    rows = {"all": figures(held_out)}
    for name, inputs in groups().items():
        with weights_of(ablated(inputs)):
            rows[f"without {name} ({len(inputs)})"] = figures(held_out)
    with no_embeddings():
        rows["without embeddings"] = figures(held_out)
    return rows


def write(path: Path) -> None:
    lines = [
        '"""The fitted weights for a contradiction and a duplicate, written by `python -m tests.bench.kinds --fit`.',
        "",
        "The bias comes first, then the weight of each signal. There is one set with embeddings and one without.",
        '"""\n\n',
        "Fitted = tuple[tuple[float, float], dict[str, tuple[float, float]]]\n",
        *_lines("WITH", fit(TUNED)),
    ]
    with no_embeddings():
        lines += _lines("WITHOUT", fit(TUNED))
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _lines(name: str, found: Fitted) -> list[str]:
    bias, weights = found
    rows = [f'        "{signal}": {row},' for signal, row in weights.items()]
    return [f"{name}: Fitted = (", f"    {bias},", "    {", *rows, "    },", ")"]


def ranks() -> dict[str, dict[str, float]]:
    """All first statements as a shelf: how often the one that belongs to a second is among the first so many."""
    pairs = [pair for pair in PAIRS if pair.expected in ("duplicate", "contradiction")]
    shelf = list(dict.fromkeys(pair.first for pair in PAIRS))
    corpus = Corpus([Compared(first) for first in shelf])
    near = [*corpus.ranked_each([Compared(pair.second) for pair in pairs], max(RANKS))]
    rows: dict[str, dict[str, float]] = {}
    for kind in ("duplicate", "contradiction"):
        places = [
            next((at for at, one in enumerate(found.places) if shelf[one] == pair.first), max(RANKS))
            for pair, found in zip(pairs, near, strict=True)
            if pair.expected == kind
        ]
        rows[kind] = {f"first {rank}": _share(sum(at < rank for at in places), len(places)) for rank in RANKS}
        rows[kind]["pairs"] = len(places)
    rows["shelf"] = {"statements": len(shelf)}
    return rows


def _print(name: str, rows: dict[str, dict[str, float]]) -> None:
    print(name)
    for kind, row in rows.items():
        print(f"  {kind:<14}", "  ".join(f"{key} {value:g}" for key, value in row.items()))


def blind() -> dict[str, dict[str, dict[str, float]]]:
    """Prints and gives the figures of the sets that nobody who tunes has read."""
    rows = {name: figures(SETS[name]) for name in BLIND}
    for name, row in rows.items():
        _print(f"{name} ({len(SETS[name])} pairs)", row)
    return rows


def _print_wrong() -> None:
    """Only of pairs that may be tuned on."""
    for pair in TUNED:
        conflict = found(pair)
        got = conflict.kind if conflict else "none"
        if got != pair.expected and not (got == "none" and pair.expected in ("compatible", "unrelated")):
            reasons = conflict.reasons if conflict else ""
            print(f"{pair.expected}/{pair.how} -> {got}: {pair.first} | {pair.second} {reasons}")


def cost() -> float:
    """Microseconds of a comparison, on average, when all texts are known."""
    texts = [Text(id=f"DEC-{at}", type="decision", statement=pair.first) for at, pair in enumerate(TUNED)]
    proposals = [Text(id="CAND-1", type="decision", statement=pair.second) for pair in TUNED[::20]]
    for proposal in proposals:
        compare(proposal, texts[0])
    for text in texts:
        compare(proposals[0], text)
    before = time.process_time()
    for proposal in proposals:
        for text in texts:
            compare(proposal, text)
    return (time.process_time() - before) / len(texts) / len(proposals) * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.kinds")
    parser.add_argument("--set", choices=[*SETS, "all"], default="all")
    parser.add_argument("--file", type=Path, help="measure the pairs in this file instead")
    parser.add_argument("--wrong", action="store_true", help="show the pairs for tuning that came out wrong")
    parser.add_argument("--fit", action="store_true", help="write the fitted weights again")
    parser.add_argument(
        "--crossed", action="store_true", help="fit to all hands but one, measure on that one"
    )
    parser.add_argument(
        "--ranks", action="store_true", help="how high the nearest stands among all statements"
    )
    parser.add_argument(
        "--ablate",
        action="store_true",
        help="leave out one group of signals at a time, and fit the others again",
    )
    parser.add_argument("--cost", action="store_true", help="microseconds of a comparison")
    arguments = parser.parse_args()
    if arguments.fit:
        write(Path(fitted_weights.__file__))
        return 0
    if arguments.crossed:
        crossed()
        return 0
    if arguments.ablate:
        found_rows = ablation()
        for name, row in found_rows.items():
            _print(name, row)
        print(json.dumps(found_rows))
        return 0
    if arguments.ranks:
        found_ranks = ranks()
        _print("the other half of a pair", found_ranks)
        print(json.dumps(found_ranks))
        return 0
    if arguments.cost:
        print(f"{cost():.0f} µs")
        return 0
    sets = {arguments.file.stem: read(arguments.file)} if arguments.file else SETS
    wanted = {name for name in sets if arguments.file or arguments.set in (name, "all")}
    rows = {name: figures(pairs) for name, pairs in sets.items() if name in wanted}
    for name, row in rows.items():
        _print(f"{name} ({len(sets[name])} pairs)", row)
    if arguments.wrong:
        _print_wrong()
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
