"""How well near texts are found, on real decisions: `python -m tests.bench.conflicts --data ../shared/data`.

For each pair in which a record supersedes or amends another, all earlier records of its repository are ranked.
Earlier means a lower number in the same folder, else no later date; where neither can be told, any record.
`ap` is the average precision of the pair's score over these pairs against those that only look alike.
Before that, precision and recall of each kind on the short pairs that nobody who tunes has read; of all others:
`python -m tests.bench.kinds`. `--fit` also fits the weights anew and prints what they reach on repositories that were left out.
"""

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from agentplane.match import fusion, vectors, words
from agentplane.match.bm25 import Index
from agentplane.match.corpus import Corpus, Text
from agentplane.match.fuzzy import alike, prepared
from agentplane.match.vector_cache import Vectors
from tests.bench import kinds, near


Rows = dict[str, np.ndarray]
"""For each new record a score for each earlier one."""

BASELINES = ("token_set_ratio", "bm25", "embeddings", "rrf")


class Record(Text, frozen=True):
    """A title and the text below it. agentplane itself compares statements, which have no more than a title."""

    text: str = ""

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.text}"


class Task:
    """Records and pairs, and which records come before which."""

    def __init__(self, folder: Path) -> None:
        self.records = {record["id"]: record for record in _lines(folder / "adrs.jsonl")}
        self.pairs = _lines(folder / "pairs.jsonl")
        self.olds: dict[str, set[str]] = defaultdict(set)
        self.hits: dict[str, set[str]] = defaultdict(set)
        for pair in self.pairs:
            self.olds[pair["new"]].add(pair["old"])
            if is_hit(pair):
                self.hits[pair["new"]].add(pair["old"])
        self.texts = {key: _text(record) for key, record in self.records.items()}
        self.earlier = {new: self._earlier(new) for new in sorted(self.olds)}

    def place(self, pair: Mapping[str, Any]) -> int:
        return self.earlier[pair["new"]].index(pair["old"])

    def _earlier(self, new: str) -> list[str]:
        record, olds = self.records[new], self.olds[new]
        others = (other for other in self.records.values() if other["repo"] == record["repo"])
        return [o["id"] for o in others if o["id"] != new and (o["id"] in olds or _comes_before(o, record))]


def is_hit(pair: Mapping[str, Any]) -> bool:
    return pair["label"] != "none"


def figures(task: Task, rows: Rows, keep: Callable[[Mapping[str, Any]], bool] = bool) -> dict[str, float]:
    pairs = [pair for pair in task.pairs if keep(pair)]
    ranks = np.array([_rank(rows[pair["new"]], task.place(pair)) for pair in pairs if is_hit(pair)])
    scores = [float(rows[pair["new"]][task.place(pair)]) for pair in pairs]
    if not len(ranks):
        return {}
    found = {
        "recall@1": np.mean(ranks < 2),
        "recall@5": np.mean(ranks <= 5),
        "mrr": np.mean(1 / ranks),
        "ap": average_precision([is_hit(pair) for pair in pairs], scores),
    }
    return {name: round(float(value), 3) for name, value in found.items()}


def average_precision(hits: list[bool], scores: list[float]) -> float:
    """Pairs of the same score count as one step, so that their order gains nothing."""
    order = np.argsort(-np.array(scores), kind="stable")
    found, by = np.array(hits, dtype=float)[order], np.array(scores)[order]
    steps = np.append(by[1:] != by[:-1], True)
    hit, seen = np.cumsum(found)[steps], np.arange(1, len(by) + 1)[steps]
    return float((np.diff(hit, prepend=0) * hit / seen).sum() / found.sum())


def measured(task: Task) -> tuple[dict[str, dict[str, np.ndarray]], dict[str, Rows], float]:
    """The signals of each new record, the scores of the baselines, and the milliseconds for a candidate."""
    kept, signals, times = Vectors(), {}, []
    rows: dict[str, Rows] = {name: {} for name in BASELINES}
    for new, earlier in task.earlier.items():
        corpus, query = Corpus([task.texts[key] for key in earlier], kept), task.texts[new]
        signals[new] = {name: table[0] for name, table in near.signals(corpus, [query]).items()}
        titles = Index([words.counted(text.title) for text in corpus.texts])
        signals[new]["title"] = titles.cosine([words.counted(query.title)])[0]
        unseen = Record(query.title, f"{query.text}\n")  # its embedding is not kept yet
        begin = time.perf_counter()
        list(corpus.ranked_each([unseen], 10))
        times.append(time.perf_counter() - begin)
        for name, scores in _baselines(corpus, query, kept).items():
            rows[name][new] = scores
    return signals, rows, 1000 * float(np.mean(times))


def _baselines(corpus: Corpus, query: Text, kept: Vectors) -> dict[str, np.ndarray]:
    texts = corpus.texts
    found = {
        "token_set_ratio": alike(prepared([query.title]), prepared([text.title for text in texts]))[0],
        "bm25": Index([words.counted(text.whole) for text in texts]).bm25([words.counted(query.whole)])[0],
    }
    if vectors.available() is None:
        raw = kept.of([query.whole, *(text.whole for text in texts)])
        unit = raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-9)
        found["embeddings"] = unit[1:] @ unit[0]
    ranks = (np.argsort(np.argsort(-scores, kind="stable"), kind="stable") + 1 for scores in found.values())
    return {**found, "rrf": sum(1 / (60 + rank) for rank in ranks)}


def fused(signals: Mapping[str, np.ndarray], weights: fusion.Weights) -> np.ndarray:
    return sum(signals[name].astype(float) * weight for name, weight in weights.of.items()) + weights.bias


