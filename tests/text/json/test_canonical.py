"""Canonical JSON: one form, and errors that name the field."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.errors import BadInput
from agentplane.text.json import canonical


SAFE = 2**53 - 1
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-SAFE, SAFE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)
)


def read(data):
    """As a reader that has only doubles, which RFC 8785 is made for."""
    return json.loads(
        data, parse_int=lambda digits: int(digits) if abs(int(digits)) <= SAFE else float(digits)
    )


@given(values)
def test_reads_back_as_the_same_value(value):
    assert read(canonical.dumps(value)) == value


@given(values)
def test_reading_and_writing_again_gives_the_same_bytes(value):
    once = canonical.dumps(value)
    assert canonical.dumps(read(once)) == once


def test_example_of_the_rfc():
    """RFC 8785, 3.2.2 and 3.2.3."""
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    assert canonical.dumps(value).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_keys_are_sorted_by_utf16():
    ordered = ["\r", "1", "\x80", "ö", "€", "😂", "\ufb33"]
    written = canonical.dumps(dict.fromkeys(reversed(ordered)))
    assert list(json.loads(written)) == ordered


@pytest.mark.parametrize(
    ("value", "where", "what"),
    [
        ({"inputs": [1, 2, {"size": math.nan}]}, "inputs[2].size", "is nan"),
        ({"size": -math.inf}, "size", "is -inf"),
        ({"a": {"b c": 2**53}}, 'a["b c"]', "beyond 2^53"),
        ({"a": 10**5000}, "a", "beyond 2^53"),
        ({"a": ["ok", "\ud800"]}, "a[1]", "surrogate"),
        ({"a": {"\udfff": 1}}, "a", "has the key"),
        ({"a": {1: 2}}, "a", "has the key 1, which isn't a string"),
        ({"a": b"x"}, "a", "is a bytes"),
        ({"a": {"b": {1, 2}}}, "a.b", "is a set"),
        ([[object()]], "[0][0]", "is a object"),
        (math.nan, None, "is nan"),
    ],
)
def test_names_the_field_that_json_cannot_hold(value, where, what):
    with pytest.raises(BadInput) as caught:
        canonical.dumps(value)
    assert caught.value.where == where
    assert what in caught.value.what


def test_endless_nesting_is_refused():
    around: list[object] = []
    around.append(around)
    with pytest.raises(BadInput, match="nested too deeply"):
        canonical.dumps({"a": around})


@pytest.mark.parametrize("depth", [10, 300, 400, 450, 480, 490, 1000])
def test_what_json_cannot_hold_is_refused_at_any_depth(depth):
    value = {1}
    for _ in range(depth):
        value = [value]
    with pytest.raises(BadInput):
        canonical.dumps(value)


def test_sha256_is_hex():
    assert canonical.sha256(b"abc").startswith("ba7816bf")
    assert len(canonical.sha256(b"")) == 64
