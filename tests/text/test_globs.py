"""Globs of scopes, matched with the files of a project."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.text import globs


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("src", "src/a.py"),
        ("src/", "src/a.py"),
        ("src/**", "src/deep/a.py"),
        ("src/*", "src/deep/a.py"),
        ("**/*.py", "a.py"),
        ("**/*.py", "src/deep/a.py"),
        ("**", "a"),
        ("", "a"),
        ("./src/*.py", "src/a.py"),
        ("*/Makefile", "src/Makefile"),
        ("src/test_*.py", "src/test_a.py"),
        ("src/[id]/*.tsx", "src/[id]/page.tsx"),
        ("src/{a,b}/x", "src/a/x"),
        ("src/**/a.py", "src/a.py"),
        ("**/api/**", "src/api/x"),
        ("x" * 300, "y"),
    ],
)
def test_a_match(glob: str, path: str) -> None:
    assert globs.matches(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("src", "srcs/a.py"),
        ("src/**", "lib/src/a.py"),
        ("**/*.rs", "LICENSE"),
        ("**/*.rs", ".gitignore"),
        ("**/*.rs", "src/[id]/page.tsx"),
        ("*.py", "src/a.py"),
        ("src/*.py", "src/a.pyc"),
        ("aa*aa", "aaa"),
        ("src/a/b", "src/a"),
        ("**/api/**/x", "src/api"),
        ("*/Makefile", "Makefile"),
    ],
)
def test_no_match(glob: str, path: str) -> None:
    assert not globs.matches(glob, path)


NAMES = st.sampled_from(("a", "b", "ab", "a.py"))
PARTS = st.sampled_from(("a", "b", "*", "**", "a*", "*.py"))


@given(st.lists(PARTS, min_size=1, max_size=5), st.lists(NAMES, min_size=1, max_size=5))
def test_the_same_as_a_regular_expression(glob: list[str], path: list[str]) -> None:
    wanted = "".join(
        "(?:[^/]+/)*" if part == "**" else re.escape(part).replace(r"\*", "[^/]*") + "/" for part in glob
    )
    assert globs.matches("/".join(glob), "/".join(path)) == bool(
        re.fullmatch(f"{wanted}.*", "/".join(path) + "/")
    )


def test_a_hostile_glob_takes_no_time() -> None:
    start = time.perf_counter()
    globs.matches("/".join(["**"] * 60), "/".join(["a"] * 2000))
    globs.matches("*a" * 90, "a" * 4000)
    assert time.perf_counter() - start < 1