def fit(
    task: Task, signals: Mapping[str, Mapping[str, np.ndarray]], names: list[str], without: str = ""
) -> fusion.Weights:
    """Logistic regression of both tasks at once, weights not below 0, by Adam: the record among the earlier
    ones (each of several superseded by one counts less), and the pairs against those that look alike.
    """
    pairs = [pair for pair in task.pairs if pair["repo"] != without]
    tables = {new: np.stack([signals[new][name] for name in names], axis=1).astype(float) for new in signals}
    far = [_differences(task, tables[pair["new"]], pair) for pair in pairs if is_hit(pair)]
    counts = np.array([len(task.hits[pair["new"]]) ** -0.5 for pair in pairs if is_hit(pair)])
    segments, stacked = np.repeat(np.arange(len(far)), [len(d) for d in far]), np.concatenate(far)
    points = np.array([tables[pair["new"]][task.place(pair)] for pair in pairs])
    truth = np.array([is_hit(pair) for pair in pairs], dtype=float)
    share = np.where(truth > 0, 5.0, 1.0) / np.where(truth > 0, 5.0, 1.0).sum()
    wanted, first, second = np.append(np.full(len(names), 2.0), -3.0), 0.0, 0.0
    for step in range(1, 221):
        odds = np.exp(np.clip(stacked @ wanted[:-1], -50, 50))
        whole = 1 + np.bincount(segments, weights=odds, minlength=len(far))
        ranking = (odds * (counts / counts.sum())[segments] / whole[segments]) @ stacked
        error = (1 / (1 + np.exp(-(points @ wanted[:-1] + wanted[-1]))) - truth) * share
        slope = np.append(ranking + error @ points + 0.02 * wanted[:-1], error.sum())
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        move = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        wanted = wanted - (0.3 if step < 150 else 0.09) * move
        wanted[:-1] = np.maximum(wanted[:-1], 0)
    return fusion.Weights(
        {n: round(float(w), 1) for n, w in zip(names, wanted, strict=False)}, round(float(wanted[-1]), 1)
    )


def left_out(task: Task, signals: Mapping[str, Mapping[str, np.ndarray]], names: list[str]) -> Rows:
    """Each repository scored by weights that were fitted to the others."""
    rows = {}
    for repo in sorted({pair["repo"] for pair in task.pairs}):
        weights = fit(task, signals, names, without=repo)
        rows |= {new: fused(signals[new], weights) for new in signals if task.records[new]["repo"] == repo}
    return rows


def _differences(task: Task, table: np.ndarray, pair: Mapping[str, Any]) -> np.ndarray:
    earlier = task.earlier[pair["new"]]
    others = [i for i, key in enumerate(earlier) if key not in task.hits[pair["new"]]]
    return table[others] - table[task.place(pair)]


def _rank(scores: np.ndarray, place: int) -> float:
    """From 1; equals count half, rounded up."""
    own = scores[place]
    return 1 + float((scores > own).sum()) + np.ceil((int((scores == own).sum()) - 1) / 2)


def _comes_before(record: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if _folder(record) == _folder(new) and _number(record) is not None and _number(new) is not None:
        return _number(record) < _number(new)
    if record["date"] and new["date"]:
        return record["date"][:10] <= new["date"][:10]
    return True


def _folder(record: Mapping[str, Any]) -> str:
    return record["path"].rpartition("/")[0]


def _number(record: Mapping[str, Any]) -> int | None:
    number = record["number"] or ""
    return int(number) if number.isdecimal() else None


def _text(record: Mapping[str, Any]) -> Record:
    """A record without its heading, which is its title once more."""
    return Record(record["title"], re.sub(r"\A\s*#[^\n]*\n", "", record["text"]))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _line(name: str, found: Mapping[str, float]) -> None:
    print(f"{name:<28}", "  ".join(f"{key} {value:.3f}" for key, value in found.items()), flush=True)


def _human(pair: Mapping[str, Any]) -> bool:
    return bool(pair.get("human_team"))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.conflicts", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="a folder that holds adr/")
    parser.add_argument(
        "--fit", action="store_true", help="fit the weights anew, repositories left out in turn"
    )
    asked = parser.parse_args(arguments)
    if not (asked.data / "adr" / "adrs.jsonl").is_file():
        parser.error(
            f"no adr/adrs.jsonl in {asked.data}; name the folder: `make bench-conflicts DATA=folder`"
        )
    kinds_of_sets = kinds.blind()
    task = Task(asked.data / "adr")
    signals, baselines, ms = measured(task)
    weights = fusion.FULL if vectors.available() is None else fusion.PLAIN
    rows = {new: np.round(fused(found, weights), 6) for new, found in signals.items()}
    print(vectors.available() or "with embeddings")
    _line("score", own := figures(task, rows))
    _line("score, teams of people", human := figures(task, rows, _human))
    plain = {new: fused(found, fusion.PLAIN) for new, found in signals.items()}
    _line("score without embeddings", figures(task, plain))
    table = {}
    for name, scores in baselines.items():
        if scores:
            _line(name, found := figures(task, scores))
            _line(f"{name}, people", figures(task, scores, _human))
            table[name] = found
    result = {**own, "ms_per_candidate": round(ms, 2), "baselines": table, "human_team": human}
    result["kinds"] = kinds_of_sets
    if asked.fit:
        for chosen in (fusion.FULL, fusion.PLAIN):
            names = [name for name in chosen.of if name in next(iter(signals.values()))]
            _line(
                "repositories left out",
                crossed := figures(task, crossed_rows := left_out(task, signals, names)),
            )
            _line("  teams of people", figures(task, crossed_rows, _human))
            anew = fit(task, signals, names)
            print("  weights", dict(anew.of), "bias", anew.bias)
            result.setdefault("left_out", crossed)
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
