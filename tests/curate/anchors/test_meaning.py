"""Which texts mean the same, and which don't. Equal code has one meaning, and every other difference counts."""

import pytest

from agentplane.curate.anchors.parts import Text, named


def meaning(path: str, text: str, name: str) -> str:
    part = named(Text(path, text.encode()), name)
    assert part is not None
    assert part.definitions, "it is only mentioned"
    found = part.meaning
    assert found is not None
    return found.digest


SAME = {
    "py comments": ("a.py", "def f(a):\n    return a\n", "def f(a):  # x\n    # y\n    return a\n"),
    "py layout": ("a.py", "def f(a, b=1): return {'x': (a)}\n", 'def f(\n    a,\n    b=1,\n):\n    return {\n        "x": a,\n    }\n'),
    "py quotes": ("a.py", "def f():\n    return 'a' 'b'\n", 'def f():\n    return "ab"\n'),
    "py docstring indentation": ("a.py", 'def f():\n    """A.\n\n    B.\n    """\n', 'def f():\n    """A.\n\n       B.\n    """\n'),
    "py numbers": ("a.py", "def f():\n    return 1_000\n", "def f():\n    return 1000\n"),
    "ts layout": ("a.ts", "function f(a: X) { return { a: 1, b: [2] } }\n", "function f(\n  a: X,\n) {\n  return {\n    a: 1,\n    b: [2],\n  };\n}\n"),
    "ts quotes": ("a.ts", "const f = 'it\\'s';\n", 'const f = "it\'s"\n'),
    "js arrow": ("a.js", "const f = x => x + 1\n", "const f = (x) => (x + 1);\n"),
    "ts arrow": ("a.ts", "const f = x => x\n", "const f = (x) => x;\n"),
    "tsx text": ("a.tsx", "function f() { return <b>a b</b> }\n", "function f() {\n  return (\n    <b>\n      a b\n    </b>\n  );\n}\n"),
    "ts interface": ("a.ts", "interface f { a: string, b: number }\n", "interface f {\n  a: string;\n  b: number;\n}\n"),
    "ts export": ("a.ts", "function f() {}\n", "export function f() {}\n"),
    "go layout": ("a.go", "package a\n\nfunc f(a int) int { return g(a, 1) }\n", "package a\n\nfunc f(a int) int {\n\treturn g(\n\t\ta,\n\t\t1,\n\t)\n}\n"),
    "go group": ("a.go", "package a\n\nvar f = 1\n", "package a\n\nvar (\n\tf = 1\n\tg = 2\n)\n"),
    "rust layout": ("a.rs", "fn f(a: u8) -> u8 { g(a, 1) }\n", "fn f(\n    a: u8,\n) -> u8 {\n    // x\n    g(a, 1)\n}\n"),
    "java layout": ("A.java", "class A { int f(int a) { return a; } }\n", "class A {\n  /** x */\n  int f(int a)\n  {\n    return a;\n  }\n}\n"),
    "c layout": ("a.c", "int f(int a) { return a; }\n", "int f(int a)\n{\n    /* x */\n    return a;\n}\n"),
    "cpp layout": ("a.cpp", "int f(int a) { return a; }\n", "int\nf(int a)\n{\n    return a; // x\n}\n"),
    "cs layout": ("a.cs", "class A { int f(int a) { return a; } }\n", "class A\n{\n    int f(int a)\n    {\n        return a; // x\n    }\n}\n"),
    "ruby layout": ("a.rb", "def f(a)\n  a\nend\n", "# x\ndef f(a)\n\n    a # y\nend\n"),
    "md line breaks": ("a.md", "# f\n\nOne two\nthree.\n", "# f\n\nOne two three.\n"),
}  # fmt: skip

