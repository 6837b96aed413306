"""Changing fields of a header; nothing else changes."""

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentplane.errors import BadInput
from agentplane.text.markdown.document import parse, split
from agentplane.text.markdown.header import DROP, new_core, set_fields
from agentplane.text.yaml import yaml12
from agentplane.text.yaml.yaml12 import YamlError, load
from tests.text.strategies import Made, fields, files, real_files, same, texts, values


CORE = """---
# top
id: "DEC-1"  # the id
type: 'decision'
status: accepted   # why
tags: [ui,  "tui"] # t
ev: # e
    - a.py   # one
    - 'b.py'
# behind ev
note: |-  # n
   hi
   there

empty:
flow: { a: 1,b: 2 }
last: 1
# end
---
Body --- é 😀
---
status: not this
"""


def header(core):
    _, text, _ = split(core)
    return load(text.decode())


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"status": "deprecated"}, "status: accepted ", "status: deprecated "),
        ({"status": "a: b #c"}, "status: accepted ", "status: 'a: b #c' "),
        ({"status": ["a", "b"]}, "status: accepted ", "status: [a, b] "),
        ({"status": None}, "status: accepted ", "status: null "),
        ({"status": "accepted"}, "", ""),
        ({"id": "DEC-2"}, '"DEC-1"', '"DEC-2"'),
        ({"id": "a\n😀\x07"}, '"DEC-1"', '"a\\n😀\\x07"'),
        ({"type": "it's"}, "'decision'", "'it''s'"),
        ({"type": date(2026, 1, 27)}, "'decision'", "2026-01-27"),
        ({"tags": ["ui", "tui", "new, one"]}, '"tui"]', "\"tui\", 'new, one']"),
        ({"tags": ["x"]}, '[ui,  "tui"]', "[x]"),
        ({"tags": []}, '[ui,  "tui"]', "[]"),
        ({"tags": ["ui", "tui"]}, "", ""),
        ({"ev": ["a.py", "b.py", "c"]}, "'b.py'\n", "'b.py'\n    - c\n"),
        ({"ev": ["x", "- y"]}, "- a.py   # one\n    - 'b.py'", "- x\n    - '- y'"),
        ({"ev": "one"}, "ev: # e\n    - a.py   # one\n    - 'b.py'", "ev: one # e"),
        ({"ev": DROP}, "ev: # e\n    - a.py   # one\n    - 'b.py'\n", ""),
        ({"note": "hi\nyou\n"}, "|-  # n\n   hi\n   there", "|  # n\n   hi\n   you"),
        ({"note": 7}, "|-  # n\n   hi\n   there", "7  # n"),
        ({"note": "x\r"}, "|-  # n\n   hi\n   there", '"x\\r"  # n'),
        ({"empty": "x"}, "empty:\n", "empty: x\n"),
        ({"empty": ["x"]}, "empty:\n", "empty: [x]\n"),
        ({"empty": DROP}, "empty:\n", ""),
        ({"flow": {"a": 1}}, "{ a: 1,b: 2 }", "{a: 1}"),
        ({"last": "1"}, "last: 1", "last: '1'"),
        ({"last": True}, "last: 1", "last: true"),
        ({"last": 1}, "", ""),
        ({"gone": DROP}, "", ""),
        ({"new": "no", "at": date(2026, 1, 27)}, "# end\n", "# end\nnew: no\nat: 2026-01-27\n"),
        ({"new": ["a", "b c.py"]}, "# end\n", "# end\nnew: [a, b c.py]\n"),
        ({"new": ["a", "x" * 30]}, "# end\n", f"# end\nnew:\n  - a\n  - {'x' * 30}\n"),
        ({"status": "x", "last": DROP}, None, None),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_one_field_changes_and_nothing_else(changes, old, new, newline):
    core = CORE.replace("\n", newline).encode()
    edited = set_fields(core, changes)
    if old is not None:
        assert CORE.count(old) == 1 or not old
        assert edited == CORE.replace(old, new).replace("\n", newline).encode()
    wanted = {**header(core), **changes}
    assert same(header(edited), {name: value for name, value in wanted.items() if value is not DROP})


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("{id: A, b: 1}\n", {"b": 2}, "id: A\nb: 2\n"),
        ("? id\r\n: A\r\nb: [1]\r\n? c\r\n: d\r\n", {"c": "e"}, "id: A\r\nb: [1]\r\nc: e\r\n"),
        ("  id: A\n  b: 1\n", {"c": 2}, "  id: A\n  b: 1\n  c: 2\n"),
        ("id: A\nb:\n- 1\n- 2\n", {"b": [1]}, "id: A\nb:\n- 1\n"),
        ("id: A\nb:\n  c: 1 # x\n", {"b": 5}, "id: A\nb: 5 # x\n"),
        ("id: A\nb: >\n  x\n  y\nc: 1\n", {"b": "z\n"}, "id: A\nb: >\n  z\nc: 1\n"),
        ("id: A\n'b' : \"x\"\n", {"b": "y"}, "id: A\n'b' : \"y\"\n"),
        ("id: A\nb: 'x\n\n  y'\nc: 1\n", {"b": "z"}, "id: A\nb: 'z'\nc: 1\n"),
        ("id: A\nx: \u2028é\ufeff\nb: c\n", {"b": "d"}, "id: A\nx: \u2028é\ufeff\nb: d\n"),
        ("id: 😀😀\nb: c\n", {"b": "d"}, "id: 😀😀\nb: d\n"),
    ],
)
def test_unusual_layouts(text, changes, expected):
    assert set_fields(f"---\n{text}---\nBody".encode(), changes).decode() == f"---\n{expected}---\nBody"


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("{id: A, b: [1, 2], c: {d: e}}\n", {"b": ["x"], "new": "no"}),
        ("? id\n: A\n? b\n: c\n", {"b": "d"}),
        ("? id\n: A\n? b\n: [c]\n", {"b": DROP}),
    ],
)
def test_a_header_that_must_be_rewritten_still_says_what_it_should(text, changes):
    core = f"---\n{text}---\nBody".encode()
    edited = set_fields(core, changes)
    wanted = {**load(text), **changes}
    assert same(header(edited), {name: value for name, value in wanted.items() if value is not DROP})
    assert edited.endswith(b"---\nBody")


