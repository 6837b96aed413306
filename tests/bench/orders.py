"""How well orders to the reader are found: `python -m tests.bench.orders --data ../shared/data`.

Attacks are in this repository: texts in twelve languages, and disguises of a few of them. One half is for tuning (`dev`),
the other one (`held`) is only measured: other families of attacks in other words, and other disguises. `later` was written
when the rules were done; each of its files says what was found in it before anything was tuned on it. Ordinary statements
are in this repository too, and are sampled from decision records and instruction files, which are read in place.
The last line is one JSON object. `--missed` prints what was not found in the half for tuning, and the false alarms.
"""

import argparse
import hashlib
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from agentplane.review.gate import gate
from tests.bench.orders_disguises import DEV, DEV_TEXTS, HELD, HELD_TEXTS


DATA = Path(__file__).parent / "orders_data"
AIMED = frozenset(("escape", "bidi", "smuggled", "hidden", "instruction", "markup", "command"))
SEED = 20261119
SAMPLE = 400
"""Statements of decision records, and as many lines of instruction files."""

NOT_ORDINARY = {
    line.split()[0] for line in (DATA / "not_ordinary.txt").read_text("utf-8").splitlines() if line[:1] != "#"
}
"""Hashes of lines in instruction files that are no ordinary statements; the file says why for each."""


class Attack(msgspec.Struct, frozen=True):
    half: str
    language: str
    form: str
    """The family, or the disguise."""
    text: str
    disguised: bool = False


def attacks() -> list[Attack]:
    found = []
    for head, text in _lines("attacks_en.txt"):
        family, half = head.split()
        found.append(Attack(half, "en", family, text))
    for half in ("dev", "held"):
        for head, text in _lines(f"attacks_{half}.txt"):
            found.append(Attack(half, head.split()[0], "plain", text))
    for name in ("attacks_fresh.txt", "attacks_second.txt", "attacks_third.txt", "attacks_fourth.txt"):
        found += [Attack("later", head.split()[0], "later", text) for head, text in _lines(name)]
    for name in ("attacks_fifth.txt", "attacks_sixth.txt", "attacks_seventh.txt"):
        for head, text in _lines(name):
            language, form = head.split()
            found.append(Attack("steady", language, form, text, disguised=form == "disguised"))
    for half, ways, texts in (("dev", DEV, DEV_TEXTS), ("held", HELD, HELD_TEXTS)):
        found += [
            Attack(half, "en", name, dress(text), disguised=True)
            for name, dress in ways.items()
            for text in texts
        ]
    return found


def own_ordinary() -> list[tuple[str, str]]:
    """Language and text."""
    return [
        *_lines("ordinary.txt"),
        *_lines("ordinary_second.txt"),
        *_lines("ordinary_third.txt"),
        *_lines("ordinary_fourth.txt"),
        *_lines("ordinary_fifth.txt"),
    ]


def _lines(name: str) -> Iterator[tuple[str, str]]:
    head = ""
    for line in (DATA / name).read_text("utf-8").splitlines():
        if line.startswith("== "):
            head = line[3:]
        elif line and not line.startswith("# "):
            yield head, line.replace("\\n", "\n")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sampled(data: Path, count: int = SAMPLE, seed: int = SEED) -> dict[str, list[str]]:
    """Statements from decision records and from instruction files."""
    picker = random.Random(seed)
    found = {}
    for name, pool in (("adr", _of_records(data)), ("instructions", _of_instructions(data))):
        unique = sorted(set(pool))
        found[name] = picker.sample(unique, min(count, len(unique)))
    return found


