"""Keys with values of every type are written, and keys are removed."""

import tomllib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.text.toml import edit


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("[t]\nk = false # why\n", True, "[t]\nk = true # why\n"),
        ("[t]\nk = 1_000 # why\n", 5, "[t]\nk = 5 # why\n"),
        ("t.k = 20.0\n", 2.5, "t.k = 2.5\n"),
        ('[t]\nk = ["a"] # why\nz = 1\n', ("b", "c"), '[t]\nk = ["b", "c"] # why\nz = 1\n'),
        ('[t]\nk = ["a"]\n', [], "[t]\nk = []\n"),
        ("", ["a"], '[t]\nk = ["a"]\n'),
        ("t = {k = true}\n", False, "t = {k = false}\n"),
        ("[t]\nk = true\n", True, "[t]\nk = true\n"),
        ("", "für “dich”", '[t]\nk = "für “dich”"\n'),
    ],
)
def test_a_value_of_any_type_is_written_in_its_place(
    before: str, value: bool | float | str | Sequence[str], after: str
) -> None:
    assert edit.put(before, "t", "k", value) == after


def test_a_value_with_a_comment_in_it_is_not_overwritten() -> None:
    with pytest.raises(edit.NoPlace, match="comment"):
        edit.put('[t]\nk = [\n  "a", # mine\n]\n', "t", "k", ("b",))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[t]\nk = 1\nz = 2\n", "[t]\nz = 2\n"),
        ("[t] # t\n# about k\nk = 'a'   # why\nz = 2\n", "[t] # t\n# about k\n# why\nz = 2\n"),
        ("[t]\r\nk = 1 # why\r\nz = 2\r\n", "[t]\r\n# why\r\nz = 2\r\n"),
        ("[t]\nk = 1", "[t]\n"),
        ("t.k = 1\nt.z = 2\n", "t.z = 2\n"),
        ("t.k = 1\n", ""),
        ('[t]\nk = [\n  "a",\n]\nz = 1\n', "[t]\nz = 1\n"),
        ('[a]\nx = """\nk = 1\n"""\n[t]\nk = 1\n', '[a]\nx = """\nk = 1\n"""\n[t]\n'),
        ("[a]\nk = 1\n[t]\nk = 1\n[b]\nk = 1\n", "[a]\nk = 1\n[t]\n[b]\nk = 1\n"),
        ("[t]\nz = 1\n", "[t]\nz = 1\n"),
        ("", ""),
    ],
)
def test_a_key_is_removed_and_its_comment_stays(before: str, after: str) -> None:
    assert edit.drop(before, "t", "k") == after


@pytest.mark.parametrize("text", ["t = {k = 1}\n", "t = 7\n", '[t]\nk = [ # mine\n"a"]\n', "[[t]]\nk = 1\n"])
def test_a_key_in_another_form_is_not_removed(text: str) -> None:
    with pytest.raises(edit.NoPlace):
        edit.drop(text, "t", "k")


_LINES = st.sampled_from(
    ["", "# k = 1", "k = 1", "  k=1 # why", "'k' = 1", "z = 2", "[t]", "[u]", "t.k = 1", 'x = "k = 1"']
)


@given(st.lists(_LINES, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_only_the_key_is_removed(lines: list[str], newline: str) -> None:
    text = newline.join(lines)
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    try:
        made = edit.drop(text, "t", "k")
    except edit.NoPlace:
        return
    after = tomllib.loads(made)
    before.setdefault("t", {}).pop("k", None)
    assert {"t": {}, **after} == before
    kept = [line for line in text.splitlines() if "k" not in line.partition("#")[0] or '"' in line]
    rest = iter(made.splitlines())
    assert all(any(line == other for other in rest) for line in kept)
    assert made.count("#") == text.count("#")
