"""`python -m tests.bench.kinds`: precision and recall of conflict detection for each kind, for both halves."""

import argparse
import json
import sys
from collections.abc import Sequence

from agentplane.review.conflicts import Conflict, Text, compare
from tests.review.pairs import HELD_OUT, TUNED, Pair


def found(pair: Pair) -> Conflict | None:
    """What is said of a pair when its second statement is proposed and the first one is a decision."""
    shelf = Text(id="DEC-001", type="decision", statement=pair.first, scope=pair.first_scope)
    proposal = Text(
        id="CAND-1", type="decision", statement=pair.second, scope=pair.second_scope, status="proposed"
    )
    return compare(proposal, shelf)


def figures(pairs: Sequence[Pair]) -> dict[str, dict[str, float]]:
    said = [(pair.expected, conflict.kind if (conflict := found(pair)) else "none") for pair in pairs]
    table: dict[str, dict[str, float]] = {}
    for kind in ("contradiction", "duplicate", "supersession"):
        hits = sum(expected == kind and got == kind for expected, got in said)
        table[kind] = {
            "precision": _share(hits, sum(got == kind for _, got in said)),
            "recall": _share(hits, sum(expected == kind for expected, _ in said)),
            "pairs": sum(expected == kind for expected, _ in said),
        }
    for kind in ("compatible", "unrelated"):
        of_kind = [got for expected, got in said if expected == kind]
        table[kind] = {
            "flagged": _share(sum(got != "none" for got in of_kind), len(of_kind)),
            "pairs": len(of_kind),
        }
    return table


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 1.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.kinds")
    parser.add_argument("--half", choices=["tuned", "held_out", "both"], default="both")
    parser.add_argument(
        "--wrong", action="store_true", help="show the pairs of the tuned half that came out wrong"
    )
    arguments = parser.parse_args()
    halves = {"tuned": TUNED, "held_out": HELD_OUT}
    chosen = {name: half for name, half in halves.items() if arguments.half in (name, "both")}
    table = {name: figures(half) for name, half in chosen.items()}
    for name, rows in table.items():
        print(f"{name} ({len(chosen[name])} pairs)")
        for kind, row in rows.items():
            print(f"  {kind:<14}", "  ".join(f"{key} {value:g}" for key, value in row.items()))
    if arguments.wrong:
        for pair in TUNED:
            conflict = found(pair)
            got = conflict.kind if conflict else "none"
            if got != pair.expected and not (got == "none" and pair.expected in ("compatible", "unrelated")):
                print(
                    f"{pair.expected} -> {got}: {pair.first} | {pair.second} {conflict.reasons if conflict else ''}"
                )
    print(json.dumps(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
