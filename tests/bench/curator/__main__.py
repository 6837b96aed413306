"""`make bench-curator`: how often the curator names the right state of evidence. The last line is a JSON object."""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable

from tests.bench.curator import harmless, histories, mutations, traps, truth
from tests.bench.curator.draw import SEED


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.curator")
    parser.add_argument(
        "--only", action="append", choices=list(PARTS), help="only this part; can be given several times"
    )
    parser.add_argument("--package", action="append", default=[], help="only the history of this package")
    parser.add_argument("--seed", type=int, default=SEED, help="of the anchors that are drawn")
    parser.add_argument(
        "--list", action="store_true", help="list the cases with their claims, and run nothing"
    )
    arguments = parser.parse_args()
    if arguments.list:
        print_cases()
        return 0
    start = time.monotonic()
    parts = {}
    for part in arguments.only or PARTS:
        begun = time.monotonic()
        print(f"{part}: {PARTS[part].__doc__}", flush=True)
        parts[part] = {**PARTS[part](arguments), "seconds": round(time.monotonic() - begun, 1)}
        print(f"  {json.dumps(parts[part])}", flush=True)
    print(json.dumps({**totals(parts), "seconds": round(time.monotonic() - start, 1), "parts": parts}))
    return 0 if all(holds(name, part) for name, part in parts.items()) else 1


def totals(parts: dict[str, dict]) -> dict:
    findings: Counter[str] = Counter()
    for part in parts.values():
        findings.update({kind: part["states"].get(state, 0) for kind, state in mutations.FOUND.items()})
    whole = {
        name: sum(part[name] for part in parts.values())
        for name in ("right", "wrong", "missed_changes", "false_alarms")
    }
    return {
        "findings": dict(findings),
        **whole,
        "agreement": share(whole["right"], whole["right"] + whole["wrong"]),
    }


def holds(name: str, part: dict) -> bool:
    """True if a part reaches its goal."""
    if part["missed_changes"]:
        return False
    if name == "histories":
        return part["agreement"] >= 0.97
    return part["false_alarms"] * 18 <= part.get("still_true", 0)


def print_cases() -> None:
    for case in mutations.cases("symbol"):
        label = "broken" if case.is_broken else "still true"
        print(
            f"{case.language}, {case.kind}: {label}\n  claim: {case.target.claim}\n  evidence: {case.evidence}"
        )
    for trap in traps.TRAPS:
        print(f"{trap.title}: broken\n  evidence: {trap.evidence}")


def of_histories(arguments: argparse.Namespace) -> dict:
    """Anchors of real packages, at a later release"""
    found: list[histories.Result] = []
    for history, drawn, results in histories.results(frozenset(arguments.package), arguments.seed):
        wrong = [result for result in results if not result.is_right]
        left_out = sum(drawn.left_out.values())
        print(
            f"{history.package:<22} {len(results):>4} anchors, {len(wrong):>3} wrong, {left_out:>3} left out",
            flush=True,
        )
        found += results
    print_disagreements(found)
    print_differences(found)
    return figures(found)


def of_side_by_side(_: argparse.Namespace) -> dict:
    """The 28 cases that other programs were measured with"""
    return of_cases(mutations.side_by_side(), through_plane=True)


def of_symbols(_: argparse.Namespace) -> dict:
    """Fourteen kinds of change in five languages, with symbols as evidence"""
    return of_cases(mutations.cases("symbol"))


def of_lines(_: argparse.Namespace) -> dict:
    """The same, with lines as evidence"""
    return of_cases(mutations.cases("lines"))


def of_cases(cases: Iterable[mutations.Case], *, through_plane: bool = False) -> dict:
    found = [mutations.judged(case, through_plane=through_plane) for case in cases]
    for result in found:
        if result.is_missed or result.is_false_alarm:
            mark = "MISSED" if result.is_missed else "false alarm"
            print(
                f"{mark}: {result.case.title}\n  state: {result.state} {result.now}, committed: {result.case.is_committed}"
            )
        if result.differs:
            print(f"differs in curate: {result.case.title}\n  state: {result.state}, found: {result.found}")
    still_true = sum(not result.case.is_broken for result in found)
    wrong = sum(result.is_missed or result.is_false_alarm for result in found)
    return {
        "cases": len(found),
        "still_true": still_true,
        "broken": len(found) - still_true,
        "states": dict(Counter(result.state for result in found)),
        "right": len(found) - wrong,
        "wrong": wrong,
        "agreement": share(len(found) - wrong, len(found)),
        "missed_changes": sum(result.is_missed for result in found),
        "false_alarms": sum(result.is_false_alarm for result in found),
        "cant_tell": sum(result.state == "cant-tell" for result in found),
        "differ_in_curate": sum(result.differs for result in found),
    }


