"""The managed block: nothing else of a file changes, and taking it out leaves the file as it was."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.tools.memory_file import block


lines = st.lists(
    st.sampled_from(
        [
            "# Title",
            "",
            "text",
            "\ttab ",
            "<!-- x -->",
            "é漢",
            "```",
            "<!-- agentplane:end",
            "<<<<<<< HEAD",
            "=======",
            ">>>>>>> other",
        ]
    )
)
files = st.builds(
    lambda rows, ending, last: (ending.join(rows) + last).encode(),
    lines,
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.sampled_from(["", "\n", "\r\n", "\n\n\n"]),
)
anything = st.one_of(files, st.binary(max_size=300))
texts = st.text(max_size=200).filter(lambda text: "agentplane:" not in text and "\r" not in text)


@given(anything, texts, texts)
def test_taking_it_out_leaves_the_file_as_it_was(data: bytes, first: str, second: str) -> None:
    once = block.put(data, first, "r1")
    twice = block.put(once, second, "r2")
    assert block.without(once) == data
    assert block.without(twice) == data


@given(anything, texts)
def test_all_else_stays_byte_for_byte(data: bytes, text: str) -> None:
    made = block.put(data, text, "abc")
    found = block.find(made)
    assert found is not None
    assert made.startswith(data)
    assert not found.is_edited(made)
    assert block.put(made, text, "abc") == made


@given(files, texts, texts)
def test_what_was_written_below_it_since_stays(data: bytes, text: str, later: str) -> None:
    made = block.put(data, text, "abc") + later.encode(errors="replace")
    again = block.put(made, "other", "def")
    assert again.endswith(later.encode(errors="replace"))
    assert block.without(again) == data + later.encode(errors="replace")


def test_a_file_that_was_made_for_it_goes_with_it() -> None:
    made = block.put(None, "text", "abc")
    assert block.without(made) is None
    assert block.without(made + b"notes of a person\n") == b"notes of a person\n"
    assert block.without(block.put(b"", "text", "abc")) == b""


def test_an_edit_inside_is_noticed_and_line_ends_are_none() -> None:
    made = block.put(b"# Rules\n", "one\ntwo", "abc")
    found = block.find(made)
    assert found is not None
    edited = made.replace(b"two", b"three")
    assert block.find(edited).is_edited(edited)  # type: ignore[union-attr]
    windows = made.replace(b"\n", b"\r\n")
    assert not block.find(windows).is_edited(windows)  # type: ignore[union-attr]


@pytest.mark.parametrize("lost", [b"begin", b"end"])
def test_half_a_block_is_nobodys(lost: bytes) -> None:
    made = block.put(b"# Rules\n", "one", "abc")
    torn = b"".join(line for line in made.splitlines(keepends=True) if b"agentplane:" + lost not in line)
    assert block.find(torn) is None
    assert block.is_torn(torn)
    assert not block.is_torn(made)


def merged(folder: Path, base: bytes, ours: bytes, theirs: bytes, *words: str) -> bytes:
    """As git leaves a file in conflict."""
    for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(data)
    done = subprocess.run(
        ["git", "merge-file", "-p", *words, "ours", "base", "theirs"], cwd=folder, capture_output=True
    )
    assert b"<<<<<<< " in done.stdout
    return done.stdout


RULES = b"# Rules\n\n- Be kind.\n\nThis stands\nin the middle.\n"


@pytest.mark.parametrize("style", [(), ("--diff3",), ("--zdiff3",)])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_what_git_could_not_merge_inside_is_nobodys(
    tmp_path: Path, style: tuple[str, ...], ending: bytes
) -> None:
    rules = RULES.replace(b"\n", ending)
    base = block.put(rules, "same\n\nold\n\nlast\n", "r0")
    ours = block.put(base, "same\n\none\n\nlast\n\nmore\n", "r1")
    theirs = block.put(base, "same\n\ntwo\n\nlast\n", "r2")
    both = merged(tmp_path, base, ours, theirs, *style)
    settled = block.settled(both)
    assert b"<<<<<<< " not in settled
    assert {*ours.splitlines(), b"two"} >= set(settled.splitlines()) >= {b"one", b"two", b"more"}
    assert not block.is_in_conflict(both)
    assert block.put(both, "new", "r3") == block.put(ours, "new", "r3")
    assert block.without(both) == rules


def test_a_conflict_in_the_text_of_others_stays(tmp_path: Path) -> None:
    base = block.put(RULES, "old", "r0")
    ours = block.put(base, "one", "r1").replace(b"kind", b"good")
    theirs = block.put(base, "two", "r2").replace(b"kind", b"nice")
    both = merged(tmp_path, base, ours, theirs)
    rest = block.without(both)
    assert rest is not None
    assert rest.count(b"<<<<<<< ") == rest.count(b">>>>>>> ") == 1
    assert b"- Be good.\n=======\n- Be nice.\n" in rest
    assert b"agentplane" not in rest


def test_a_conflict_that_only_a_person_can_settle_is_left(tmp_path: Path) -> None:
    base = block.put(RULES, "old", "r0")
    ours = block.put(base.replace(b"middle", b"end"), "one", "r1")
    both = merged(tmp_path, base, ours, block.put(base.replace(b"middle", b"end of it"), "two", "r2"))
    assert block.settled(both) == both
    assert block.is_in_conflict(both)


def test_a_lone_carriage_return_at_the_end_stays() -> None:
    assert block.without(block.put(b"x\r", "one", "abc")) == b"x\r"


def test_it_ends_its_lines_as_the_file_does() -> None:
    made = block.put(b"a\r\nb\r\n", "one\ntwo", "abc")
    assert made.count(b"\n") == made.count(b"\r\n")
