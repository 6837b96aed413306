"""Reading YAML: what ruamel.yaml says it means, within limits."""

import json
import math
import re
import subprocess
import sys
import warnings
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from agentplane.text.yaml import yaml12
from agentplane.text.yaml.yaml12 import RareYaml, YamlError, layout, load
from tests.text.strategies import SCALAR_PARTS, real_files, same


def ruamel(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return YAML(typ="safe", pure=True).load(text)


def reads(text):
    """What ruamel.yaml makes of a text, or the error it has with it."""
    try:
        return ruamel(text), None
    except Exception as error:
        return None, error


ODD = re.compile("[\x85\u2028\u2029\ufeff]")


def agrees(text, expected):
    """What ruamel.yaml reads means the same here, if libyaml takes it and it is plain data; else it is refused."""
    try:
        list(yaml.parse(text, yaml.CLoader))
        refused = bool(yaml12._ODD_KEY.search(text))
    except yaml.YAMLError:
        refused = True
    rare = any(
        getattr(event, "anchor", None)
        or getattr(event, "tag", None)
        or (getattr(event, "value", None) in {"<<", "="} and event.implicit[0])
        for event in YAML(typ="safe", pure=True).parse(text)
    )
    try:
        return same(load(text), expected) and not rare and not refused
    except YamlError:
        return rare or refused


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"), ("on", "on"), ("yes", "yes"), ("1:30", "1:30"), ("0o17", 15), ("017", 17), ("08", 8),
        ("1_000", 1000), ("0x_f", 15), ("0b11", 3), ("-0o17", -15), ("1e3", 1000.0), ("1.", 1.0), (".5", 0.5),
        (".5e3", ".5e3"), ("-.inf", -math.inf), (".NaN", math.nan), ("~", None), ("", None), ("Null", None),
        ("TRUE", True), ("tRUE", "tRUE"), ("2026-01-27", date(2026, 1, 27)), ("2026-1-27", "2026-1-27"),
        ("2026-01-27 10:15:02", datetime(2026, 1, 27, 10, 15, 2)),  # noqa: DTZ001
        ("2026-01-27T10:15:02.5Z", datetime(2026, 1, 27, 10, 15, 2, 500000, tzinfo=UTC)),
        ("2026-01-27t10:15:02 -3:30",
         datetime(2026, 1, 27, 10, 15, 2, tzinfo=timezone(-timedelta(hours=3, minutes=30)))),
        ("'1'", "1"), ("'<<'", "<<"), ("'='", "="), ("a & b * c", "a & b * c"), ("a !b", "a !b"),
        ("123456789012345678901234567890", 123456789012345678901234567890),
    ],
)  # fmt: skip
def test_scalars_mean_what_yaml_1_2_says(written, value):
    text = f"a: {written}\n"
    assert same(load(text), {"a": value})
    assert same(ruamel(text), {"a": value})


@given(st.lists(st.sampled_from(SCALAR_PARTS), max_size=5).map("".join))
@example("0x_")
@example("2026-02-30")
@example("2026-12-31T23:59:59.9999999")
@example("-_")
def test_scalars_read_as_ruamel_reads_them(written):
    """Whatever ruamel.yaml reads as a mapping, means the same here."""
    for text in (f"a: {written}\n", f"a: [{written}]\n", f"- {written}\n"):
        expected, error = reads(text)
        if error is None and not has_collection_key(expected) and not ODD.search(text):
            assert agrees(text, expected)


def has_collection_key(value):
    if isinstance(value, dict):
        return any(isinstance(key, tuple) or has_collection_key(item) for key, item in value.items())
    return isinstance(value, list) and any(map(has_collection_key, value))


