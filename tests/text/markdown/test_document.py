"""Finding the entries of a file, and what in it cannot be read."""

import hashlib
import time
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentplane.text.markdown.document import Document, digest, normalise, parse, split
from tests.text.strategies import Made, files, real_files


PARTS = [b"---\n", b"---", b"\n", b"\r\n", b"id: A\n", b"id: B\n", b"```\n", b"~~~", b"\xff", b"\0", b"\xef\xbb\xbf",
         b"x", b": ", b"[", b" ", b"id: [\n", b"--- \t\r\n", b"\xe2\x80\xa8"]  # fmt: skip


@given(st.binary() | st.lists(st.sampled_from(PARTS), max_size=14).map(b"".join))
@example(b"---\nid: A\n---")
@example(b"---")
@example(b"---\nid: A")
def test_any_bytes_stay_and_pieces_never_overlap(data):
    document = parse(data)
    assert bytes(document) == data
    spans = sorted((piece.start, piece.end) for piece in (*document.blocks, *document.troubles))
    ends = [0, *(end for _, end in spans)]
    assert all(end <= start for end, (start, _) in zip(ends, spans, strict=False))
    assert ends[-1] <= len(data)
    for block in document.blocks:
        core = document.core(block)
        assert core.startswith(b"---")
        assert core == core.rstrip(b" \t\r\n")
        assert document.header(block)["id"] == block.id
        assert block.line == data.count(b"\n", 0, block.start) + 1
        assert isinstance(document.body(block), str)


@given(st.lists(st.sampled_from(PARTS), max_size=14).map(b"".join))
def test_known_headers_change_nothing(data):
    document = parse(data)
    known = {block.key: (block.id, block.packed) for block in document.blocks}
    assert parse(data, known) == document


@given(files())
def test_the_entries_are_those_that_were_written(made: Made):
    document = parse(made.data)
    assert [block.id for block in document.blocks] == made.ids
    assert [document.core(block) for block in document.blocks] == made.cores
    assert document.troubles == ()


@given(
    files(min_size=1),
    st.sampled_from([b"id: A\r\nb: [", b"id: [\n", b'"id": \tx: y: z\n', b"id: 42\n", b"id:\n"]),
)
def test_what_is_broken_belongs_to_no_entry(made: Made, header):
    text = made.data.rstrip() + b"\n\n"
    document = parse(text + b"---\n" + header + b"\n---\nits body\n")
    assert [document.core(block) for block in document.blocks] == made.cores
    (trouble,) = document.troubles
    assert trouble.start == len(text)
    assert trouble.end == len(document.data) - 1
    assert trouble.line >= text.count(b"\n") + 1
    assert trouble.what
    assert trouble.todo


ENTRY = b"---\nid: %s\nstatus: accepted\n---\nBody.\n\n"


def ids(document: Document):
    return [block.id for block in document.blocks]


def test_fields_of_a_block():
    data = b"prose\n\n" + b"---\r\nid: A-1\r\nat: 2026-01-27\r\n---\r\nBody.\r\nMore.\r\n\r\n"
    document = parse(data)
    (block,) = document.blocks
    assert (block.id, block.line) == ("A-1", 3)
    assert data[block.start : block.head] == b"---\r\n"
    assert data[block.head :].startswith(b"id: A-1")
    assert document.body(block) == "Body.\nMore."
    assert document.header(block) == {"id": "A-1", "at": "2026-01-27"}
    assert block.digest == digest(document.core(block))
    assert block.digest == hashlib.sha256(b"---\nid: A-1\nat: 2026-01-27\n---\nBody.\nMore.").hexdigest()
    assert document.find("A-1") == block
    assert document.find("A-2") is None