DIFFERENT = {
    "py operator": ("a.py", "def f(a):\n    return a < 1\n", "def f(a):\n    return a <= 1\n"),
    "py default": ("a.py", "def f(a=1):\n    return a\n", "def f(a=2):\n    return a\n"),
    "py type of a number": ("a.py", "def f():\n    return 1\n", "def f():\n    return 1.0\n"),
    "py bytes": ("a.py", "def f():\n    return 'a'\n", "def f():\n    return b'a'\n"),
    "py true": ("a.py", "def f():\n    return 1\n", "def f():\n    return True\n"),
    "py own name": ("a.py", "def f():\n    return f()\n", "def f():\n    return g()\n"),
    "py decorator": ("a.py", "@a\ndef f():\n    pass\n", "@b\ndef f():\n    pass\n"),
    "py async": ("a.py", "def f():\n    pass\n", "async def f():\n    pass\n"),
    "py keyword only": ("a.py", "def f(a, b):\n    pass\n", "def f(a, *, b):\n    pass\n"),
    "py annotation": ("a.py", "def f(a: int):\n    pass\n", "def f(a: str):\n    pass\n"),
    "py docstring": ("a.py", 'def f():\n    """A."""\n', 'def f():\n    """B."""\n'),
    "py block": ("a.py", "def f():\n    if a:\n        b()\n        c()\n", "def f():\n    if a:\n        b()\n    c()\n"),
    "py overload": ("a.py", "def f():\n    pass\n", "def f():\n    pass\n\n\ndef f():\n    return 1\n"),
    "py order": ("a.py", "class f:\n    a = 1\n    b = 2\n", "class f:\n    b = 2\n    a = 1\n"),
    "py formatted": ("a.py", "def f():\n    return f'{a!r}'\n", "def f():\n    return f'{a!s}'\n"),
    "ts await": ("a.ts", "async function f() { await g() }\n", "async function f() { g() }\n"),
    "ts optional": ("a.ts", "interface f { a: string }\n", "interface f { a?: string }\n"),
    "ts const": ("a.ts", "const f = 1\n", "let f = 1\n"),
    "ts equality": ("a.ts", "function f() { return a == b }\n", "function f() { return a === b }\n"),
    "ts space in a string": ("a.ts", "const f = 'a b'\n", "const f = 'a  b'\n"),
    "ts space in a template": ("a.ts", "const f = `a b ${c} d`\n", "const f = `a b ${c}  d`\n"),
    "ts only space in a string": ("a.ts", "const f = ' '\n", "const f = '  '\n"),
    "ts regex": ("a.ts", "const f = /a b/g\n", "const f = /a  b/g\n"),
    "ts escape": ("a.ts", "const f = 'a\\\\n'\n", "const f = 'a\\n'\n"),
    "js hole": ("a.js", "const f = [,]\n", "const f = []\n"),
    "js holes": ("a.js", "const f = [1,,]\n", "const f = [1,]\n"),
    "js line end": ("a.js", "function f() { return\n1 }\n", "function f() { return 1 }\n"),
    "js optional chain": ("a.js", "const f = (a?.b).c\n", "const f = a?.b.c\n"),
    "js precedence": ("a.js", "const f = (a + b) * c\n", "const f = a + b * c\n"),
    "ts decorator": ("a.ts", "class A { @x() f() {} }\n", "class A { @y() f() {} }\n"),
    "go constant above": ("a.go", "package a\n\nconst (\n\tg = iota\n\tf\n)\n", "package a\n\nconst (\n\tg = iota\n\th\n\tf\n)\n"),
    "go constant repeated": ("a.go", "package a\n\nconst (\n\tg = 1\n\tf\n)\n", "package a\n\nconst (\n\tg = 2\n\tf\n)\n"),
    "go tag": ("a.go", 'package a\n\ntype f struct {\n\tA int `json:"a"`\n}\n', 'package a\n\ntype f struct {\n\tA int `json:"b"`\n}\n'),
    "go directive": ("a.go", "package a\n\n//go:embed a.sql\nvar f string\n", "package a\n\n//go:embed b.sql\nvar f string\n"),
    "go pointer": ("a.go", "package a\n\nfunc (t T) f() {}\n", "package a\n\nfunc (t *T) f() {}\n"),
    "rust semicolon": ("a.rs", "fn f() -> u8 { a }\n", "fn f() -> u8 { a; }\n"),
    "rust attribute": ("a.rs", "#[a]\nfn f() {}\n", "#[b]\nfn f() {}\n"),
    "rust tuple": ("a.rs", "const f: X = (a,);\n", "const f: X = (a);\n"),
    "rust macro comma": ("a.rs", "fn f() { m!(a,) }\n", "fn f() { m!(a) }\n"),
    "rust mutability": ("a.rs", "fn f(a: &T) {}\n", "fn f(a: &mut T) {}\n"),
    "java annotation": ("A.java", "class A { @X void f() {} }\n", "class A { @Y void f() {} }\n"),
    "java modifier": ("A.java", "class A { static int f = 1; }\n", "class A { int f = 1; }\n"),
    "c member above": ("a.c", "enum e { a, f };\n", "enum e { a, b, f };\n"),
    "c macro": ("a.c", "#define f(x) (x)\n", "#define f(x) x\n"),
    "cpp const": ("a.cpp", "int f(int& a) { return a; }\n", "int f(const int& a) { return a; }\n"),
    "cs default": ("a.cs", "class A { void f(int a = 1) {} }\n", "class A { void f(int a = 2) {} }\n"),
    "ruby symbol": ("a.rb", "def f\n  :a\nend\n", "def f\n  :b\nend\n"),
    "ruby string": ("a.rb", "def f\n  'a#{b}'\nend\n", 'def f\n  "a#{b}"\nend\n'),
    "md words": ("a.md", "# f\n\nOne.\n", "# f\n\nTwo.\n"),
    "md code": ("a.md", "# f\n\n```\na b\n```\n", "# f\n\n```\na  b\n```\n"),
    "toml value": ("a.toml", "[f]\na = 1\n", "[f]\na = 2\n"),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME)
def test_layout_and_comments_dont_count(case: str) -> None:
    path, one, other = SAME[case]
    assert meaning(path, one, "f") == meaning(path, other, "f")


@pytest.mark.parametrize("case", DIFFERENT)
def test_every_other_difference_counts(case: str) -> None:
    path, one, other = DIFFERENT[case]
    assert meaning(path, one, "f") != meaning(path, other, "f")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def {}(a):\n    return {}(a - 1)\n"),
        ("a.ts", "function {}(a) {{ return {}(a - 1) }}\n"),
        ("a.go", "package a\n\nfunc {}(a int) int {{\n\treturn {}(a - 1)\n}}\n"),
        ("a.rs", "fn {}(a: u8) -> u8 {{ {}(a - 1) }}\n"),
        ("A.java", "class A {{ int {}(int a) {{ return {}(a - 1); }} }}\n"),
    ],
)
def test_the_own_name_of_a_definition_doesnt_count(path: str, text: str) -> None:
    one, other = text.format("first", "first"), text.format("second", "second")
    assert meaning(path, one, "first") == meaning(path, other, "second")
    wrong = text.format("second", "first")
    assert meaning(path, one, "first") != meaning(path, wrong, "second")


def test_the_digest_of_python_code_stays_the_same() -> None:
    """Operations of other machines have it, with other versions of Python. A new one needs another `_WAY`."""
    text = '@d(1)\nclass A(B, m=C):\n    """D."""\n    x: int = 0x10\n\n    async def f(self, *a, k=b"x", **n) -> None:\n        return f"{a!r:>{k}}"\n'
    assert meaning("a.py", text, "A") == "py1:8fd8b502dda25dfe0afb29a4ef1cc158"