def of_traps(_: argparse.Namespace) -> dict:
    """Changes that are easy to overlook"""
    states: Counter[str] = Counter()
    for trap in traps.TRAPS:
        before = {**trap.beside, trap.path: trap.before}
        after = {**trap.beside, **trap.made, **({} if trap.after is None else {trap.path: trap.after})}
        for is_committed in (True, False):
            state = mutations.state_after(trap.evidence, before, [after], is_committed=is_committed)
            states[state.kind] += 1
            if state.kind in truth.SAME:
                print(
                    f"MISSED: {trap.title}: {trap.evidence}\n  state: {state.kind} {state.now}, committed: {is_committed}"
                )
    found = sum(states[kind] for kind in mutations.ALARMS)
    return {
        "cases": states.total(),
        "states": dict(states),
        "right": found,
        "wrong": states.total() - found,
        "agreement": share(found, states.total()),
        "missed_changes": sum(states[kind] for kind in truth.SAME),
        "false_alarms": 0,
        "cant_tell": states["cant-tell"],
    }


def of_harmless(_: argparse.Namespace) -> dict:
    """Changes that look large and leave the evidence true"""
    states: Counter[str] = Counter()
    for case in harmless.CASES:
        state = harmless.state_of(case)
        states[state.kind] += 1
        if state.kind not in truth.SAME:
            mark = "can't tell" if state.kind == "cant-tell" else "false alarm"
            print(f"{mark}: {case.title}: {case.evidence}\n  state: {state.kind} {state.now}")
    right = sum(states[kind] for kind in (*truth.SAME, "cant-tell"))
    return {
        "cases": states.total(),
        "still_true": states.total(),
        "states": dict(states),
        "right": right,
        "wrong": states.total() - right,
        "agreement": share(right, states.total()),
        "missed_changes": 0,
        "false_alarms": states["changed"] + states["gone"],
        "cant_tell": states["cant-tell"],
    }


def print_disagreements(found: list[histories.Result]) -> None:
    for result in sorted((one for one in found if not one.is_right), key=lambda one: not one.is_missed):
        case = result.case
        mark = (
            "MISSED"
            if result.is_missed
            else "false alarm"
            if result.is_false_alarm
            else "misplaced"
            if result.is_misplaced
            else "other"
        )
        print(
            f"{mark}: {case.package} {result.versions[0]} → {result.versions[1]} {case.anchor.evidence}\n"
            f"  state: {result.state} {result.now}\n"
            f"  right: {' or '.join(sorted(case.truth.accepted))} ({case.truth.reason}) {' '.join(sorted(case.truth.places))}"
        )


def print_differences(found: list[histories.Result]) -> None:
    for result in found:
        if result.differs:
            case = result.case
            print(
                f"differs in bulk: {case.package} {result.versions[0]} → {result.versions[1]} {case.anchor.evidence}\n"
                f"  alone: {result.state}, with others: {result.together}, from Git: {result.from_git}"
            )


def figures(found: list[histories.Result]) -> dict:
    right = sum(result.is_right for result in found)
    plain = [result for result in found if not result.case.is_rare]
    return {
        "anchors": len(found),
        "kinds": dict(Counter(result.case.anchor.kind for result in found)),
        "states": dict(Counter(result.state for result in found)),
        "right": right,
        "wrong": len(found) - right,
        "agreement": share(right, len(found)),
        "agreement_drawn": share(sum(result.is_right for result in plain), len(plain)),
        "missed_changes": sum(result.is_missed for result in found),
        "unchanged_but_changed": sum(
            result.is_missed and result.state in (truth.UNCHANGED, truth.REFORMATTED) for result in found
        ),
        "false_alarms": sum(result.is_false_alarm for result in found),
        "cant_tell": sum(result.state == "cant-tell" for result in found),
        "differ_in_bulk": sum(result.differs for result in found),
    }


def share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


PARTS = {
    "side_by_side": of_side_by_side,
    "symbols": of_symbols,
    "lines": of_lines,
    "traps": of_traps,
    "harmless": of_harmless,
    "histories": of_histories,
}


if __name__ == "__main__":
    sys.exit(main())
