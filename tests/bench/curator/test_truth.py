"""The truth of the curator bench, on small trees: it has to be right where agentplane might be wrong."""

from pathlib import Path

import pytest

from tests.bench.curator import mutations
from tests.bench.curator.releases import Release
from tests.bench.curator.trees import Tree
from tests.bench.curator.truth import Anchor, LeftOut, Truth, truth_of


CODE = '''\
import os


def size(path, follow=True):
    """Return the size of a file."""
    if not follow:
        return os.lstat(path).st_size  # the link itself
    return os.stat(path).st_size


LIMIT = {"files": 4000, "bytes": 1 << 20}
'''
SIZE = Anchor("a.py", "size")
LINES = Anchor("a.py", first=4, last=8)


def truth(folder: Path, anchor: Anchor, before: str, after: dict[str, str]) -> Truth | LeftOut:
    trees = []
    for version, files in (("1", {"a.py": before}), ("2", after)):
        for path, text in files.items():
            (folder / version / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / version / path).write_text(text)
        (folder / version).mkdir(exist_ok=True)
        trees.append(Tree(Release("package", version, folder / version, ""), {}))
    return truth_of(anchor, *trees)


@pytest.mark.parametrize(
    ("anchor", "after", "accepted"),
    [
        (SIZE, {"a.py": CODE}, "unchanged"),
        (SIZE, {"a.py": "import sys\n" + CODE}, "unchanged"),
        (SIZE, {"a.py": CODE.replace("the link itself", "no target")}, "reformatted"),
        (
            SIZE,
            {"a.py": CODE.replace("(path, follow=True)", "(\n    path,\n    follow=True,\n)")},
            "reformatted",
        ),
        (SIZE, {"a.py": CODE.replace("Return the size", "Return the bytes")}, "changed reformatted"),
        (SIZE, {"a.py": CODE.replace("follow=True", "follow=False")}, "changed"),
        (SIZE, {"b/c.py": CODE, "a.py": "LIMIT = 3\n"}, "moved"),
        (SIZE, {"a.py": CODE.replace("def size", "def bytes_of")}, "changed gone moved"),
        (SIZE, {"a.py": "LIMIT = 3\n"}, "gone"),
        (SIZE, {}, "gone"),
        (LINES, {"a.py": CODE}, "unchanged"),
        (LINES, {"a.py": "import sys\n" + CODE}, "moved unchanged"),
        (LINES, {"a.py": CODE.replace("if not follow", "if follow")}, "changed"),
        (
            LINES,
            {"a.py": CODE.replace("    return os.stat", "        return os.stat")},
            "changed moved reformatted",
        ),
        (LINES, {"b.py": CODE}, "moved"),
        (LINES, {}, "gone"),
        (Anchor("a.py"), {"a.py": CODE.replace("  # the link itself", "")}, "reformatted"),
        (Anchor("a.py"), {"a.py": CODE.replace("4000", "5000")}, "changed"),
        (Anchor("a.py"), {"b.py": CODE}, "moved"),
    ],
)
def test_the_states_that_are_right(
    anchor: Anchor, after: dict[str, str], accepted: str, tmp_path: Path
) -> None:
    found = truth(tmp_path, anchor, CODE, after or {"other.txt": "none\n"})
    assert isinstance(found, Truth)
    assert " ".join(sorted(found.accepted)) == accepted


@pytest.mark.parametrize(
    ("anchor", "before", "reason"),
    [
        (SIZE, CODE + CODE, "defined more than once"),
        (Anchor("a.py", first=10, last=10), CODE, "too few characters"),
        (LINES, CODE + CODE, "more than once in the earlier release"),
    ],
)
def test_what_is_left_out(anchor: Anchor, before: str, reason: str, tmp_path: Path) -> None:
    assert truth(tmp_path, anchor, before, {"a.py": CODE}) == LeftOut(reason)


def test_a_place_is_known_where_code_moved(tmp_path: Path) -> None:
    found = truth(tmp_path, LINES, CODE, {"a.py": "\n\n" + CODE})
    assert isinstance(found, Truth)
    assert found.places == {"a.py:6-10"}


@pytest.mark.parametrize("form", ["symbol", "lines"])
def test_every_kind_of_change_is_made_in_every_language(form: mutations.Form) -> None:
    cases = list(mutations.cases(form))
    assert len(cases) == 5 * 3 * 14
    assert all(case.steps[-1] != case.before or case.kind == "reverted" for case in cases)
    assert len(mutations.side_by_side()) == 28
    assert sum(case.is_broken for case in mutations.side_by_side()) == 10
