"""How often a decision is blocked when it is proposed: `python -m tests.bench.blocking --data ../shared/data`.

Whole repositories of architecture decision records, in their order: each record is proposed as a decision beside those that
were proposed before it, which are approved by then. What it says is its title and the first sentence of its text; with
`--titles`, its title alone. A pair is explained by a label where one of its records supersedes or amends the other.

`blocked_unlabelled_rate` is the part of the records that are blocked by a record that no label explains. `labelled_found_rate` is
the part of the labelled pairs that are among the first three things that `show` lists beside the later record; `labelled_told` counts
those that the inbox names as well. Half of the
repositories, by a hash of their names, are to fit rules and bars with; the other half is reported by itself. `--grow` measures
the same for proposals beside 100, 1,000 and 10,000 unrelated sentences.
"""

import argparse
import hashlib
import json
import re
import sys
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agentplane.plane.layout import Layout
from agentplane.review.conflicts.conflicts import Conflict, Text, find
from agentplane.review.conflicts.embeddings import VectorCache
from agentplane.review.conflicts.shortlist import Neighbours


FIRST = 3
"""So many of the things beside a candidate are looked at by a person who reads on."""
SIZES = (100, 1_000, 10_000)
PROPOSALS = 40
"""So many are made beside each number of unrelated sentences."""
_LONGEST = 300
"""Characters of a first sentence."""
_META = re.compile(r"^\s*(?:[*_-]*\s*[A-Z][\w ]{0,24}[*_]*\s*:|\d{4}-\d\d-\d\d|<!--|[|>`]|!\[|---|={3,}|:\w)")
_LISTED = re.compile(r"^\s*(?:[*+-]|\d+[.)])\s")
_HEADING = re.compile(r"^\s*(?:#+|=+)\s")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"(])")


class Record(msgspec.Struct, frozen=True):
    id: str
    repo: str
    title: str
    statement: str


class Proposed(msgspec.Struct, frozen=True):
    """One record when it was proposed, and what was found beside it: records by their ids, the gravest first."""

    record: Record
    found: tuple[Conflict, ...]


class Labels:
    """Which pairs of records have to do with each other, whichever of the two is the later one."""

    def __init__(self, pairs: Sequence[Mapping[str, Any]]) -> None:
        self.pairs = [(pair["new"], pair["old"]) for pair in pairs if pair["label"] != "none"]
        self._both = {frozenset(pair) for pair in self.pairs}

    def explain(self, one: str, other: str) -> bool:
        return frozenset((one, other)) in self._both


def first_sentence(text: str) -> str:
    """Of the first paragraph that is prose."""
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line for line in paragraph.splitlines() if line.strip()]
        while lines and _HEADING.match(lines[0]):
            lines.pop(0)
        said = " ".join(line.strip() for line in lines)
        if not lines or _META.match(lines[0]) or _LISTED.match(lines[0]) or len(said.split()) < 4:
            continue
        said = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", said)
        return _SENTENCE.split(said)[0][:_LONGEST].strip()
    return ""


def records(folder: Path, *, titles: bool = False, every: bool = False) -> dict[str, list[Record]]:
    """By repository, in the order in which they were written. `every`: also repositories without a labelled pair."""
    labelled = {pair["repo"] for pair in _lines(folder / "pairs.jsonl") if pair["label"] != "none"}
    of_repo: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in _lines(folder / "adrs.jsonl"):
        if every or row["repo"] in labelled:
            of_repo[row["repo"]].append(row)
    found = {}
    for repo in sorted(of_repo):
        rows = of_repo[repo]
        numbered = len({_folder(row) for row in rows}) == 1 and all(_number(row) is not None for row in rows)
        rows.sort(key=(lambda row: (_number(row), row["path"])) if numbered else _by_date)
        found[repo] = [Record(row["id"], repo, row["title"], _statement(row, titles)) for row in rows]
    return found


def _statement(row: Mapping[str, Any], titles: bool) -> str:
    title = row["title"].strip()
    first = "" if titles else first_sentence(row["text"])
    ended = title if title.endswith((".", "!", "?")) else f"{title}."
    return f"{ended} {first}" if first else title


def _by_date(row: Mapping[str, Any]) -> tuple[str, int, str]:
    return (row["date"] or "")[:10], _number(row) or 0, row["path"]


