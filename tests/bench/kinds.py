"""`python -m tests.bench.kinds`: precision and recall of conflict detection for each kind, for each truth set.

`--fit` works out the weights of agentplane/review/fitted.py anew, from the pairs that may be tuned on.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agentplane.review import fitted
from agentplane.review.conflicts import Conflict, Text, compare
from agentplane.review.evidence import Evidence
from agentplane.review.signals import measured
from agentplane.review.statement import parse
from agentplane.review.structure import by_structure
from agentplane.review.verdict import chances
from tests.review.pairs import FIRST_TUNED, FOURTH, SECOND, SETS, THIRD, TUNED, Pair


Floats = npt.NDArray[np.float64]
HELD_BACK = 20.0
"""How strongly weights are drawn to zero, in pairs."""
CLASSES = {"contradiction": 1, "supersession": 1, "duplicate": 2}


def found(pair: Pair) -> Conflict | None:
    """What is said of a pair when its second statement is proposed and the first one is a decision."""
    shelf = Text(id="DEC-001", type="decision", statement=pair.first, scope=pair.first_scope)
    proposal = Text(
        id="CAND-1", type="decision", statement=pair.second, scope=pair.second_scope, status="proposed"
    )
    return compare(proposal, shelf)


def figures(pairs: Sequence[Pair]) -> dict[str, dict[str, float]]:
    return table([(pair.expected, conflict.kind if (conflict := found(pair)) else "none") for pair in pairs])


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
            "flagged": _share(sum(got != "none" for got in of_kind), len(of_kind)),
            "pairs": len(of_kind),
        }
    return rows


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 1.0


def signals(pair: Pair) -> dict[str, float]:
    new, old = parse(pair.second), parse(pair.first)
    rules = by_structure(new, old)
    return measured(new, old, Evidence(new, old), rules.kind if rules else "")


def fit(pairs: Sequence[Pair]) -> tuple[dict[str, tuple[float, float]], tuple[float, float]]:
    """Weights of a multinomial logistic regression against `neither`, and their bias."""
    rows = [signals(pair) for pair in pairs]
    names = list(rows[0])
    values = np.array([[row[name] for name in names] for row in rows])
    wanted = np.eye(3)[[CLASSES.get(pair.expected, 0) for pair in pairs]]
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-6
    weights = _descended(np.c_[(values - mean) / spread, np.ones(len(pairs))], wanted)
    weights -= weights[:, :1]
    plain = weights[:-1] / spread[:, None]
    bias = weights[-1] - mean @ plain
    return (
        {
            name: (round(float(row[1]), 3), round(float(row[2]), 3))
            for name, row in zip(names, plain, strict=True)
        },
        (round(float(bias[1]), 3), round(float(bias[2]), 3)),
    )


def _descended(values: Floats, wanted: Floats) -> Floats:
    weights = np.zeros((values.shape[1], 3))
    speed = np.zeros_like(weights)
    for _ in range(4000):
        power = np.exp(values @ weights - (values @ weights).max(axis=1, keepdims=True))
        slope = values.T @ (power / power.sum(axis=1, keepdims=True) - wanted)
        slope[:-1] += HELD_BACK * weights[:-1]
        speed = 0.9 * speed + slope / len(values)
        weights -= 0.09 * speed
    return weights


def crossed() -> None:
    """What the weights give for a hand that they were not fitted to. Rules and words had seen it."""
    hands = {"first": FIRST_TUNED, "second": SECOND, "third": THIRD, "fourth": FOURTH}
    for left_out, pairs in hands.items():
        weights, bias = fit([pair for hand in hands if hand != left_out for pair in hands[hand]])
        fitted.WEIGHTS, fitted_before = weights, fitted.WEIGHTS
        chances.__globals__.update(WEIGHTS=weights, BIAS=bias)
        _print(f"{left_out}, fitted to the others", figures(pairs))
        fitted.WEIGHTS = fitted_before
        chances.__globals__.update(WEIGHTS=fitted.WEIGHTS, BIAS=fitted.BIAS)


def write(path: Path) -> None:
    weights, bias = fit(TUNED)
    lines = [
        '"""The weights of the verdict: for a contradiction, for a duplicate. Written by `python -m tests.bench.kinds --fit`."""\n',
        f"BIAS = {bias}",
        "WEIGHTS: dict[str, tuple[float, float]] = {",
        *(f'    "{name}": {row},' for name, row in weights.items()),
        "}",
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _print(name: str, rows: dict[str, dict[str, float]]) -> None:
    print(name)
    for kind, row in rows.items():
        print(f"  {kind:<14}", "  ".join(f"{key} {value:g}" for key, value in row.items()))


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
    parser.add_argument("--wrong", action="store_true", help="show the pairs for tuning that came out wrong")
    parser.add_argument("--fit", action="store_true", help="write fitted.py anew")
    parser.add_argument("--crossed", action="store_true", help="fit to two hands, measure on the third")
    parser.add_argument("--cost", action="store_true", help="microseconds of a comparison")
    arguments = parser.parse_args()
    if arguments.fit:
        write(Path(fitted.__file__))
        return 0
    if arguments.crossed:
        crossed()
        return 0
    if arguments.cost:
        print(f"{cost():.0f} µs")
        return 0
    rows = {name: figures(pairs) for name, pairs in SETS.items() if arguments.set in (name, "all")}
    for name, row in rows.items():
        _print(f"{name} ({len(SETS[name])} pairs)", row)
    if arguments.wrong:
        _print_wrong()
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
