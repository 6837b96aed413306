"""Merging two versions of a file with a managed block: both sides' entries, and git's own merge around it."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

from agentplane.plane.git import merge_file
from agentplane.plane.git.merge_file import Marks
from agentplane.tools.memory_file import block, block_merge
from agentplane.tools.memory_file.block_merge import Merged, Sides, by_git, merge


HEAD = "# Project memory, revision {}\n\nPeople approved these.\n"


def content(revision: str, **sections: list[str]) -> str:
    parts = [HEAD.format(revision)]
    for name, items in sections.items():
        parts.append(f"\n## {name.capitalize()}\n\n" + "".join(f"- {item}\n" for item in items))
    return "".join(parts)


def file(before: str, revision: str, after: str = "", **sections: list[str]) -> bytes:
    return block.put(before.encode(), content(revision, **sections), revision) + after.encode()


ONE, TWO, THREE = "DEC-001 [2026-01-01]: One.", "DEC-002 [2026-01-02]: Two.", "DEC-002 [2026-01-03]: Three."
BASE = file("# Mine\n", "aaa", decisions=[ONE])


def said(data: bytes) -> list[str]:
    found = block.find(data)
    assert found
    return [line for line in found.content(data).decode().splitlines() if line.startswith("- ")]


def test_both_sides_entries_are_kept() -> None:
    ours, theirs = (
        file("# Mine\n", rev, decisions=[new, ONE]) for rev, new in (("bbb", TWO), ("ccc", THREE))
    )
    made = merge(Sides(BASE, ours, theirs))
    assert made.conflicts == 0
    assert said(made.data) == [f"- {THREE}", f"- {TWO}", f"- {ONE}"]
    assert b"revision merged" in made.data
    found = block.find(made.data)
    assert found
    assert found.revision == block_merge.REVISION
    assert not found.is_edited(made.data)
    assert block.without(made.data) == b"# Mine\n"


def test_what_one_side_took_out_of_force_goes_and_what_it_changed_is_changed() -> None:
    base = file("", "aaa", decisions=[TWO, ONE], facts=["FACT-001: A."])
    ours = file("", "bbb", decisions=[TWO], facts=["FACT-001: A."])
    theirs = file("", "ccc", decisions=[TWO, ONE], facts=["FACT-001: B."])
    assert said(merge(Sides(base, ours, theirs)).data) == [f"- {TWO}", "- FACT-001: B."]


def test_one_side_that_changed_nothing_leaves_the_bytes_of_the_other() -> None:
    theirs = file("# Mine\n", "ccc", decisions=[THREE, ONE])
    assert merge(Sides(BASE, BASE, theirs)).data == theirs
    assert merge(Sides(BASE, theirs, BASE)).data == theirs


def test_both_sides_added_the_block() -> None:
    base = b"# Mine\n\nRules.\n"
    ours, theirs = (
        block.put(base, content(revision, decisions=[item]), revision)
        for revision, item in (("bbb", TWO), ("ccc", ONE))
    )
    made = merge(Sides(base, ours, theirs))
    assert (made.conflicts, said(made.data)) == (0, [f"- {TWO}", f"- {ONE}"])
    assert block.without(made.data) == base


def test_an_entry_with_more_lines_stays_whole() -> None:
    long = f"{TWO}\n  Rationale: because.\n  And more."
    ours = file("# Mine\n", "bbb", decisions=[long, ONE])
    theirs = file("# Mine\n", "ccc", decisions=[THREE, ONE])
    made = merge(Sides(BASE, ours, theirs)).data
    assert f"- {long}\n- {ONE}\n".encode() in made


def test_a_later_date_of_the_same_entry_wins() -> None:
    ours = file("# Mine\n", "bbb", decisions=[ONE.replace("01]", "05]")])
    theirs = file("# Mine\n", "ccc", decisions=[ONE.replace("01]", "07]")])
    assert said(merge(Sides(BASE, ours, theirs)).data) == ["- DEC-001 [2026-01-07]: One."]


def test_a_line_that_somebody_wrote_into_a_block_still_shows_as_an_edit() -> None:
    ours = file("# Mine\n", "bbb", decisions=[TWO, ONE]).replace(b"- DEC-001", b"- Use tabs.\n- DEC-001")
    theirs = file("# Mine\n", "ccc", decisions=[THREE, ONE])
    for sides in (Sides(BASE, ours, theirs), Sides(BASE, theirs, ours)):
        made = merge(sides).data
        found = block.find(made)
        assert found
        assert found.is_edited(made)
        assert "- Use tabs." in said(made)


def test_a_conflict_around_the_block_is_gits() -> None:
    ours = file("# Ours\n", "bbb", decisions=[TWO, ONE])
    theirs = file("# Theirs\n", "ccc", decisions=[THREE, ONE])
    made = merge(Sides(BASE, ours, theirs), Marks(9, ("HEAD", "base", "side")))
    assert made.conflicts == 1
    assert made.data.startswith(
        b"<<<<<<<<< HEAD\n# Ours\n=========\n# Theirs\n>>>>>>>>> side\n\n<!-- agentplane:begin"
    )
    assert said(made.data) == [f"- {THREE}", f"- {TWO}", f"- {ONE}"]


def test_the_style_of_conflicts_is_the_persons() -> None:
    ours, theirs = file("# Ours\n", "bbb", decisions=[ONE]), file("# Theirs\n", "ccc", decisions=[ONE])
    made = merge(Sides(BASE, ours, theirs), Marks(style="diff3"))
    assert b"||||||| base\n# Mine\n" in made.data


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (b"# Mine\n- mine\n", file("# Mine\n", "ccc", decisions=[TWO]).replace(b"Two", b"Too")),
        (BASE + BASE, b"# Mine\n- theirs\n"),
        (file("# Mine\n", "bbb", decisions=[TWO]), b"\x00binary"),
        (b"one\n", b"two\n"),
        (file("# Mine\n", "bbb", decisions=[TWO]).replace(b"<!-- agentplane:end -->", b""), BASE),
        (BASE + BASE, file("# Mine\n", "bbb", decisions=[TWO])),
        (file("# Mine\n", "b", decisions=["x\n<<<<<<< HEAD"]), file("# Mine\n", "c", decisions=[TWO])),
        (b"\x00binary", file("# Mine\n", "bbb", decisions=[TWO])),
        (BASE + b"x" * (5 << 20), file("# Mine\n", "bbb", decisions=[TWO])),
    ],
)
def test_without_a_whole_block_on_both_sides_git_merges_alone(ours: bytes, theirs: bytes) -> None:
    sides = Sides(BASE, ours, theirs)
    assert merge(sides) == by_git(sides, Marks())


@pytest.mark.parametrize("turned", [False, True])
def test_a_block_that_one_side_took_out_goes(turned: bool) -> None:
    kept, gone = file("# Mine\n- mine\n", "bbb", decisions=[TWO]), b"# Mine\n"
    sides = Sides(BASE, gone, kept) if turned else Sides(BASE, kept, gone)
    assert merge(sides) == Merged(b"# Mine\n- mine\n")


def test_where_a_block_went_the_text_around_it_is_still_in_conflict() -> None:
    made = merge(Sides(BASE, file("# Ours\n", "bbb", decisions=[TWO]), b"# Theirs\n"))
    assert made == Merged(b"<<<<<<< ours\n# Ours\n=======\n# Theirs\n>>>>>>> theirs\n", 1)


def test_bytes_that_are_no_utf8_stay() -> None:
    base = BASE.replace(b"# Mine", b"# \xff")
    ours = file("# Mine\n", "bbb", decisions=[TWO, ONE]).replace(b"# Mine", b"# \xff")
    theirs = file("# Mine\n", "ccc", decisions=["DEC-009: \udcfe"[:-1] + "x", ONE]).replace(
        b"# Mine", b"# \xff\xfe"
    )
    made = merge(Sides(base, ours, theirs))
    assert made.data.startswith(b"# \xff\xfe\n")
    assert len(said(made.data)) == 3


def test_windows_line_ends_stay() -> None:
    base, ours, theirs = (
        block.put(b"# Mine\r\n", content(revision, decisions=items), revision)
        for revision, items in (("aaa", [ONE]), ("bbb", [TWO, ONE]), ("ccc", [THREE, ONE]))
    )
    made = merge(Sides(base, ours, theirs)).data
    assert made.count(b"\n") == made.count(b"\r\n")
    assert len(said(made)) == 3


WORDS = [f"word{number}" for number in range(8)]


def drawn(
    dice: random.Random, base: tuple[list[str], list[str], list[str]]
) -> tuple[list[str], list[str], list[str]]:
    """A version of a file: the lines before the block, its entries, and the lines behind it."""
    before, items, after = (list(part) for part in base)
    for lines in (before, after):
        for _ in range(dice.randrange(3)):
            place = dice.randrange(len(lines) + 1)
            lines[place : place + dice.randrange(2)] = [dice.choice(WORDS)]
    for _ in range(dice.randrange(4)):
        items.insert(dice.randrange(len(items) + 1), f"DEC-{dice.randrange(90):03}: {dice.choice(WORDS)}")
    if items and dice.random() < 0.3:
        items.pop(dice.randrange(len(items)))
    return before, list(dict.fromkeys(items)), after


def rendered(parts: tuple[list[str], list[str], list[str]], revision: str) -> bytes:
    before, items, after = parts
    return file(
        "".join(f"{line}\n" for line in before),
        revision,
        "".join(f"{line}\n" for line in after),
        decisions=items,
    )


def outside(data: bytes, mark: bytes = b"here\n" * 6) -> bytes:
    found = block.find(data)
    assert found
    return data[: found.start] + mark + data[found.end :]


@pytest.mark.parametrize("seed", range(60))
def test_any_two_versions(seed: int, tmp_path: Path) -> None:
    """The sides changed about give the same block, both sides' entries are in it, and the rest is as git merges it."""
    dice = random.Random(seed)
    start = (["one", "two", "three"], ["DEC-100: a", "DEC-101: b"], ["four", "five"])
    versions = [start, drawn(dice, start), drawn(dice, start)]
    base, ours, theirs = (rendered(parts, f"r{number}") for number, parts in enumerate(versions))
    made, back = merge(Sides(base, ours, theirs)), merge(Sides(base, theirs, ours))
    inside = [data.data[found.start : found.end] for data in (made, back) if (found := block.find(data.data))]
    assert inside[0] == inside[1]
    was, one, other = (set(parts[1]) for parts in versions)
    expected = (one & other) | ((one | other) - was)
    assert sorted(said(made.data)) == sorted(f"- {item}" for item in expected)
    for name, data in zip(("base", "ours", "theirs"), (base, ours, theirs), strict=True):
        (tmp_path / name).write_bytes(outside(data))
    found = merge_file.merge(tmp_path, union=False, marks=Marks())
    assert found is not None
    assert (outside(made.data), made.conflicts) == found


def test_the_order_of_what_both_have_stays() -> None:
    many = [f"DEC-{number:03}: x" for number in range(20)]
    base = file("", "aaa", decisions=many)
    ours = file("", "bbb", decisions=[*many[:5], "DEC-900: new", *many[5:]])
    theirs = file("", "ccc", decisions=["DEC-901: new", *many[1:]])
    got = [line for line in said(merge(Sides(base, ours, theirs)).data) if "x" in line]
    assert all(one < other for one, other in pairwise(got))
    assert len(got) == 19
