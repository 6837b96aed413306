"""How many secrets are found, and how many false alarms there are: `python -m tests.bench.secrets --data ../shared/data`.

In candidates, found means that the gate refuses it as a secret; in outputs, that no piece of it stays after masking.
A false alarm is a look-alike that is refused or masked. The last line is one JSON object; `held_out` are the
templates and kinds that nobody looked at while the rules were written.
"""

import argparse
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from agentplane.memory.proposing import Proposal
from agentplane.review.gate import gate
from agentplane.scan.secrets import mask
from tests.bench import secrets_made, secrets_near
from tests.bench.secrets_made import Made


_LOOK: dict[str, gate.Action] = {
    code: "refuse" if code == "secret" else "flag" if code == "random" else "off" for code in gate.DEFAULTS
}
_CONTEXT = gate.Context(today=date(2026, 11, 18), actions=_LOOK)
_STEERING = re.compile(r"\x1b\[[0-9;]*m")
_PIECE = 8


def refused(fields: dict[str, Any]) -> bool:
    verdict = gate.check(Proposal(type="decision", **fields), _CONTEXT)
    return any(flag.code == "secret" for flag in verdict.refused)


def flagged(fields: dict[str, Any]) -> bool:
    return bool(gate.check(Proposal(type="decision", **fields), _CONTEXT).flags)


def stays(text: str, values: Sequence[str]) -> bool:
    """Whether a piece of a secret is left in what was masked."""
    clean, notes = mask.masked(text.encode(errors="surrogatepass"))
    left = _STEERING.sub("", clean.decode(errors="replace"))
    if not values:
        return not notes
    return any(
        value[at : at + _PIECE] in left
        for value in values
        for at in range(max(1, len(value) - _PIECE + 1))
        if value
    )


def is_masked(text: str) -> bool:
    return bool(mask.masked(text.encode(errors="surrogatepass"))[1])


def of_secrets(cases: Sequence[Made], seed: int = 13) -> dict[str, list[tuple[Made, bool, str]]]:
    """For each side each case, whether it was found, and the text in which it stood."""
    r = random.Random(seed)
    rows: dict[str, list[tuple[Made, bool, str]]] = {"candidates": [], "outputs": []}
    for one in cases:
        fields, text = secrets_made.candidate(one, r), secrets_made.printed(one, r)
        rows["candidates"].append((one, refused(fields), repr(fields)))
        rows["outputs"].append((one, not stays(text, one.values), text))
    return rows


def of_near(lines: Sequence[str], seed: int = 13) -> dict[str, list[tuple[str, bool]]]:
    """For each side each look-alike, and whether it gave a false alarm."""
    r = random.Random(seed)
    rows: dict[str, list[tuple[str, bool]]] = {"candidates": [], "outputs": []}
    for line in lines:
        rows["candidates"].append((line, refused(secrets_near.candidate(line, r))))
        rows["outputs"].append((line, is_masked(secrets_near.printed(line, r))))
    return rows


def share(found: Sequence[bool]) -> float:
    return round(sum(found) / max(1, len(found)), 4)


def figures(cases: Sequence[Made], lines: Sequence[str]) -> dict[str, Any]:
    found, alarms = of_secrets(cases), of_near(lines)
    by_kind: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for side, rows in found.items():
        for one, hit, _ in rows:
            by_kind[one.kind][side].append(hit)
    return {
        "secrets": len(cases),
        "kinds": len(by_kind),
        "look_alikes": len(lines),
        "found": {side: share([hit for _, hit, _ in rows]) for side, rows in found.items()},
        "held_out": {side: share([hit for one, hit, _ in rows if one.held]) for side, rows in found.items()},
        "false_alarms": {side: share([hit for _, hit in rows]) for side, rows in alarms.items()},
        "by_kind": {
            kind: {side: share(hits) for side, hits in sides.items()} for kind, sides in by_kind.items()
        },
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.secrets", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="a folder that holds instructions/"
    )
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--missed", action="store_true", help="show what was missed of what is not held out")
    asked = parser.parse_args(arguments)
    cases = secrets_made.made(asked.seed)
    lines = secrets_near.own(asked.seed)
    real = secrets_near.real(asked.data) if (asked.data / "instructions").is_dir() else []
    if not real:
        print(f"no instructions/ in {asked.data}: only our own look-alikes are counted", file=sys.stderr)
    if asked.missed:
        for side, rows in of_secrets(cases).items():
            for one, hit, text in rows:
                if not hit and not one.held:
                    print(side, one.kind, repr(text), repr(one.values), sep=" | ")
        for side, near in of_near(lines).items():
            for line, hit in near:
                if hit:
                    print(side, "FALSE", line, sep=" | ")
    result = figures(cases, [*lines, *real])
    result["look_alikes_of_real_projects"] = len(real)
    for kind, sides in result["by_kind"].items():
        print(f"{kind:<28}", "  ".join(f"{side} {value:.2f}" for side, value in sides.items()))
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