@pytest.mark.parametrize(
    ("core", "changes"),
    [
        (b"---\nid: A\nbase: &b {x: 1}\n---\n", {"x": 1}),
        (b"---\nid: A\nb: !!str 1\n---\n", {"x": 1}),
        (b"---\nid: [\n---\n", {"a": 1}),
        (b"---\n- a\n---\n", {"a": 1}),
        (b"---\nid: \xff\n---\n", {"a": 1}),
        (b"no frontmatter", {"a": 1}),
        (b"---\nid: A\n---\n", {"a": "\ud800"}),
    ],
)
def test_what_cannot_be_changed_is_refused(core, changes):
    with pytest.raises(BadInput) as caught:
        set_fields(core, changes)
    assert caught.value.todo


@given(
    files(min_size=1), st.dictionaries(texts.filter(lambda name: name != "id"), values, max_size=3), st.data()
)
def test_an_edit_touches_only_its_entry(made: Made, changes, drawn):
    id_ = drawn.draw(st.sampled_from(made.ids))
    document = parse(made.data)
    block = document.find(id_)
    core = document.core(block)
    present = [name for name in header(core) if name != "id"]
    if present and drawn.draw(st.booleans()):
        changes[drawn.draw(st.sampled_from(present))] = drawn.draw(values | st.just(DROP))
    edited = set_fields(core, changes)
    wanted = {**header(core), **changes}
    assert same(header(edited), {name: value for name, value in wanted.items() if value is not DROP})
    data = made.data[: block.start] + edited + made.data[block.end :]
    after = parse(data)
    assert [other.id for other in after.blocks] == made.ids
    assert {other.id: other.digest for other in after.blocks if other.id != id_} == {
        other.id: other.digest for other in document.blocks if other.id != id_
    }
    assert after.body(after.find(id_)) == document.body(block)
    for line in re.findall(rb"# .*", split(core)[1]):
        if not any(name in present for name in changes):
            assert line in edited


@given(fields, st.sampled_from(["", "Body", "a\r\nb\n\n", "- x\n\n---\n\ny"]))
@example({"a": "x" * 1200, "k" * 1200: [{"m" * 1200: 1}]}, "")
@example({"": "", "<<": {"=": "<<"}}, "")
@example({"a": "9999-12-31 23:59:59.9999999", "m": {16**5000: 1, 16**5000 + 1: 16**5000}}, "")
def test_new_entries_say_exactly_their_fields(others, body):
    given_fields = {"id": "NEW-1", **others}
    core = new_core(given_fields, body)
    assert core.startswith(b"---\n")
    assert b"\r" not in core
    assert same(header(core), given_fields)
    (block,) = parse(core).blocks
    assert (block.start, block.end) == (0, len(core))
    assert parse(core).body(block) == body.replace("\r\n", "\n").rstrip()


def test_a_header_is_parsed_no_more_often_than_needed(monkeypatch):
    """For its fields, for their places, and to see that the edit says what it should."""
    parsed = []
    events = yaml12._events
    monkeypatch.setattr(yaml12, "_events", lambda text: parsed.append(text) or events(text))
    before, after = "id: DEC-001\nstatus: proposed\n", "id: DEC-001\nstatus: accepted\n"
    set_fields(f"---\n{before}---\nDecision: x".encode(), {"status": "accepted"})
    assert parsed == [before, before, after]


def test_how_a_new_entry_looks():
    core = new_core(
        {
            "id": "DEC-001", "type": "decision", "tags": ["ui", "tui"], "evidence": ["src/a very long path/b.py:12"],
            "updated": date(2026, 1, 27), "confidence": 0.9, "say": "no: yes",
            "at": datetime(2026, 1, 27, 10, tzinfo=UTC),
        },
        "Decision: x\n",
    )  # fmt: skip
    assert core.decode() == (
        "---\nid: DEC-001\ntype: decision\ntags: [ui, tui]\nevidence:\n  - src/a very long path/b.py:12\n"
        "updated: 2026-01-27\nconfidence: 0.9\nsay: 'no: yes'\nat: 2026-01-27T10:00:00+00:00\n---\nDecision: x"
    )


@pytest.mark.parametrize(
    "body", ["---\nid: B\n---\nx", "```\nopen", "a \0", "---\nid: [\n---\n", "---\nid: B", "a \ud800"]
)
def test_bodies_that_no_entry_can_hold(body):
    with pytest.raises(BadInput):
        new_core({"id": "A"}, body)


def test_real_headers_take_a_field_and_keep_all_others():
    paths = real_files()
    if not paths:
        pytest.skip("the folder of real files (AGENTPLANE_DATA) is not here")
    changed = 0
    for path in paths:
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        parts = split(data)
        try:
            before = load(parts[1].decode()) if parts else None
        except (YamlError, UnicodeDecodeError):
            continue
        if not isinstance(before, dict) or "status" in before:
            continue
        edited = set_fields(data, {"status": "x"})
        newline = b"\r\n" if parts[1].endswith(b"\r\n") else b"\n"
        assert edited == parts[0] + parts[1] + b"status: x" + newline + parts[2], path.name
        assert set_fields(edited, {"status": DROP}) == data, path.name
        changed += 1
    assert changed > len(paths) / 2
