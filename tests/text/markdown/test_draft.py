"""Many edits of one document, one join."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentplane.errors import BadInput
from agentplane.text.markdown.document import digest, normalise, parse
from agentplane.text.markdown.draft import Draft, Gap
from tests.text.strategies import BODIES, Made, files


NEW = b"---\nid: NEW-1\n---\nNew.\nText."


def digests(data):
    return {block.id: block.digest for block in parse(data).blocks}


PIECES = [b"---\nid: A\n---\nx\n", b"---\nid: B\n---\ny", b"---\nid: [\n---\nbroken\xff\n", b"\n", b"\r\n", b" ", b"x\n",
          b"---\nid: C\n---\n\n\n", b"---\nid: A\n---\n", b"\xef\xbb\xbf"]  # fmt: skip
messy = st.lists(st.sampled_from(PIECES), max_size=9).map(b"".join) | files().map(lambda made: made.data)


@given(messy)
def test_a_draft_is_its_document(data):
    document = parse(data)
    draft = Draft(document)
    assert bytes(draft) == data
    assert [draft.core(block.id) for block in document.blocks] == [
        document.core(block) for block in document.blocks
    ]
    assert draft.core("none") is None


@given(messy)
@example(b"")
@example(b"\xef\xbb\xbf")
@example(b"prose")
@example(b"---\nid: A\n---")
@example(b"---\nid: A\n---\n \t")
@example(b"---\r\nid: A\r\n---\r\nx\r\n")
def test_insert_then_remove_is_nothing(data):
    draft = Draft(parse(data))
    gap = draft.insert("NEW-1", NEW)
    document = draft.checked()
    assert digests(bytes(draft)) == {**digests(data), "NEW-1": digest(NEW)}
    assert document.blocks[-1].id == "NEW-1"
    assert bytes(draft).startswith(data)
    assert bytes(draft)[len(data) :].strip().replace(b"\r\n", b"\n") == NEW
    draft.remove("NEW-1", gap.lead)
    assert bytes(draft) == data


@given(messy, st.data())
def test_remove_then_insert_is_nothing(data, drawn):
    document = parse(data)
    if not document.blocks:
        return
    draft = Draft(document)
    block = drawn.draw(st.sampled_from(document.blocks))
    core = draft.core(block.id)
    gap = draft.remove(block.id, drawn.draw(st.sampled_from(["", "\n", "\n\n", "\r\n"])))
    assert draft.core(block.id) is None
    draft.insert(block.id, core, gap)
    assert bytes(draft) == data


@given(files(min_size=2), st.data())
def test_edits_in_any_order_touch_their_entry_only(made: Made, drawn):
    before = digests(made.data)
    draft = Draft(parse(made.data))
    gone = drawn.draw(st.lists(st.sampled_from(made.ids), unique=True, min_size=1))
    gaps = {id_: (draft.core(id_), draft.remove(id_)) for id_ in gone}
    added = draft.insert("NEW-1", NEW)
    assert digests(bytes(draft)) == {
        **{id_: seal for id_, seal in before.items() if id_ not in gone}, "NEW-1": digest(NEW)
    }  # fmt: skip
    for id_ in reversed(gone):
        draft.insert(id_, *gaps[id_])
        draft.checked()
    assert digests(bytes(draft)) == {**before, "NEW-1": digest(NEW)}
    draft.remove("NEW-1", added.lead)
    assert digests(bytes(draft)) == before


@given(files(min_size=1), st.sampled_from([body for body in BODIES if "open" not in body]), st.data())
def test_replacing_changes_one_core(made: Made, body, drawn):
    id_ = drawn.draw(st.sampled_from(made.ids))
    old = made.cores[made.ids.index(id_)]
    core = normalise(f"---\nid: {id_}\n---\n{body}".encode())
    draft = Draft(parse(made.data))
    draft.replace(id_, core + b"\n\n")
    at = made.data.index(old)
    assert bytes(draft) == made.data[:at] + core + made.data[at + len(old) :]
    assert draft.checked().find(id_).digest == digest(core)


@given(
    messy, st.sampled_from(["A", "gone", None]), st.text(" \t\n", max_size=2), st.text(" \t\n", max_size=2)
)
def test_a_gap_that_fits_no_more_is_made_to_fit(data, after, lead, tail):
    draft = Draft(parse(data))
    draft.insert("NEW-1", NEW, Gap(after, lead, tail, 7))
    assert digests(bytes(draft)) == {**digests(data), "NEW-1": digest(NEW)}


def test_an_entry_comes_back_between_broken_texts():
    data = b"---\nid: A\n---\n---\nid: [\n---\n1\n---\nid: B\n---\n\n---\nid: [\n---\n2\n---\nid: C\n---\n"
    draft = Draft(parse(data))
    core = draft.core("B")
    gap = draft.remove("B")
    assert gap == Gap("A", "", "\n\n", 16)
    draft.insert("B", core, gap)
    assert bytes(draft) == data


def test_line_ends_follow_the_file():
    draft = Draft(parse(b"---\r\nid: A\r\n---\r\nx\r\n"))
    draft.insert("NEW-1", NEW)
    assert bytes(draft).endswith(b"x\r\n\r\n---\r\nid: NEW-1\r\n---\r\nNew.\r\nText.\r\n")


def test_what_would_not_read_as_one_entry_is_noticed():
    opened = b"---\nid: A\n---\n```\nopen\n"
    draft = Draft(parse(opened))
    draft.insert("NEW-1", NEW + b"\n```\nx\n```\n")
    with pytest.raises(BadInput, match=r"NEW-1|A"):
        draft.checked()
    draft = Draft(parse(b"---\nid: A\n---\n"))
    draft.replace("A", b"---\nid: A\n---\n---\nid: B\n---")
    with pytest.raises(BadInput, match=r"B|A"):
        draft.checked()
    draft = Draft(parse(b"---\nid: A\n---\n1\n---\nid: A\n---\n2\n"))
    draft.remove("A")
    with pytest.raises(BadInput, match="A"):
        draft.checked()


def test_names_that_are_not_there():
    draft = Draft(parse(b"---\nid: A\n---\n"))
    with pytest.raises(KeyError):
        draft.remove("B")
    with pytest.raises(KeyError):
        draft.replace("B", b"x")
    with pytest.raises(KeyError):
        draft.insert("A", b"x")


@pytest.mark.timing
def test_a_thousand_changes_cost_about_one_join():
    data = b"".join(b"---\nid: A-%d\n---\n%s\n\n" % (number, b"text " * 40) for number in range(4000))
    document = parse(data)

    def edit(count):
        start = time.perf_counter()
        draft = Draft(document)
        for number in range(count):
            core = draft.core(f"A-{number}")
            draft.remove(f"A-{number}")
            draft.insert(f"B-{number}", core)
            draft.replace(f"A-{number + count}", core)
        bytes(draft)
        return time.perf_counter() - start

    one = min(edit(1) for _ in range(5))
    assert min(edit(1000) for _ in range(5)) < 20 * one
