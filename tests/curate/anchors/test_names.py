"""Which part of a text a name means."""

import pytest

from agentplane.curate.anchors.parts import Text, named


def lines(path: str, text: str, name: str) -> list[tuple[int, int]] | None:
    part = named(Text(path, text.encode()), name)
    return None if part is None else list(part.spans)


PYTHON = """import os

LIMIT = 3
A, (B, *C) = 1, (2, 3)


@decorator
class Ledger:
    rate: float = 1.5

    def __init__(self):
        self.entries = []

    def post(self):
        def inner():
            pass

    @property
    def total(self):
        return 1

    @total.setter
    def total(self, value):
        pass


if os.name == "nt":
    def charge():
        return 1
else:
    def charge():
        return 2


class Other:
    def post(self):
        pass
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("LIMIT", [(3, 3)]),
        ("C", [(4, 4)]),
        ("Ledger", [(7, 24)]),
        ("Ledger.rate", [(9, 9)]),
        ("Ledger.post", [(14, 16)]),
        ("Ledger::post", [(14, 16)]),
        ("Ledger.post()", [(14, 16)]),
        ("pay.Ledger.post", [(14, 16)]),
        ("inner", [(15, 16)]),
        ("post", [(14, 16), (36, 37)]),
        ("Ledger.total", [(18, 20), (22, 24)]),
        ("Ledger.entries", [(12, 12)]),
        ("charge", [(28, 29), (31, 32)]),
        ("os.name", [(27, 27)]),
        ("nowhere", None),
    ],
)
def test_names_of_python(name: str, found: list[tuple[int, int]] | None) -> None:
    assert lines("pay.py", PYTHON, name) == found


@pytest.mark.parametrize(
    ("path", "text", "name", "found"),
    [
        ("a.ts", "export class A {\n  m() {}\n}\nconst f = () => {\n  return 1\n}\n", "f", [(4, 6)]),
        ("a.ts", "describe('x', () => {\n  function help() {}\n})\n", "help", [(2, 2)]),
        ("a.ts", "const config = {\n  retry: {\n    max: 3,\n  },\n}\n", "config.retry.max", [(3, 3)]),
        ("a.js", "exports.f = function () {}\nA.prototype.g = 1\n", "A.g", [(2, 2)]),
        ("a.go", "package a\n\nfunc (s *S) M() {}\nfunc (t *T) M() {}\n", "S.M", [(3, 3)]),
        (
            "a.rs",
            "struct S;\nimpl S {\n    fn f() {}\n}\nimpl X for T {\n    fn f() {}\n}\n",
            "T::f",
            [(6, 6)],
        ),
        ("A.java", "class A {\n  void f() {}\n  void f(int a) {}\n}\n", "A#f", [(2, 2), (3, 3)]),
        ("a.md", "# One\n\ntext\n\n## Two words!\n\nmore\n\n# Three\n", "two-words", [(5, 8)]),
        ("a.md", "# A\n\n```\n# B\n```\n\n# B\n", "b", [(7, 7)]),
        ("a.md", "# A\n\nx\n\n# A\n\ny\n", "a-1", [(5, 7)]),
        ("a.rst", "One\n===\n\ntext\n\nTwo\n---\n\nmore\n\nThree\n=====\n", "two", [(6, 10)]),
        ("a.toml", "[tool.ruff]\nline = 1\n\n[tool.mypy]\nx = 2\n", "tool.ruff", [(1, 2)]),
        ("a.toml", "[tool.ruff]\nline = 1\n\n[tool.mypy]\nline = 2\n", "tool.mypy.line", [(5, 5)]),
        ("a.yaml", "retry:\n  max: 3\n  wait: 1\nother: 2\n", "retry", [(1, 3)]),
        ("a.yaml", "retry:\n  max: 3\nother:\n  max: 2\n", "other.max", [(4, 4)]),
        ("a.json", '{\n  "scripts": {\n    "build": "x"\n  },\n  "b": 1\n}\n', "scripts", [(2, 4)]),
        ("Makefile", "all: test\n\ntest: deps\n\trun\n\tmore\n\nlint:\n\truff\n", "test", [(3, 5)]),
        ("run.sh", "a() {\n  x\n}\nfunction b() {\n  y\n}\n", "b", [(4, 6)]),
        ("a.sql", "CREATE TABLE accounts (\n  id int\n);\n", "accounts", [(1, 3)]),
        ("a.kt", "class A {\n    fun post(x: Int) {\n        y\n    }\n}\n", "post", [(2, 4)]),
    ],
)
def test_names_of_other_texts(path: str, text: str, name: str, found: list[tuple[int, int]]) -> None:
    assert lines(path, text, name) == found


def test_a_name_that_is_only_mentioned_means_its_lines() -> None:
    part = named(Text("a.py", b"from b import charge\n\n\ncharge()\n"), "charge")
    assert part is not None
    assert not part.definitions
    assert list(part.spans) == [(1, 1), (4, 4)]