def _of_records(data: Path) -> Iterator[str]:
    for line in (data / "adr" / "adrs.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        yield record["title"].strip()
        body = re.sub(r"```.*?```", "", record["text"], flags=re.DOTALL)
        decision = re.search(
            r"^#+ *decision[^\n]*\n(.*?)(?=^#|\Z)", body, re.DOTALL | re.MULTILINE | re.IGNORECASE
        )
        if decision:
            for sentence in re.split(r"(?<=[.!?])\s+|\n+", decision[1]):
                if 20 <= len(sentence.strip()) <= 400:
                    yield sentence.strip()


def _of_instructions(data: Path) -> Iterator[str]:
    for path in sorted((data / "instructions").iterdir()):
        if path.name.startswith("_"):
            continue
        text = re.sub(r"```.*?```", "", path.read_text("utf-8", "replace"), flags=re.DOTALL)
        text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
        for line in text.splitlines():
            said = re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", line).strip()
            if 15 <= len(said) <= 400 and not said.startswith(("#", "|", "---", "```")):
                yield said


def noticed(text: str) -> list[str]:
    return [f"{flag.code}: {flag.what}" for flag in gate.suspicious(text) if flag.code in AIMED]


def shares(items: Iterable[tuple[str, bool]]) -> dict[str, float]:
    total: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for name, hit in items:
        total[name] += 1
        hits[name] += hit
    return {name: round(hits[name] / total[name], 3) for name in sorted(total)}


def found_of(wanted: list[Attack]) -> dict[Attack, bool]:
    return {attack: bool(noticed(attack.text)) for attack in wanted}


def measure(data: Path | None, seed: int = SEED, *, missed: bool = False) -> dict[str, object]:
    found = found_of(attacks())
    told: dict[str, object] = {"attacks": len(found)}
    for half in ("dev", "held", "later", "steady"):
        mine = {attack: hit for attack, hit in found.items() if attack.half == half}
        told[f"found_{half}"] = round(sum(mine.values()) / len(mine), 3)
    told["found"] = round(sum(found.values()) / len(found), 3)
    for half in ("dev", "held", "later", "steady"):
        mine = {attack: hit for attack, hit in found.items() if attack.half == half}
        told[f"by_language_{half}"] = shares((a.language, hit) for a, hit in mine.items() if not a.disguised)
        told[f"by_family_{half}"] = shares(
            (a.form, hit) for a, hit in mine.items() if a.language == "en" and not a.disguised
        )
        told[f"by_disguise_{half}"] = shares((a.form, hit) for a, hit in mine.items() if a.disguised)
    if missed:
        for attack, hit in found.items():
            if not hit and attack.half != "held":
                print(f"missed {attack.language} {attack.form}: {attack.text!r}")
    ordinary = {"own": [text for _, text in own_ordinary()]}
    if data is not None:
        ordinary |= {
            name: [text for text in texts if digest(text) not in NOT_ORDINARY]
            for name, texts in sampled(data, seed=seed).items()
        }
    alarms: dict[str, list[str]] = defaultdict(list)
    begin = time.perf_counter()
    for name, texts in ordinary.items():
        for text in texts:
            if what := noticed(text):
                alarms[name].append(text)
                if missed:
                    print(f"alarm {name} {digest(text)}: {text!r}\n      {what}")
    count = sum(map(len, ordinary.values()))
    told["micros_each"] = round((time.perf_counter() - begin) / count * 1e6, 1)
    told["ordinary"] = {name: len(texts) for name, texts in ordinary.items()}
    told["false_alarms"] = round(sum(map(len, alarms.values())) / count, 4)
    told["false_alarms_by_source"] = {
        name: round(len(alarms[name]) / len(texts), 4) for name, texts in ordinary.items()
    }
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="a folder with adr/ and instructions/"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--missed", action="store_true", help="print what was missed, and the false alarms")
    chosen = parser.parse_args()
    data = chosen.data if (chosen.data / "adr").is_dir() else None
    if data is None:
        print(
            f"{chosen.data}: no adr/ and instructions/ here; only the statements in this repository are measured"
        )
    print(json.dumps(measure(data, chosen.seed, missed=chosen.missed), ensure_ascii=False))


if __name__ == "__main__":
    main()
