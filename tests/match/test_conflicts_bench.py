"""The bench of conflicts runs on records that were made up: figures of the right shape, not how good."""

import json
from pathlib import Path

import pytest

from tests.bench.conflicts import BASELINES, Task, average_precision, main
from tests.review.pairs import BLIND


SUBJECTS = ["queue", "cache", "parser", "login", "search", "backup", "mailer", "theme"]


def made(folder: Path) -> None:
    records, pairs = [], []
    for repo in ("a/one", "b/two"):
        for number, subject in enumerate(SUBJECTS + SUBJECTS[:3], 1):
            record = {
                "id": f"{repo}:{number}",
                "repo": repo,
                "path": f"adr/{number:04}-{subject}.md",
                "date": None,
            }
            record |= {"number": f"{number:04}", "title": f"Choose the {subject} of version {number}"}
            records.append(record | {"text": f"# Choose\n\nThe {subject} of {repo} needs a choice.\n"})
        for number in range(1, 4):
            ids = {"new": f"{repo}:{number + 8}", "repo": repo, "cites": True, "human_team": repo == "a/one"}
            pairs += [ids | {"old": f"{repo}:{number}", "label": "supersedes"}]
            pairs += [ids | {"old": f"{repo}:{number + 3}", "label": "none"}]
    (folder / "adr").mkdir()
    for name, rows in (("adrs", records), ("pairs", pairs)):
        (folder / "adr" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_it_prints_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path)
    assert main(["--data", str(tmp_path), "--fit"]) == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {"recall@1", "recall@5", "mrr", "ap", "ms_per_candidate"} <= figures.keys()
    assert figures["recall@1"] == figures["ap"] == 1
    assert {"token_set_ratio", "bm25", "rrf"} <= figures["baselines"].keys() <= set(BASELINES)
    assert figures["human_team"]["recall@5"] == 1
    assert figures["kinds"].keys() == set(BLIND)
    assert all(0 < row["contradiction"]["recall"] <= 1 for row in figures["kinds"].values())


def test_where_there_is_no_data_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(tmp_path)])
    assert f"no adr/adrs.jsonl in {tmp_path}" in capsys.readouterr().err


def test_only_earlier_records_are_ranked(tmp_path: Path) -> None:
    made(tmp_path)
    task = Task(tmp_path / "adr")
    assert task.earlier["a/one:9"] == [f"a/one:{number}" for number in range(1, 9)]


def test_pairs_of_one_score_gain_nothing_by_their_order() -> None:
    assert average_precision([True, False], [0.5, 0.5]) == average_precision([False, True], [0.5, 0.5]) == 0.5
    assert average_precision([True, False, True], [0.9, 0.8, 0.7]) == pytest.approx((1 + 2 / 3) / 2)