@given(files())
def test_other_line_ends_are_the_same_entries(made: Made):
    unix = made.data.replace(b"\r\n", b"\n")
    dos = unix.replace(b"\n", b"\r\n")
    assert [block.digest for block in parse(unix).blocks] == [block.digest for block in parse(dos).blocks]
    assert normalise(dos) == normalise(unix)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"\xef\xbb\xbf---\nid: A\n---\n", ["A"]),
        (b"x\n\xef\xbb\xbf---\nid: A\n---\n", []),
        (b" ---\nid: A\n---\n", []),
        (b"----\nid: A\n----\n", []),
        (b"---\nid: A\n---", ["A"]),
        (b"---\nid: A\n---\r", ["A"]),
        (b"---\nid: A\n---\n---\nid: B\n---\n", ["A", "B"]),
        (b"x\n---\ny\n---\nid: A\n---\n", ["A"]),
        (b"---\n---\n---\nid: A\n---\n", ["A"]),
        (b"---\nno: A\n---\nid: A\n---\n", ["A"]),
        (b"---\n- id: A\n---\n", []),
        (b"---\n{id: A}\n---\n", ["A"]),
        (b"---\n? id\n: A\n---\n", ["A"]),
        (b'---\n"\\x69d": A\n---\n', ["A"]),
        (b"---\nid: no\n---\n", ["no"]),
        (b"---\nid: 1:30\n---\n", ["1:30"]),
        (b"```\n---\nid: A\n---\n```\n", []),
        (b"````\n---\nid: A\n---\n```\n", ["A"]),
        (b"```\n---\nid: A\n---\n~~~\n", ["A"]),
        (b"```\n---\nid: A\n---\n``` x\n", ["A"]),
        (b"```a`b\n---\nid: A\n---\n```\n", ["A"]),
        (b"~~~a`b\n---\nid: A\n---\n~~~\n", []),
        (b"    ```\n---\nid: A\n---\n```\n", ["A"]),
        (b"   ```\n---\nid: A\n---\n   `````  \n", []),
        (b"\xef\xbb\xbf```\n---\nid: A\n---\n```\n", []),
        (b"```\n---\nid: A\n---\n```\n---\nid: B\n---\n", ["B"]),
        (b"---\nid: A\nx: |\n  ~~~\n~~~\n---\nid: B\n---\n~~~\n", ["B"]),
        (b"---\nid: A\nx: '\n  ```'\n---\nb\n---\nid: B\n---\n```\n", ["A", "B"]),
        (b"```\n```\n---\nid: A\n---\n```\n---\nid: B\n---\n```\n", ["A"]),
    ],
)  # fmt: skip
def test_where_entries_open(text, expected):
    assert ids(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        (b"---\nid: A\nb: c: d\n---\n", 3, "invalid"),
        (b"x\n\n---\nid: A\nb: 2026-02-30\n---\n", 5, "2026-02-30"),
        (b"---\nid: A\n\tb: c\n---\n", 3, "invalid"),
        (b"---\nid: A\nb: !!python/object:x {}\n---\n", 3, "tag"),
        (b"---\nid: A\nid: B\n---\n", 3, "repeated"),
        (b"---\nid: 42\n---\n", 1, "isn't text"),
        (b"---\nid: ' '\n---\n", 1, "isn't text"),
        (b"---\nid: [A]\n---\n", 1, "isn't text"),
        (b"---\nid: 0x" + b"f" * 5000 + b"\n---\n", 1, "isn't text: a very long number"),
        (b"---\nid: A\nb: \xff\n---\n", 3, "UTF-8"),
        (b"---\nid: A\n---\nok\nb \xff\n", 5, "UTF-8"),
        (b"---\nid: A\n---\nok\nb \0\n", 5, "NUL"),
        (b"---\nid: A\nb: " + b"x" * 70_000 + b"\n---\n", 1, "64 KiB"),
        (b"---\nid: A\nb: c\n", 1, "never closed"),
        (b"ok\n\xfe\xff\n", 2, "UTF-8"),
        ("---\nid: A\n---\n".encode("utf-16"), 1, "NUL"),
    ],
)
def test_troubles(text, line, word):
    document = parse(text)
    assert document.blocks == ()
    (trouble,) = document.troubles
    assert (trouble.line, word in trouble.what) == (line, True), trouble
    # Whatever else the file holds still reads.
    around = parse(text + b"\n\n" + ENTRY % b"B-2")
    assert ids(around) == (["B-2"] if "never" not in word else ["A"])
    if text.startswith(b"---") and "never" not in word:
        assert ids(parse(ENTRY % b"B-1" + text + b"\n\n" + ENTRY % b"B-2")) == ["B-1", "B-2"]


def test_an_id_used_twice_counts_once():
    document = parse(ENTRY % b"A" + ENTRY % b"B" + ENTRY % b"A")
    assert ids(document) == ["A", "B"]
    (trouble,) = document.troubles
    assert "line 1" in trouble.what
    assert trouble.line == 13


def test_what_only_looks_like_frontmatter_does_not_hide_the_entry_behind_it():
    document = parse(ENTRY % b"A" + b"---\nid: said he, id: said she\n---\nid: B\n---\n")
    assert ids(document) == ["A", "B"]
    assert len(document.troubles) == 1


def test_a_thematic_break_late_in_a_body_is_no_frontmatter():
    document = parse(ENTRY % b"A" + b"---\nprose\n\nid: x\n")
    assert ids(document) == ["A"]
    assert document.troubles == ()


def test_integers_beyond_64_bits_are_kept_as_text():
    document = parse(
        b"---\nid: A\nsha: 123456789012345678901234567890\nm: {1: [0x" + b"f" * 5000 + b"]}\n---\n"
    )
    header = document.header(document.blocks[0])
    assert header["sha"] == "123456789012345678901234567890"
    assert header["m"] == {1: ["0x" + "f" * 5000]}


