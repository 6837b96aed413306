"""Evidence that names lines: they are followed when lines above them come and go."""

from pathlib import Path

import pytest

from agentplane.curate.anchors.states import Changed, Gone, Moved
from tests.curate.anchors.repo import Repo


TEXT = "".join(f"step {number}: do thing number {number}\n" for number in range(1, 21))
PATH = "docs/steps.txt"
EACH_WAY = pytest.mark.parametrize("records", [True, False])


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path)
    repo.write(PATH, TEXT)
    repo.commit("first")
    return repo


def lines(first: int, last: int) -> str:
    return "".join(TEXT.splitlines(keepends=True)[first - 1 : last])


CASES = {
    "nothing": (TEXT, "unchanged", f"{PATH}:5-7"),
    "lines above": ("new\nnew\n" + TEXT, "moved", f"{PATH}:7-9"),
    "lines below": (TEXT + "new\n", "unchanged", f"{PATH}:5-7"),
    "lines above removed": (lines(3, 20), "moved", f"{PATH}:3-5"),
    "a line changed": (TEXT.replace("thing number 6", "nothing"), "changed", f"{PATH}:5-7"),
    "all lines changed": (TEXT.replace(lines(5, 7), "a\nb\n"), "changed", f"{PATH}:5-6"),
    "a line inserted": (TEXT.replace("step 6", "new\nstep 6"), "changed", f"{PATH}:5-8"),
    "a line removed": (TEXT.replace(lines(6, 6), ""), "changed", f"{PATH}:5-6"),
    "the first line removed": (TEXT.replace(lines(5, 5), ""), "changed", f"{PATH}:5-6"),
    "lines removed": (TEXT.replace(lines(5, 7), ""), "gone", ""),
    "lines at another place": (lines(1, 4) + lines(8, 20) + lines(5, 7), "moved", f"{PATH}:18-20"),
    "lines above and a change": ("new\n" + TEXT.replace("thing number 6", "nothing"), "changed", f"{PATH}:6-8"),
    "white space": (TEXT.replace("number 6\n", "number 6  \n"), "reformatted", f"{PATH}:5-7"),
    "line ends": (TEXT.replace("\n", "\r\n"), "reformatted", f"{PATH}:5-7"),
    "an empty file": ("", "gone", ""),
}  # fmt: skip


@EACH_WAY
@pytest.mark.parametrize("case", CASES)
def test_lines_are_followed(repo: Repo, case: str, records: bool) -> None:
    evidence = f"{PATH}:5-7"
    observed = repo.observed(evidence) if records else repo.approved_before()
    text, kind, now = CASES[case]
    repo.write(PATH, text)
    assert repo.state(observed, evidence).kind == kind
    last = repo.commit("change")
    state = repo.state(observed, evidence)
    assert (state.kind, state.now) == (kind, now)
    if isinstance(state, Changed | Gone):
        assert state.change.commit == last


@EACH_WAY
def test_lines_follow_their_file(repo: Repo, records: bool) -> None:
    observed = repo.observed(f"{PATH}:5-7") if records else repo.approved_before()
    repo.move(PATH, "steps.txt")
    repo.write("steps.txt", "new\n" + TEXT)
    repo.commit("move")
    state = repo.state(observed, f"{PATH}:5-7")
    assert isinstance(state, Moved)
    assert state.now == "steps.txt:6-8"


def test_an_equal_line_at_the_same_place_is_another_line(repo: Repo) -> None:
    """A closing bracket is at the old place by chance, so the bracket that was meant is followed."""
    repo.write("a.txt", "a {\n  one\n}\nb {\n  two\n}\n")
    repo.commit()
    observed = repo.observed("a.txt:3")
    repo.write("a.txt", "n {\n}\n}\na {\n  one\n}\nb {\n  two\n}\n")
    repo.commit()
    state = repo.state(observed)
    assert (state.kind, state.now) == ("moved", "a.txt:6")


def test_lines_without_git_are_found_only_if_they_are_distinct(tmp_path: Path) -> None:
    repo = Repo(tmp_path, is_git=False)
    repo.write(PATH, TEXT)
    repo.write("short.txt", "a\nb\nc\nd\n")
    long, short = (repo.observed(text) for text in (f"{PATH}:5-7", "short.txt:2"))
    assert [repo.state(one).kind for one in (long, short)] == ["unchanged", "unchanged"]
    repo.write(PATH, "new\n" + TEXT)
    repo.write("short.txt", "a\nx\nc\nb\n")
    assert [(repo.state(one).kind, repo.state(one).now) for one in (long, short)] == [
        ("moved", f"{PATH}:6-8"),
        ("cant-tell", "short.txt:2"),
    ]


@pytest.mark.parametrize("evidence", [f"{PATH}:0", f"{PATH}:99", f"{PATH}:5-999999999"])
def test_lines_that_were_never_there_are_not_gone(repo: Repo, evidence: str) -> None:
    observed = repo.observed(evidence)
    repo.write("other.txt", "x\n")
    assert repo.state(observed).kind in ("unbound", "unchanged")


@pytest.mark.parametrize("others", ["def a():\n", ""])
def test_a_copy_isnt_taken_for_lines_that_are_gone(repo: Repo, others: str) -> None:
    copied = '    if row is None:\n        raise LookupError("no such row in the table")\n'
    rest = f"    return 1\n\n\ndef b():\n{copied}    return 2\n"
    repo.write("a.py", f"def a():\n{copied}{rest}")
    repo.commit()
    observed = repo.observed("a.py:2-3")
    repo.write("a.py", f"{others}{rest if others else rest[rest.index('def b') :]}")
    repo.commit()
    assert repo.state(observed).kind in ("gone", "changed")
