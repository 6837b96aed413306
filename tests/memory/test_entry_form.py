"""Texts of entries as fields, and back. What no changed field holds stays to the byte."""

from datetime import date

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentplane.memory import entry_form
from agentplane.memory.entry_form import Form
from agentplane.memory.kinds import BUILT_IN
from agentplane.text import days
from agentplane.text.markdown import document
from tests.text.strategies import Made, files


KINDS = {kind.name: kind for kind in BUILT_IN}
TODAY = date(2026, 11, 20)
HEADER = """id: "DEC-1"  # the id
type: {kind}
note: |-  # kept
   hi
   there
status: accepted   # why
{fields}later: {{ a: 1,b: 2 }}
# end
"""
FIELDS = {
    "tags": [
        "",
        "tags: [ui,  'tui'] # t\n",
        "tags:\n    - ui   # one\n    - a b\n",
        "tags: ui\n",
        "tags: [2024, x]\n",
    ],
    "scope": ["", "scope: [src/**]\n", "scope:\n- 'src/{a,b}/*' # c\n", 'scope: ["a, b"]\n'],
    "evidence": ["", "evidence: [a.py:1, 'b \"q\".py']\n", "evidence: # e\n  - https://x.y/?a=1,2\n"],
    "expires": ["", "expires_at: 2026-12-31\n", "expires_at: '2026-12-31' # soon\n", "expires_at: someday\n"],
}
STATED = [
    "Decision: Use it.",
    "decision:Use it.",
    "Use it.",
    "\n\n  Decision:   Use: it \n",
    "Decision:",
    "Assumption: x",
]
RESTS = [
    "",
    "\nRationale: Because.",
    "\n\nFree text.\n\n- a list\n",
    "\nRationale:\n\n    code\n",
    "\nrationale: é 😀\nmore",
]
WORDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="\x85"), max_size=12
)
ITEMS = st.lists(WORDS | st.sampled_from(["a, b", "{a,b}", '"', "\\", "a\nb", "}{", " x "]), max_size=4)


@st.composite
def cores(draw: st.DrawFn) -> bytes:
    kind = draw(st.sampled_from(["decision", "Decision # k", "'fact'", "other"]))
    fields = "".join(draw(st.sampled_from(each)) for each in draw(st.permutations(list(FIELDS.values()))))
    body = draw(st.sampled_from(STATED)) + draw(st.sampled_from(RESTS))
    start, line_break = draw(st.sampled_from(["", "\ufeff"])), draw(st.sampled_from(["\n", "\r\n"]))
    text = f"{start}---\n{HEADER.format(kind=kind, fields=fields)}---\n{body}"
    return text.replace("\n", line_break).encode()


@given(cores())
def test_a_form_that_was_not_changed_writes_the_same_bytes(core: bytes) -> None:
    form = entry_form.read(core, KINDS)
    assert form is not None
    assert entry_form.write(core, form, KINDS, TODAY) == core
    assert not set(entry_form.problems(form, form, KINDS, TODAY)) - {"statement"}


@given(files(min_size=1), st.data())
def test_any_entry_is_read_or_left_alone(made: Made, drawn: st.DataObject) -> None:
    core = drawn.draw(st.sampled_from(made.cores))
    form = entry_form.read(core, KINDS)
    changed = entry_form.write(core, form or Form(statement="x"), KINDS, TODAY)
    assert changed == core


CHANGES = {
    "statement": WORDS.map(str.strip).filter(bool),
    "rationale": st.lists(WORDS.map(str.strip)).map("\n".join).map(str.strip),
    "tags": ITEMS.map(entry_form.join),
    "scope": ITEMS.map(entry_form.join),
    "evidence": ITEMS.map(entry_form.join),
    "expires": st.dates().map(str) | st.just(""),
    "kind": st.sampled_from(list(KINDS)),
}


@given(cores(), st.sampled_from(list(CHANGES)), st.data())
def test_one_field_changes_and_nothing_else(core: bytes, name: str, drawn: st.DataObject) -> None:
    before = entry_form.read(core, KINDS)
    assert before is not None
    value = drawn.draw(CHANGES[name])
    labels = ("rationale:", *(f"{kind.label.casefold()}:" for kind in BUILT_IN))
    assume(not value.casefold().startswith(labels))
    wanted = msgspec.structs.replace(before, **{name: value})
    changed = entry_form.write(core, wanted, KINDS, TODAY)
    after = entry_form.read(changed, KINDS)
    assume(len(document.parse(changed).blocks) == 1)
    assert after is not None
    assert (
        entry_form.split(getattr(after, name))
        if name in ("tags", "scope", "evidence")
        else getattr(after, name)
    ) == (entry_form.split(value) if name in ("tags", "scope", "evidence") else value)
    assert msgspec.structs.replace(after, **{name: value}) == msgspec.structs.replace(
        wanted, statement=after.statement if name == "kind" else wanted.statement
    )
    for kept in (
        b'id: "DEC-1"  # the id',
        b"note: |-  # kept",
        b"accepted   # why",
        b"later: { a: 1,b: 2 }",
        b"# end",
    ):
        assert kept in changed
    if name in ("tags", "scope", "evidence", "expires"):
        assert changed.endswith(core[core.rindex(b"---") :])


@given(ITEMS)
def test_a_list_is_read_as_it_was_written(items: list[str]) -> None:
    assert entry_form.split(entry_form.join(items)) == [item for item in items if item]


