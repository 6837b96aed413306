"""Text to query and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.query import fields
from agentplane.query.fields import Target
from agentplane.query.parse import EMPTY, Query, QueryError, Term, parse, tokens


def terms(*found: tuple[str, str] | tuple[str, str, bool]) -> tuple[Term, ...]:
    return tuple(Term(*one) for one in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("   ", ()),
        ("Retry  webhooks", (("", "retry"), ("", "webhooks"))),
        ("kind:Fact word", (("kind", "fact"), ("", "word"))),
        ("type:fact", (("kind", "fact"),)),
        ("scope:app/", (("path", "app/"),)),
        ("-word -tag:x", (("", "word", True), ("tag", "x", True))),
        ('"two words" tag:"on call"', (("", "two words"), ("tag", "on call"))),
        ('-"two words" -tag:"on call"', (("", "two words", True), ("tag", "on call", True))),
        (r'"say \"hi\" \\ \n"', (("", r'say "hi" \ \n'),)),
        ('ab"cd', (("", 'ab"cd'),)),
        ('"kind:fact"', (("", "kind:fact"),)),
        ('""', ()),
        ("is:conf", (("is", "conflict"),)),
        ("is:edited", (("is", "manual-edit"),)),
        ("is:expired", (("is", "expired"),)),
        ("older:7d newer:2026-09-01", (("older", "7d"), ("newer", "2026-09-01"))),
        ("- --", (("", "-"), ("", "-", True))),
        ("https://a.b/c std::move app/x.py:12 DEC-001: note: [", None),
    ],
)
def test_a_text_is_read(text: str, expected: tuple[tuple[str, str], ...] | None) -> None:
    found = parse(text, "inbox").terms
    assert found == (
        terms(*expected) if expected is not None else terms(*(("", w.casefold()) for w in text.split()))
    )


def test_the_order_is_not_a_term() -> None:
    assert parse("sort:old word", "memory") == Query(terms(("", "word")), "oldest")
    assert parse("", "runs") == EMPTY


@pytest.mark.parametrize(
    ("text", "target", "line", "place"),
    [
        ("x tol:codex", "inbox", 'Unknown field "tol". Did you mean tool:? To search for the text itself, put the text in quotes.', (2, 11)),
        ("zzzzqq:1", "runs", "The fields are tool, by, run, task, outcome, layer, older, newer, id.", (0, 8)),
        ("task:web", "inbox", "task: doesn't apply to the inbox. The fields are kind,", (0, 8)),
        ("kind:fact", "runs", "kind: doesn't apply to runs.", (0, 9)),
        ("kind:", "inbox", "kind: needs a value. For example, kind:fact.", (0, 5)),
        ("older:", "inbox", "older: needs a value. Use an age", (0, 6)),
        ("is:", "memory", "is: needs a value. Use manual-edit, expired, expiring, pinned.", (0, 3)),
        ("is:confict", "inbox", 'is: has no value "confict". Did you mean is:conflict?', (0, 10)),
        ("is:e", "inbox", '"e" is ambiguous. Use is:manual-edit or is:expired.', (0, 4)),
        ("is:conflict", "memory", "is:conflict doesn't apply to memory.", (0, 11)),
        ("is:snoozed", "memory", "is:snoozed doesn't apply to memory.", (0, 10)),
        ("older:soon", "inbox", '"soon" is not a date or an age. Use an age such as', (0, 10)),
        ('a tag:"x y', "inbox", 'The quote isn\'t closed. Add " at the end.', (2, 10)),
        ("sort:newest sort:oldest", "inbox", "sort: can be used only once.", (12, 23)),
        ("-sort:newest", "inbox", "sort: can't be negated.", (0, 12)),
        ("sort:newest", "runs", "sort: doesn't apply to runs.", (0, 11)),
    ],
)  # fmt: skip
def test_an_error_names_its_place_and_one_fix(
    text: str, target: Target, line: str, place: tuple[int, int]
) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text, target)
    assert line in caught.value.line
    assert (caught.value.start, caught.value.end) == place
    assert caught.value.where == (None if text.endswith(":") else text[slice(*place)])


texts = st.text(max_size=60) | st.lists(
    st.sampled_from([*(f"{one.name}:" for one in fields.FIELDS), "-", '"', "\\", " ", "a", "7d", "is:ready", "ẞ", "x:y"])
    | st.text(max_size=5)
).map("".join)  # fmt: skip
targets = st.sampled_from(["inbox", "memory", "runs"])


@given(texts, targets)
def test_any_text_is_a_query_or_one_line(text: str, target: Target) -> None:
    found = read(text, target)
    if isinstance(found, QueryError):
        assert len(found.line.splitlines()) == 1
        assert 0 <= found.start < found.end <= len(text)
    else:
        assert parse(str(found), target) == found


def read(text: str, target: Target) -> Query | QueryError:
    try:
        return parse(text, target)
    except QueryError as error:
        return error


@given(texts)
def test_the_terms_of_a_text_are_all_of_it_but_space(text: str) -> None:
    found = list(tokens(text))
    assert all(text[one.start : one.end] == one.text != "" for one in found)
    rest = list(text)
    for one in found:
        rest[one.start : one.end] = " " * len(one.text)
    assert not "".join(rest).strip()


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "kind", "tag", "path", "run"]), st.text(min_size=1), st.booleans())
    )
)
def test_a_printed_query_is_read_as_the_same_query(found: list[tuple[str, str, bool]]) -> None:
    query = Query(
        tuple(
            Term(field, value.casefold(), negated)
            for field, value, negated in found
            if value.casefold() == value.casefold().casefold() and (value.strip() or not field)
        )
    )
    assert parse(str(query), "inbox") == query