def _folder(row: Mapping[str, Any]) -> str:
    return str(row["path"]).rpartition("/")[0]


def _number(row: Mapping[str, Any]) -> int | None:
    number = row["number"] or ""
    return int(number) if number.isdecimal() else None


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def to_fit(repo: str) -> bool:
    """Whether rules may be fitted with this repository; the others are held out."""
    return zlib.crc32(repo.encode()) % 2 == 0


def proposed(found: Sequence[Record], kept: VectorCache) -> Iterator[Proposed]:
    """Each record beside those before it, by the functions that a real proposal goes through."""
    shelf: list[Text] = []
    known: dict[str, str] = {}
    for number, record in enumerate(found, 1):
        text = Text(id=f"DEC-{number:03}", type="decision", statement=record.statement)
        candidate = msgspec.structs.replace(text, id="CAND-1", status="proposed")
        (near,) = Neighbours(shelf, kept, None).of_each([candidate])
        met = [msgspec.structs.replace(one, id=known[one.id]) for one in find(candidate, near)]
        yield Proposed(record, tuple(met))
        known[text.id] = record.id
        shelf.append(text)


def _told(conflict: Conflict) -> bool:
    """Whether a person is told without asking."""
    return conflict.weight != "quiet"


def _rank(shown: Sequence[str], wanted: str) -> int | None:
    return shown.index(wanted) if wanted in shown else None