PIECES = ["a", "id", " ", "\n", "\n  ", "\n- ", ": ", ":", "- ", "[", "]", "{", "}", ", ", "'", '"', " #", "|\n ",
          "&x ", "*x", "!!str ", "? ", "<<: ", "\\n", "1", "\r\n", "\u2028", "\ufeff", "😀"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
@example("{?x: 1}")
@example("[?]")
@example("[?:]")
@example("{x, ?:y}")
@example("\n: 1")
@example("\x85b")
@example("\r\ufeffb: c")
def test_mappings_read_as_ruamel_reads_them(rest):
    text = f"a: {rest}"
    expected, error = reads(text)
    if error is None and isinstance(expected, dict) and not has_collection_key(expected):
        assert ODD.search(text) or agrees(text, expected)


@given(st.lists(st.sampled_from([*PIECES, "\x85", "\u2029"]), max_size=9).map("".join))
def test_odd_characters_are_like_any_other(rest):
    """The parser breaks lines at some of them, and ruamel.yaml at some places only."""
    text = f"a: {rest}"
    other = ODD.sub("\ue000", text)
    outcomes = []
    for one in (other, text):
        try:
            outcomes.append(json.dumps(load(one), ensure_ascii=False, default=str))
        except YamlError as error:
            outcomes.append(ascii(error.problem))
    assert ODD.sub("\ue000", outcomes[1]) == outcomes[0]


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2", "1: a\n1.0: b", "a: {b: 1, b: 2}", "a: =", "=: 1",
        "a: 2026-02-30", "a: 0x_", "? [a]\n: b", "? {a: b}\n: c", "a: 1\n--- \nb: 2", "a: [", "a: 'b",
        "\ta: b", "a: @x", "a: \0", "a: \x01", "a: \ud800", 'a: "\\ud800"', "a: b: c", "...", "a: [?]", "{x, ?:y}",
        "a: \u2028\uf8f0", 'a: "\u2028\\uF8F3"', 'a: "\u2028\\U0000f8f1"',
    ],
)  # fmt: skip
def test_what_is_refused(text):
    with pytest.raises(YamlError):
        load(text)


def test_the_line_of_a_problem():
    with pytest.raises(YamlError) as caught:
        load("a: 1\nb: 2\nc: d: e\n")
    assert caught.value.line == 2
    with pytest.raises(YamlError) as caught:
        load("a: 1\n\n# x\nb: 2026-13-01\n")
    assert caught.value.line == 3
    assert "2026-13-01" in caught.value.problem


@pytest.mark.parametrize("text", ["a:\tb", "a: b\t", "a: b\t# c"])
def test_tabs_behind_a_value_are_read_although_ruamel_refuses_them(text):
    """YAML 1.2 allows them."""
    assert reads(text)[1] is not None
    assert load(text) == {"a": "b"}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("a: &x 1", "anchor 'x'"), ("&x a: 1", "anchor 'x'"), ("&x {a: 1}", "anchor 'x'"), ("a: &x [b]", "anchor 'x'"),
        ("a: *x", "alias 'x'"), ("*x : 1", "alias 'x'"), ("a: [1, *x]", "alias 'x'"), ("a: !foo 1", "tag '!foo'"),
        ("a: ! 1", "tag '!'"), ("!!str a: 1", "tag 'tag:yaml.org,2002:str'"), ("a: !!map {}", "tag"),
        ("a: !!binary aGk=", "tag"), ("a: !!python/object/apply:os.system ['x']", "tag"), ("a: <<", "merge key"),
        ("<<: {a: 1}", "merge key"), ("b: {<<: [{a: 1}]}", "merge key"), ("%YAML 1.2\n---\na: 1", "starts with %"),
        ("%TAG ! !x\n---\na: 1", "starts with %"),
    ],
)  # fmt: skip
def test_anchors_aliases_tags_merge_keys_and_directives_are_refused(text, named):
    with pytest.raises(RareYaml, match=re.escape(named)):
        load(text)


def test_the_line_of_what_is_refused():
    with pytest.raises(RareYaml) as caught:
        load("a: 1\nb:\n  - c\n  - &x d\n")
    assert caught.value.line == 3


def test_very_long_integers_as_keys():
    """Python refuses to write them in decimal, in an error's text too."""
    number = "0x" + "f" * 5000
    assert load(f"? {number}\n: 1\n") == {int(number, 16): 1}
    with pytest.raises(YamlError, match="the key a very long number is repeated here"):
        load(f"? {number}\n: 1\n? {number}\n: 2\n")


