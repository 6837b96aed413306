"""Two versions of one memory file become one, entry by entry."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agentplane.plane.git import merge_entries
from agentplane.text.markdown import document


PROSE = b"# Decisions\n\nWhat was decided.\n"


def entry(id_: str, text: str = "", status: str = "accepted") -> bytes:
    return f"---\nid: {id_}\ntype: decision\nstatus: {status}\n---\nDecision: {text or id_}.\n".encode()


def page(*entries: bytes, prose: bytes = PROSE) -> bytes:
    return b"\n".join([prose, *entries])


def merged(base: bytes, ours: bytes, theirs: bytes, path: str = "memory/decisions.md") -> bytes:
    """Both ways, which is the same; asserts that git need not stop."""
    found = merge_entries.merge(base, ours, theirs, path)
    assert found == merge_entries.merge(base, theirs, ours, path)
    assert found.clean
    return found.data


A, B, C, D = (entry(id_) for id_ in ("DEC-001", "DEC-002", "DEC-003", "DEC-004"))


def test_what_both_added_is_kept() -> None:
    assert merged(page(A), page(A, C), page(A, D)) == page(A, C, D)
    assert merged(page(A), page(A, C), page(B, A)) == page(B, A, C)
    assert merged(page(), page(C), page(D)) == page(C, D)
    assert merged(b"", page(C), page(D)) == page(C, D)


def test_what_one_took_out_is_gone_unless_the_other_changed_it() -> None:
    assert merged(page(A, B, C), page(A, C), page(A, B, C, D)) == page(A, C, D)
    changed = entry("DEC-002", "changed")
    assert merged(page(A, B, C), page(A, C), page(A, changed, C)) == page(A, changed, C)
    assert merged(page(A, B), page(A), page(B)) == PROSE + b"\n"


def test_what_one_changed_is_taken() -> None:
    one, other = entry("DEC-001", "one"), entry("DEC-002", "other")
    assert merged(page(A, B, C), page(one, B, C), page(A, other, C)) == page(one, other, C)


def test_what_both_changed_stands_there_twice() -> None:
    one, other = entry("DEC-001", "one"), entry("DEC-001", "other", "deprecated")
    data = merged(page(A, B), page(one, B), page(other, B))
    read = document.parse(data)
    assert [block.id for block in read.blocks] == ["DEC-001", "DEC-002"]
    assert one in data
    assert other in data
    assert ["already used by the entry" in trouble.what for trouble in read.troubles] == [True]
    assert merged(page(A, B), data, data) == data


def test_the_same_id_given_on_both_sides_stands_there_twice() -> None:
    one, other = entry("DEC-002", "one"), entry("DEC-002", "other")
    data = merged(page(A), page(A, one), page(A, other))
    assert data == page(A, one, other)


def test_an_entry_that_was_moved() -> None:
    assert merged(page(A, B, C), page(B, A, C), page(A, B, C, D)) == page(B, A, C, D)


def test_line_ends_and_a_missing_newline_stay() -> None:
    crlf = page(A, B).replace(b"\n", b"\r\n")
    changed = crlf.replace(b"DEC-001.\r\n", b"one.\r\n")
    added = crlf + b"\r\n" + C.replace(b"\n", b"\r\n")
    assert merged(crlf, changed, added) == added.replace(b"DEC-001.\r\n", b"one.\r\n")
    bare = page(A, B).rstrip(b"\n")
    one, other = bare.replace(b"DEC-001.", b"one."), bare.replace(b"DEC-002.", b"other.")
    assert merged(bare, one, other) == one.replace(b"DEC-002.", b"other.")
    assert merged(bare, one, bare + b"\n\n" + C) == one + b"\n\n" + C


def test_entries_put_behind_a_file_without_a_last_newline() -> None:
    bare = page(A).rstrip(b"\n")
    data = merged(bare, bare + b"\n\n" + C.rstrip(b"\n"), bare + b"\n\n" + D.rstrip(b"\n"))
    assert data == page(A, C, D).rstrip(b"\n")


def test_prose_is_merged_by_lines_and_loses_none() -> None:
    one = page(A, prose=b"# Ours\n\nWhat was decided.\n")
    other = page(A, B, prose=b"# Decisions\n\nWhat was decided.\n\nA note.\n")
    assert merged(page(A), one, other) == page(A, B, prose=b"# Ours\n\nWhat was decided.\n\nA note.\n")
    both = merged(page(A), one, page(A, prose=b"# Theirs\n\nWhat was decided.\n"))
    assert b"# Ours\n# Theirs\n" in both


def test_broken_frontmatter_is_never_lost() -> None:
    broken = b"---\nid: DEC-009\ntags: [a\n---\nDecision: broken.\n"
    mended = entry("DEC-009", "mended")
    assert merged(page(A), page(A, broken), page(A, C)) == page(A, C, broken)
    assert merged(page(A, broken), page(A, broken), page(A, broken, C)) == page(A, broken, C)
    assert merged(page(A, broken, B), page(A, mended, B), page(A, broken, B, C)) == page(A, mended, B, C)
    unclosed = b"---\nid: DEC-010\ntype: decision\n"
    data = merge_entries.merge(page(A), page(A, unclosed), page(A, C), "memory/decisions.md").data
    assert unclosed.strip() in data


def test_views_are_any_of_the_two() -> None:
    assert merged(b"{}", b'{"a":1}', b'{"b":2}', ".agentplane/memory/state.json") in {b'{"a":1}', b'{"b":2}'}


def test_what_is_no_text_at_all() -> None:
    found = merge_entries.merge(b"\0a", b"\0b" + A, b"\xff\xfe" + B, "memory/decisions.md")
    assert A.strip() in found.data
    assert B.strip() in found.data


def test_a_fence_that_another_entry_would_close() -> None:
    """Put together they would read otherwise than alone: then git stops, with both in the file."""
    one = entry("DEC-002") + b"```\nnever closed\n"
    other = entry("DEC-003") + b"```\n"
    found = merge_entries.merge(page(A), page(A, one), page(A, other), "memory/decisions.md")
    assert b"never closed" in found.data
    assert b"id: DEC-003" in found.data


ids = st.sampled_from([f"DEC-{number:03d}" for number in range(1, 7)])
texts = st.sampled_from(["a", "b", "c", "```", "more\n\nlines", "---", "ä"])
pages = st.builds(
    lambda prose, entries, end: (
        page(*(entry(id_, text) for id_, text in entries.items()), prose=prose).rstrip(b"\n") + end
    ),
    st.sampled_from([PROSE, b"# Decisions\n", b"# Other\n\n", b"\xef\xbb\xbf# Mark\n"]),
    st.dictionaries(ids, texts, max_size=5),
    st.sampled_from([b"\n", b"", b"\n\n", b"\r\n"]),
)


def cores(data: bytes) -> set[bytes]:
    read = document.parse(data)
    return {read.core(block) for block in read.blocks}


@settings(deadline=None, max_examples=150)
@given(pages, pages, pages)
def test_nothing_is_lost_and_both_ways_are_the_same(base: bytes, ours: bytes, theirs: bytes) -> None:
    found = merge_entries.merge(base, ours, theirs, "memory/decisions.md")
    other = merge_entries.merge(base, theirs, ours, "memory/decisions.md")
    assert found.clean == other.clean
    if not found.clean:
        return
    assert found.data == other.data
    # What one side wrote is there, and what was there before is gone only where a side took it out or changed it.
    for core in (cores(ours) ^ cores(theirs)) - cores(base):
        assert core in found.data
    assert merge_entries.merge(base, found.data, found.data, "memory/decisions.md").data == found.data
    assert merge_entries.merge(base, base, ours, "memory/decisions.md").data == ours