def figures(rows: Sequence[Proposed], labels: Labels) -> dict[str, Any]:
    """What a person meets who approves one record after the other."""
    ids = {row.record.id for row in rows}
    place = {row.record.id: at for at, row in enumerate(rows)}
    by_id = {row.record.id: row for row in rows}
    wanted = [pair for pair in labels.pairs if ids.issuperset(pair)]
    ranks, told = [], []
    for pair in wanted:
        later, earlier = sorted(pair, key=place.__getitem__, reverse=True)
        found = by_id[later].found
        ranks.append(_rank([one.id for one in found], earlier))
        told.append(_rank([one.id for one in found if _told(one)], earlier))
    blocking = [(row, one) for row in rows for one in row.found if one.blocks]
    unlabelled = {row.record.id for row, one in blocking if not labels.explain(row.record.id, one.id)}
    shown = [rank for rank in ranks if rank is not None and rank < FIRST]
    return {
        "records": len(rows),
        "blocked": len({row.record.id for row, _ in blocking}),
        "blocked_unlabelled": len(unlabelled),
        "blocked_unlabelled_rate": _share(len(unlabelled), len(rows)),
        "labelled": len(wanted),
        "labelled_found": len(shown),
        "labelled_found_rate": _share(len(shown), len(wanted)),
        "labelled_told": sum(rank is not None for rank in told),
        "records_with_advice": sum(any(map(_told, row.found)) for row in rows),
        "advice_rate": _share(sum(any(map(_told, row.found)) for row in rows), len(rows)),
        "records_with_neighbours": sum(any(not _told(one) for one in row.found) for row in rows),
        "kinds": dict(sorted(Counter(one.kind for row in rows for one in row.found).items())),
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def measured(folder: Path, kept: VectorCache, *, titles: bool, every: bool) -> list[Proposed]:
    return [
        row
        for of_repo in records(folder, titles=titles, every=every).values()
        for row in proposed(of_repo, kept)
    ]


def table(rows: Sequence[Proposed], labels: Labels) -> dict[str, Any]:
    """All repositories, the halves, and each one. A pair lies within one repository."""
    of_repo: dict[str, list[Proposed]] = defaultdict(list)
    for row in rows:
        of_repo[row.record.repo].append(row)
    halves = {
        "fitted": [row for row in rows if to_fit(row.record.repo)],
        "held_out": [row for row in rows if not to_fit(row.record.repo)],
    }
    return {
        **figures(rows, labels),
        **{name: figures(half, labels) for name, half in halves.items()},
        "by_repository": {repo: figures(some, labels) for repo, some in of_repo.items()},
    }


def sentences(data: Path) -> list[str]:
    """Unrelated sentences, in a fixed order: of decision records and of instruction files."""
    texts = [row["text"] for row in _lines(data / "adr" / "adrs.jsonl")]
    for file in sorted((data / "instructions").rglob("*.*")):
        if file.suffix in (".md", ".mdc", ".txt"):
            texts.append(file.read_text("utf-8", "replace"))
    found: dict[str, None] = {}
    for text in texts:
        for line in text.splitlines():
            for said in _SENTENCE.split(line.strip().lstrip("*-+ ")):
                if 6 <= len(said.split()) <= 40 and not _META.match(said) and not _HEADING.match(said):
                    found.setdefault(said)
    return sorted(found, key=lambda said: hashlib.sha256(said.encode()).digest())


def grown(data: Path, kept: VectorCache) -> dict[str, dict[str, float]]:
    """Proposals beside so many unrelated sentences; the proposals are sentences too, the same at each size."""
    said = sentences(data)
    wanted = said[:PROPOSALS]
    rows = {}
    for size in SIZES:
        shelf = [
            Text(id=f"DEC-{number}", type="decision", statement=one)
            for number, one in enumerate(said[PROPOSALS : PROPOSALS + size], 1)
        ]
        candidates = [
            Text(id=f"CAND-{number}", type="decision", statement=one, status="proposed")
            for number, one in enumerate(wanted, 1)
        ]
        near = Neighbours(shelf, kept, None).of_each(candidates)
        found = [find(candidate, others) for candidate, others in zip(candidates, near, strict=True)]
        rows[str(size)] = {
            "entries": len(shelf),
            "proposals": len(wanted),
            "blocked": sum(any(one.blocks for one in met) for met in found),
            "with_advice": sum(any(map(_told, met)) for met in found),
        }
    return rows


def _print(name: str, row: Mapping[str, Any]) -> None:
    print(
        f"{name:<52} {row['records']:>5} records  blocked {row['blocked']:>3}, without a label"
        f" {row['blocked_unlabelled_rate']:.1%}  with advice {row['advice_rate']:.1%}"
        f"  labelled pairs found {row['labelled_found']} of {row['labelled']}",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.blocking", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="a folder that holds adr/")
    parser.add_argument("--titles", action="store_true", help="titles alone are proposed")
    parser.add_argument("--every", action="store_true", help="also repositories without a labelled pair")
    parser.add_argument("--grow", action="store_true", help="beside 100, 1,000 and 10,000 sentences")
    parser.add_argument(
        "--show", metavar="fitted", choices=["fitted"], help="print what is found in that half"
    )
    asked = parser.parse_args(arguments)
    folder = asked.data / "adr" if (asked.data / "adr").is_dir() else asked.data
    if not (folder / "adrs.jsonl").is_file():
        parser.error(f"no adrs.jsonl in {folder}; name the folder: `make bench-blocking DATA=folder`")
    labels = Labels(_lines(folder / "pairs.jsonl"))
    with tempfile.TemporaryDirectory() as place:
        kept = VectorCache(Layout(Path(place)), None)
        if asked.grow:
            print(json.dumps(grown(folder.parent, kept)))
            return 0
        rows = measured(folder, kept, titles=asked.titles, every=asked.every)
        found = table(rows, labels)
        for repo, row in found["by_repository"].items():
            _print(f"{repo} ({'fitted' if to_fit(repo) else 'held out'})", row)
        for name in ("fitted", "held_out"):
            _print(name.replace("_", " "), found[name])
        _print("all", found)
        if asked.show:
            _show([row for row in rows if to_fit(row.record.repo)], labels)
        other = measured(folder, kept, titles=not asked.titles, every=asked.every)
        name = "titles" if not asked.titles else "with_first_sentence"
        found[name] = {key: row for key, row in table(other, labels).items() if key != "by_repository"}
        _print(name.replace("_", " "), found[name])
    print(json.dumps(found))
    return 0


def _show(rows: Sequence[Proposed], labels: Labels) -> None:
    said = {row.record.id: row.record.statement for row in rows}
    for row in rows:
        for one in row.found[:FIRST]:
            mark = "LABELLED" if labels.explain(row.record.id, one.id) else "-"
            print(f"{mark} {'blocks' if one.blocks else one.weight} {one.kind} {one.score}: {one.reasons}")
            print(f"    {row.record.statement}\n    {said[one.id]}")


if __name__ == "__main__":
    sys.exit(main())
