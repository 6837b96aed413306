"""JSON of others: read with its places, changed where we mean to and nowhere else, and put back to the byte."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentplane.text.json import splice, with_comments


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc") | st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
SPACES = st.sampled_from(
    ["", "", " ", "\n", "\n  ", "\n\t", "\r\n    ", " // note\n", " /* note */ ", "\n// a, } b\n  "]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """An object as somebody might have written it."""
    bom = draw(st.sampled_from(["", "", "\ufeff"]))
    return bom + draw(SPACES) + draw(written(draw(st.dictionaries(KEYS, VALUES, max_size=4)))) + draw(SPACES)


KEYS = st.sampled_from(["hooks", "mcpServers", "version", "a", "b"]) | st.text(max_size=3)


@st.composite
def written(draw: st.DrawFn, value: object) -> str:
    """A value with any white space, comments and trailing commas."""
    if isinstance(value, dict):
        rows = [
            f"{draw(SPACES)}{json.dumps(key)}{draw(SPACES)}:{draw(SPACES)}{draw(written(item))}{draw(SPACES)}"
            for key, item in value.items()
        ]
        return f"{{{','.join(rows)}{_trailing(draw, rows)}{draw(SPACES)}}}"
    if isinstance(value, list):
        rows = [f"{draw(SPACES)}{draw(written(item))}{draw(SPACES)}" for item in value]
        return f"[{','.join(rows)}{_trailing(draw, rows)}{draw(SPACES)}]"
    return json.dumps(value)


def _trailing(draw: st.DrawFn, rows: list[str]) -> str:
    return "," if rows and draw(st.booleans()) else ""


PATHS = st.sampled_from([
    ((), "ours"), (("mcpServers",), "ours"), (("hooks", "Start"), None), (("hooks",), "ours"), (("a", "b"), None),
])  # fmt: skip
OURS = st.sampled_from(
    [{"command": "x", "args": ["a", "b"]}, {"hooks": [{"type": "command", "command": "x"}]}]
)


def route_of(root: with_comments.Node, path: tuple[str, ...], key: str | None) -> list[int]:
    route = []
    node = root
    for name in path:
        place = next(place for place, child in enumerate(node.children) if child.key == name)
        route.append(place)
        node = node.children[place].node
    found = [place for place, child in enumerate(node.children) if child.key == key]
    return [*route, found[-1]]


@given(texts(), PATHS, OURS)
def test_what_is_put_in_comes_out_to_the_byte(
    text: str, where: tuple[tuple[str, ...], str | None], value: object
) -> None:
    path, key = where
    try:
        made = splice.put(text, path, key, value)
    except splice.NotPlain:
        assume(False)
    root = with_comments.parse(made)
    route = route_of(root, path, key)
    node = root
    for place in route:
        node = node.children[place].node
    assert with_comments.plain(node) == with_comments.plain(with_comments.parse(json.dumps(value)))
    assert splice.remove(made, route, {}) == text


@given(
    st.dictionaries(st.text(max_size=3), VALUES, max_size=4).flatmap(
        lambda value: st.tuples(st.just(value), written(value))
    )
)
def test_it_reads_what_a_json_reader_reads(pair: tuple[object, str]) -> None:
    value, text = pair
    assert with_comments.plain(with_comments.parse(text)) == with_comments.plain(
        with_comments.parse(json.dumps(value))
    )
    assert value_of(with_comments.parse(text)) == value


def value_of(node: with_comments.Node) -> object:
    if node.kind == "object":
        return {child.key: value_of(child.node) for child in node.children}
    if node.kind == "array":
        return [value_of(child.node) for child in node.children]
    return node.text if node.kind == "string" else json.loads(node.text)


@given(st.text(alphabet='{}[]",:/*\\ \n1tnull', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """What a strict reader reads is read; all else is read as JSON with comments, or refused."""
    try:
        root = with_comments.parse(text)
    except with_comments.BadJson:
        with pytest.raises(ValueError, match=r".*"):
            json.loads(text)
    else:
        assert 0 <= root.start < root.end <= len(text)


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a" 1}', '{"a":}', '{"a":1 "b":2}', "{,}", "[1,,2]", "{} x", '{"a": "\n"}', "{'a':1}", "/*", '{"a":1}/*', "nul", "[" * 500, '{"\\q":1}', "{a:1}"],
)  # fmt: skip
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(with_comments.BadJson):
        with_comments.parse(text)


@pytest.mark.parametrize(
    ("text", "path", "key"),
    [("[]", (), "a"), ('{"hooks": null}', ("hooks",), "a"), ('{"hooks": []}', ("hooks", "Start"), None), ('{"a": 1, "a": 2}', ("a",), "b"), ('{"hooks": {"Start": {}}}', ("hooks", "Start"), None)],
)  # fmt: skip
def test_what_has_no_such_place_is_refused(text: str, path: tuple[str, ...], key: str | None) -> None:
    with pytest.raises(splice.NotPlain):
        splice.put(text, path, key, 1)


STYLES = [
    (
        '{\n    "a": 1\n}\n',
        '{\n    "a": 1,\n    "m": {\n        "x": {\n            "c": 1\n        }\n    }\n}\n',
    ),
    ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"m": {\r\n\t\t"x": {\r\n\t\t\t"c": 1\r\n\t\t}\r\n\t}\r\n}'),
    ('{"a": 1}', '{"a": 1, "m": { "x": { "c": 1 } }}'),
    ('{\n  "a": 1, // one\n}\n', '{\n  "a": 1, // one\n  "m": {\n    "x": {\n      "c": 1\n    }\n  },\n}\n'),
    ('{\n  "a": 1 // one\n}\n', '{\n  "a": 1, // one\n  "m": {\n    "x": {\n      "c": 1\n    }\n  }\n}\n'),
    ('{"a": {\n  "b": 1\n}}', '{"a": {\n  "b": 1\n},\n"m": {\n  "x": {\n    "c": 1\n  }\n}}'),
    ('{\n  "m": {}\n}\n', '{\n  "m": {"x": {\n    "c": 1\n  }}\n}\n'),
]


@pytest.mark.parametrize(("text", "wanted"), STYLES)
def test_it_is_written_as_what_stands_around(text: str, wanted: str) -> None:
    assert splice.put(text, ("m",), "x", {"c": 1}) == wanted


def test_an_item_follows_another_as_in_a_list_of_objects() -> None:
    text = '{"l": [{\n  "a": 1\n}]}'
    made = splice.put(text, ("l",), None, {"b": 2})
    assert made == '{"l": [{\n  "a": 1\n}, {\n  "b": 2\n}]}'
    assert splice.remove(made, [0, 1], {}) == text


def test_what_others_wrote_since_stays() -> None:
    made = splice.put('{\n  "a": 1\n}\n', ("m",), "x", {"c": 1})
    later = made.replace('"c": 1\n    }', '"c": 1\n    },\n    "theirs": 2').replace('"a": 1', '"a": 7')
    assert splice.remove(later, [1, 0], {}) == '{\n  "a": 7,\n  "m": {\n    "theirs": 2\n  }\n}\n'


def test_a_comment_right_before_it_swallows_nothing() -> None:
    text = '{"a": 1, // note\n "x": 2 }'
    with pytest.raises((splice.NotPlain, with_comments.BadJson)):
        splice.remove(text, [1], {})
