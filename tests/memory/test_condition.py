"""The grammar of `check`: each form, the place of each mistake, and who is refused."""

import re
import sys
from datetime import date
from pathlib import Path
from typing import get_args

import pytest

from agentplane.api import Plane
from agentplane.commands import Adopt
from agentplane.errors import BadInput, Refused
from agentplane.memory import condition, condition_place
from agentplane.memory.condition import (
    Before,
    FileIs,
    Problem,
    RegexIn,
    Run,
    SymbolIn,
    TextIn,
    VersionIs,
)
from agentplane.memory.proposing import Proposal
from agentplane.memory.version_spec import Clause
from tests.conftest import UNLIKE, approve_seen


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("file: docs/api.md exists", FileIs("docs/api.md", missing=False)),
        ("file: my notes.md missing", FileIs("my notes.md", missing=True)),
        ('file: "my notes.md" exists', FileIs("my notes.md", missing=False)),
        ("file: ./docs//api/ exists", FileIs("docs/api", missing=False)),
        ('text: "a = 1" in app/x.py', TextIn("a = 1", "app/x.py")),
        (r'text: "say \"in\"\n" in src/**/*.py', TextIn('say "in"\n', "src/**/*.py")),
        (r"regex: ^def \w+ in \d in app/x.py", RegexIn(r"^def \w+ in \d", "app/x.py")),
        ("regex: a in app/[id]/page.tsx", RegexIn("a", "app/[id]/page.tsx")),
        ('regex: a in "b c.py"', RegexIn("a", "b c.py")),
        ("symbol: app/money.py#Money.add", SymbolIn("app/money.py", "Money.add")),
        ("before: 2026-12-31", Before(date(2026, 12, 31))),
        ("run: make test # all", Run("make test # all")),
        ("run: set -e\nmake\nmake test\n", Run("set -e\nmake\nmake test")),
    ],
)
def test_each_form(text: str, wanted: condition.Condition) -> None:
    assert condition.parse(text) == wanted


@pytest.mark.parametrize(
    ("text", "ecosystem", "name", "clauses"),
    [
        ("version: django >=4,<5", None, "django", ((Clause(">=", "4"), Clause("<", "5")),)),
        (
            "version: npm:@types/node ^20 || 22.x",
            "npm",
            "@types/node",
            ((Clause("^", "20"),), (Clause("", "22.x"),)),
        ),
        ("version: maven:org.x:core 1 - 2", "maven", "org.x:core", ((Clause(">=", "1"), Clause("<=", "2")),)),
        ("version: org.x:core ~= 1.4", None, "org.x:core", ((Clause("~=", "1.4"),),)),
        (
            "version: go:github.com/x/y >=v1.2 <2",
            "go",
            "github.com/x/y",
            ((Clause(">=", "v1.2"), Clause("<", "2")),),
        ),
    ],
)
def test_versions(text: str, ecosystem: str, name: str, clauses: tuple[tuple[Clause, ...], ...]) -> None:
    found = condition.parse(text)
    assert isinstance(found, VersionIs)
    assert (found.ecosystem, found.name, found.spec.alternatives) == (ecosystem, name, clauses)


@pytest.mark.parametrize(
    ("text", "at", "what"),
    [
        ("python -m pytest", 0, "`run:`"),
        ("  make test", 2, "`run:`"),
        ("files: a exists", 0, "`file:`"),
        ("file: a.md", 10, "`exists` or `missing`"),
        ("file: src/*.py exists", 6, "one file"),
        ("file: ../a exists", 6, "relative to the top of the project"),
        ("file: /etc/passwd exists", 6, "relative to the top of the project"),
        ("file: a/../../b exists", 6, "relative to the top of the project"),
        ("file: .git/config exists", 6, "relative to the top of the project"),
        (r"file: C:\a exists", 6, "relative to the top of the project"),
        ("text: a in b", 6, "double quotes"),
        ('text: " " in b', 6, "isn't empty"),
        ('text: "a" b', 9, "`in`"),
        ('text: "a" in ../b', 13, "relative to the top of the project"),
        ("regex: a b", 10, "`in`"),
        ("regex: a(b in c", 8, "Python's syntax"),
        ("regex: x{99999999999} in c", 7, "simpler"),
        ("symbol: app/money.py", 20, "`#`"),
        ("version: django", 15, "version range"),
        ("version: django >=4,", 20, "version range"),
        ("version: django >=4 oops", 20, "version range"),
        ("version: django ^1 || >", 22, "version range"),
        ("version: -r >=4", 9, "name of a package"),
        ("before: tomorrow", 8, "date"),
        ("before: 2026-02-30", 8, "date"),
        ("run:   ", 7, "a command"),
        ("run: a\x1b[2J", 6, "hidden character"),
        ("run: echo \u202egnp.exe", 10, "hidden character"),
        ("file: a\u200b exists", 7, "hidden character"),
        ("run: a\u2028b", 6, "hidden character"),
        ("file: a\nb exists", 7, "one line"),
        ("before: " + "9" * 2000, 1000, "1,000 characters"),
        ("run: " + "x" * 5000, 4000, "4,000 characters"),
    ],
)
def test_the_place_of_each_mistake(text: str, at: int, what: str) -> None:
    found = condition.parse(text)
    assert isinstance(found, Problem)
    assert what in found.what
    assert found.offset == at