def bombs():
    laughs = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    laughs += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    chain = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 100)]
    merges = ["a0: &a0 {k: v}"] + [
        f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 10)
    ]
    found = {
        "laughs": "\n".join(laughs),
        "chain": "\n".join(chain),
        "merges": "\n".join(merges),
        "long text": f"a: &a {'x' * 60_000}\nb: [{','.join(['*a'] * 1500)}]",
        "too many": f"a: [{'x,' * 20_000}]",
        "too long": "a: " + "x" * 70_000,
        "object": "a: !!python/object/apply:os.system ['touch /tmp/agentplane-owned']",
    }
    for deep in (30, 1000, 30_000, 50_000):
        found |= {
            f"flow {deep}": "a: " + "[" * deep,
            f"closed flow {deep}": "a: " + "[" * deep + "]" * deep,
            f"flow maps {deep}": "a: " + "{a: " * (deep // 2),
            f"dashes {deep}": "- " * deep,
            f"questions {deep}": "? " * deep,
            f"spaced {deep}": "a:\n" + "".join(" " * n + "-\n" for n in range(1, min(deep, 300))),
            f"odd {deep}": "a: \u2028" + "\n- " + "[" * deep,
        }
    return found


RUN_BOMBS = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
from agentplane.text.yaml.yaml12 import YamlError, load
plain = "a: [" + "x, " * 9000 + "]"
start = time.perf_counter(); load(plain); unit = time.perf_counter() - start
out = {}
for name, text in json.load(sys.stdin).items():
    start = time.perf_counter()
    try:
        load(text); result = "read"
    except YamlError as error:
        result = error.problem
    out[name] = [result, (time.perf_counter() - start) / unit]
print(json.dumps(out))
"""


def told_of_bombs():
    """For each bomb what became of it, and its time in units of what an innocent list of 9,000 words takes."""
    texts = bombs()
    run = subprocess.run(
        [sys.executable, "-c", RUN_BOMBS],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    outcome = json.loads(run.stdout)
    assert outcome.keys() == texts.keys()
    return outcome


def test_bombs_are_refused_in_bounded_memory():
    assert [name for name, (result, _) in told_of_bombs().items() if result == "read"] == []


@pytest.mark.timing
def test_bombs_are_refused_fast():
    assert {name: ratio for name, (_, ratio) in told_of_bombs().items() if ratio > 30} == {}


def test_layout_tells_places_in_characters():
    text = "# 😀\n\"k\": 'é'  # c\nlist: # d\n  - 😀\n  # e\nempty:\nnote: |\n  x\n\nid: a\n"
    places = layout(text)
    assert places is not None
    assert not places.flow
    fields = {field.key: field for field in places.fields}
    assert {key: text[field.start : field.end].rstrip() for key, field in fields.items()} == {
        "k": "'é'", "list": "- 😀", "empty": "", "note": "|\n  x", "id": "a",
    }  # fmt: skip
    assert [field.style for field in places.fields] == ["'", "-", "", "|", ""]
    assert layout("- a") is None
    assert layout("\r\n\x85") is None
    assert layout("") is None


@given(st.lists(st.sampled_from(["é", "😀", "a", "\ufeff", "\u2028"]), min_size=1).map("".join))
def test_layout_of_odd_characters(word):
    text = f"# 😀\nfirst: '{word}'\nsecond: b\n"
    places = layout(text)
    assert places is not None
    assert text[places.fields[1].start : places.fields[1].end] == "b"


FRONTMATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


def test_real_headers_read_as_ruamel_reads_them():
    """None of them has anchors, aliases, tags or merge keys that mean something."""
    paths = real_files()
    if not paths:
        pytest.skip("the folder of real files (AGENTPLANE_DATA) is not here")
    read = 0
    for path in paths:
        match = FRONTMATTER.match(path.read_bytes().decode("utf-8", "replace"))
        expected, error = reads(match[1]) if match else (None, True)
        if error is None:
            assert same(load(match[1]), expected), path.name
            read += 1
    assert read > len(paths) / 2


def test_limits_are_those_documented():
    assert (yaml12.MAX_CHARS, yaml12.MAX_NODES, yaml12.MAX_DEPTH) == (65536, 10_000, 20)
    nested = "x"
    for _ in range(20):
        nested = f"[{nested}]"
    assert load(nested)
    with pytest.raises(YamlError):
        load(f"[{nested}]")