def test_split():
    assert split(b"---\nid: A\n---\nx") == (b"---\n", b"id: A\n", b"---\nx")
    assert split(b"---\n---") == (b"---\n", b"", b"---")
    assert split(b"---\nid: A\n") is None
    assert split(b"x") is None


def seconds(work):
    best = 1e9
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


@pytest.mark.timing
@pytest.mark.parametrize(
    "unit",
    [
        b"a line of some body, with did and such\n", b"---\n", b"```\n", b"```x\n", b"~~~x\n```\n",
        b"---\n```a\n", b"---\nid\n```\n~~~~a\n", b"---\nid: [\n", b"x" * 100 + b"\n---\n",
    ],
)  # fmt: skip
def test_time_grows_with_the_size_only(unit):
    """Four times the text may cost ten times the time, not sixteen."""
    start = ENTRY % b"A"
    small, large = (start + unit * (size // len(unit)) for size in (60_000, 240_000))
    assert seconds(lambda: parse(large)) < 10 * seconds(lambda: parse(small)) + 0.02


LINES = (b"a line\n", b"---\n", b"```\n", b"```x\n")


def ten_megabytes(unit):
    return ENTRY % b"A" + unit * (10_000_000 // len(unit))


@pytest.mark.parametrize("unit", LINES)
def test_ten_megabytes(unit):
    assert ids(parse(ten_megabytes(unit))) == ["A"]


@pytest.mark.timing
@pytest.mark.parametrize("unit", LINES)
def test_ten_megabytes_take_forty_times_as_long_as_their_lines_at_most(unit):
    data = ten_megabytes(unit)
    lines = seconds(lambda: [line.strip() for line in data.split(b"\n")])
    assert seconds(lambda: parse(data)) < 40 * lines


@pytest.mark.timing
def test_falling_fence_lengths_are_linear():
    """Each opening is shorter than the one before; none closes."""

    def text(count):
        return b"".join(b"`" * length + b"x\n" for length in range(count, 2, -1)) + b"---\n"

    assert seconds(lambda: parse(text(1600))) < 10 * seconds(lambda: parse(text(800))) + 0.02


@pytest.mark.parametrize(
    ("header", "line", "named"),
    [
        (b"id: B\ntags: &t [x]\n", 2, "the anchor 't' is not allowed"),
        (b"id: B\n\ntags: *t\n", 3, "the alias 't' is not allowed"),
        (b"id: B\nconfidence: !!float 1\n", 2, "the tag 'tag:yaml.org,2002:float' is not allowed"),
        (b"id: B\n<<: {status: accepted}\n", 2, "the merge key << is not allowed"),
        (b"&k id: B\n", 1, "the anchor 'k' is not allowed"),
        (b"!!str id: B\n", 1, "the tag 'tag:yaml.org,2002:str' is not allowed"),
        (b"&k !!str 'id': B\n", 1, "the anchor 'k' is not allowed"),
    ],
)
def test_an_entry_with_rare_yaml_cannot_be_read(header, line, named):
    """It is named with its place and with what to do, and stays in the file; its neighbors are read."""
    before, after = ENTRY % b"A", ENTRY % b"C"
    broken = b"---\n" + header + b"---\nDecision: x\n\n"
    document = parse(before + broken + after)
    assert [block.id for block in document.blocks] == ["A", "C"]
    (trouble,) = document.troubles
    assert trouble.what == f"invalid frontmatter: {named}"
    assert trouble.line == before.count(b"\n") + 1 + line
    assert "Replace YAML anchors, aliases, tags" in trouble.todo
    assert document.data[trouble.start : trouble.end] == broken.rstrip()


def test_broken_yaml_is_to_be_repaired():
    (trouble,) = parse(b"---\nid: A\nx: [\n---\n").troubles
    assert trouble.todo.startswith("Fix the YAML")


def test_memory_for_fences_grows_slower_than_the_file():
    data = ENTRY % b"A" + b"```\n" * 100_000 + b"---\n"
    tracemalloc.start()
    try:
        parse(data)
        assert tracemalloc.get_traced_memory()[1] < 8 * len(data)
    finally:
        tracemalloc.stop()


def test_real_files_stay_byte_for_byte():
    paths = real_files()
    if not paths:
        pytest.skip("the folder of real files (AGENTPLANE_DATA) is not here")
    for path in paths:
        data = path.read_bytes()
        assert bytes(parse(data)) == data
        assert [bytes(parse(b"x\n" * 3 + data + ENTRY % b"Z").data).endswith(ENTRY % b"Z")] == [True]