def test_a_pattern_that_the_parser_cant_take_is_a_problem() -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(250)
    try:
        found = condition.parse(f"regex: {'(' * 400}{')' * 400} in a")
    finally:
        sys.setrecursionlimit(before)
    assert isinstance(found, Problem)
    assert "simpler" in found.what


@pytest.mark.parametrize(
    ("header", "offset", "wanted"),
    [
        ("id: X\ncheck: make\n", 2, (2, 10)),
        ("id: X\ncheck: 'file: it''s'\n", 10, (2, 20)),
        ('id: X\ncheck: "a\\"b\\u0041c"\n', 4, (2, 19)),
        ("check: |\n  make\n", 1, (2, 4)),
        ("id: X\n", 3, (1, 1)),
    ],
)
def test_the_place_in_a_header(header: str, offset: int, wanted: tuple[int, int]) -> None:
    found = condition_place.place(header, offset)
    assert (found.line, found.column) == wanted


def _assumption(plane: Plane, check: str | None, statement: str = UNLIKE[0]) -> str:
    return plane.propose(Proposal(type="assumption", statement=statement, check=check))


def test_a_proposal_with_a_check_that_cant_be_read_is_refused(plane: Plane) -> None:
    with pytest.raises(Refused, match=r"is invalid at column 11: expected `exists` or `missing`"):
        _assumption(plane, "file: a.md")
    assert plane.memory.read().inbox == []
    plane.layout.config.write_text('[gate]\ncheck = "flag"\n')
    (seen,) = plane.inbox.review([_assumption(plane, "file: a.md")])
    assert any("check: is invalid" in flag for flag in seen.flags)


def test_an_edit_with_such_a_check_is_refused_with_its_place(plane: Plane) -> None:
    candidate = _assumption(plane, "file: a.md exists")
    id_ = approve_seen(plane, candidate).renamed[candidate]
    memory = plane.memory.read()
    entry = memory.get(id_)
    text = memory.snapshot.core(entry.file, id_) or b""
    line = text[: text.index(b"check:")].count(b"\n") + 1
    for new, column in ((b"'file: a.md exist'", 25), (b"make test", 8)):
        changed = text.replace(b"'file: a.md exists'", new)
        assert changed != text
        with pytest.raises(BadInput) as raised:
            plane.memory.edit(id_, changed, entry.digest)
        assert raised.value.where == f"{id_}:{line}:{column}"
    plane.memory.edit(id_, text.replace(b"a.md", b"b.md"), entry.digest)
    assert plane.memory.read().get(id_).head.check == "file: b.md exists"


def test_a_manual_edit_with_such_a_check_isnt_accepted(plane: Plane) -> None:
    candidate = _assumption(plane, "file: a.md exists")
    id_ = approve_seen(plane, candidate).renamed[candidate]
    file = plane.layout.memory / "assumptions.md"
    whole = file.read_text()
    file.write_text(whole.replace("'file: a.md exists'", "make test"))
    line = file.read_text().splitlines().index("check: make test") + 1
    with pytest.raises(BadInput) as raised:
        plane.do(Adopt((id_,)))
    assert raised.value.where == f".agentplane/memory/assumptions.md:{line}:8"
    file.write_text(whole.replace("'file: a.md exists'", "'run: make test'"))
    plane.do(Adopt((id_,)))
    assert plane.memory.read().get(id_).head.check == "run: make test"


def test_an_old_command_doesnt_keep_people_from_other_edits(plane: Plane) -> None:
    plane.layout.config.write_text('[gate]\ncheck = "off"\n')
    candidate = _assumption(plane, "make test")
    id_ = approve_seen(plane, candidate).renamed[candidate]
    plane.layout.config.write_text("")
    memory = plane.memory.read()
    entry = memory.get(id_)
    text = memory.snapshot.core(entry.file, id_) or b""
    plane.memory.edit(id_, text + b"\nRationale: It is so.", entry.digest)
    file = plane.layout.memory / "assumptions.md"
    file.write_text(file.read_text().replace("It is so.", "It was so."))
    plane.do(Adopt((id_,)))
    assert "It was so." in plane.memory.read().get(id_).body


def test_every_example_of_the_docs_can_be_read() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/conditions.md").read_text()
    rows = re.findall(r"^\| `\w+: [^|]* \| `([^|]+)` \|", page, re.MULTILINE)
    assert {type(condition.parse(row)) for row in rows} == {*get_args(condition.Condition)}
    assert len(rows) == 8