@given(st.text(max_size=30))
def test_any_list_can_be_typed(text: str) -> None:
    items = entry_form.split(text)
    assert entry_form.split(entry_form.join(items)) == items
    assert 0 <= entry_form.last_start(text) <= len(text)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("", []),
        ("a,, b ", ["a", "b"]),
        ("src/{a,b}/**, docs", ["src/{a,b}/**", "docs"]),
        ('"a, b", c', ["a, b", "c"]),
        ('say "x", y', ['say "x"', "y"]),
        ('"a, b', ['"a', "b"]),
    ],
)
def test_items_of_a_list(text: str, items: list[str]) -> None:
    assert entry_form.split(text) == items


def test_a_new_text_has_the_fields_and_is_a_proposal() -> None:
    form = Form("fact", "It rains.", "Look\noutside.", "weather", "src/{a,b}/**", "30d", "a.py:1, b.py")
    text = entry_form.new(form, KINDS, TODAY, id_="NEW", supersedes=["FACT-1"])
    assert text.decode() == (
        "---\nid: NEW\ntype: fact\nstatus: proposed\nsupersedes: [FACT-1]\ntags: [weather]\nscope:\n"
        "  - 'src/{a,b}/**'\nevidence: [a.py:1, b.py]\nexpires_at: '2026-12-20'\n---\n"
        "Fact: It rains.\nRationale: Look\noutside."
    )
    assert entry_form.read(text, KINDS) == msgspec.structs.replace(form, expires="2026-12-20")
    proposal = entry_form.proposal(text, KINDS)
    assert proposal is not None
    assert (proposal.type, proposal.statement, proposal.rationale) == ("fact", "It rains.", "Look\noutside.")
    assert (proposal.scope, proposal.supersedes) == (["src/{a,b}/**"], ["FACT-1"])
    assert proposal.expires_at == "2026-12-20"


def test_another_kind_changes_its_label_and_an_empty_rationale_leaves() -> None:
    core = b"---\nid: X\ntype: decision\nstatus: proposed\n---\nDecision: Use it.\nRationale: Because."
    form = msgspec.structs.replace(entry_form.read(core, KINDS) or Form(), kind="fact", rationale="")
    changed = entry_form.write(core, form, KINDS, TODAY)
    assert changed == b"---\nid: X\ntype: fact\nstatus: proposed\n---\nFact: Use it."


@pytest.mark.parametrize(
    "core",
    [
        b"Decision: no header",
        b"prose\n---\nid: A\ntype: fact\nstatus: proposed\n---\nx",
        b"---\nid: A\ntype: fact\nstatus: proposed\ntags: {a: [b]}\n---\nx",
        b"---\nid: A\n---\nx",
        b"---\nid: A\ntype: fact\nstatus: proposed\n---\n \n\nFact: x",
    ],
)
def test_a_text_that_no_form_can_show_has_none_and_stays(core: bytes) -> None:
    assert entry_form.read(core, KINDS) is None
    assert entry_form.proposal(core, KINDS) is None
    assert entry_form.write(core, Form(statement="y"), KINDS, TODAY) == core


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("statement", "  ", "Statement is required."),
        ("statement", "a\nb", "The statement must be one line."),
        (
            "expires",
            "soon",
            'Invalid date "soon". Use a date such as 2026-12-31 or a number of days such as 30d.',
        ),
        ("expires", "9999w", None),
        ("expires", "2026-11-19", "The expiry date 2026-11-19 is in the past."),
        ("expires", "2026-11-20", None),
        ("expires", " 2W ", None),
        ("tags", '"a, b', "The quote isn't closed. Add \" at the end."),
        ("tags", 'a "b, c', None),
        ("scope", "/etc", "Use a path within the project instead of /etc."),
        ("scope", "src/**, ../x", "Use a path within the project instead of ../x."),
        ("kind", "rumor", "Use one of these kinds: decision, assumption, invariant, fact."),
    ],
)
def test_a_problem_is_one_line_about_one_field(name: str, value: str, problem: str | None) -> None:
    before = Form("fact", "x")
    form = msgspec.structs.replace(before, **{name: value})
    assert entry_form.problems(form, before, KINDS, TODAY) == ({name: problem} if problem else {})


def test_what_was_there_before_is_no_problem_of_this_form() -> None:
    before = Form("rumor", "x", expires="2020-01-01", scope="/etc")
    assert entry_form.problems(before, before, KINDS, TODAY) == {}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("30d", "2026-12-20"),
        ("2w", "2026-12-04"),
        ("2027-01-02", "2027-01-02"),
        ("d", None),
        ("", None),
        ("99999d", None),
    ],
)
def test_the_day_of_a_date_or_an_age(text: str, day: str | None) -> None:
    found = days.ahead(text, TODAY)
    assert (str(found) if found else None) == day


@pytest.mark.parametrize(
    ("text", "added", "removed"),
    [
        ("", (), ()),
        ("ui, -on call, storage", ("ui", "storage"), ("on call",)),
        ('-"a, b", - "c", "-d"', ("-d",), ("a, b", "c")),
        ("on-call, --x", ("on-call",), ("-x",)),
    ],
)
def test_changes_of_a_list(text: str, added: tuple[str, ...], removed: tuple[str, ...]) -> None:
    assert entry_form.changes(text) == (added, removed)


@pytest.mark.parametrize(("text", "is_open"), [('-"a', True), ('"a', True), ('-"a"', False)])
def test_an_open_quote_in_changes_is_a_problem(text: str, is_open: bool) -> None:
    assert bool(entry_form.changes_problem(text)) is is_open
