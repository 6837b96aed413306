"""Definitions and tokens of the files of a release, for the truth that the curator is measured against.

Nothing here uses agentplane. Python is read by `ast` and `tokenize`, TypeScript and JavaScript by the TypeScript
compiler, and Rust, Java and Go by their braces.
"""

import ast
import hashlib
import io
import json
import re
import subprocess
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from tests.bench.curator import braces
from tests.bench.curator.releases import History, Release, cache, typescript


PYTHON = (".py",)
SCRIPT = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
TEXTS = (".md", ".rst", ".txt", ".toml", ".cfg", ".ini", ".json", ".yml", ".yaml")
_WORD = re.compile(r"\w+|[^\w\s]")
_FINDER = Path(__file__).with_name("definitions.cjs")
_NO_CODE = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


class Token(msgspec.Struct, frozen=True):
    text: str
    first: int
    last: int
    is_doc: bool = False
    """True for a docstring."""


class Definition:
    """What a name stands for in a file. Its name is dotted, such as `Class.method`."""

    def __init__(self, source: "Source", name: str, first: int, last: int, found: ast.stmt | dict) -> None:
        self.path, self.name, self.first, self.last = source.path, name, first, last
        self._source, self._found = source, found

    @property
    def place(self) -> str:
        return f"{self.path}#{self.name}"

    @cached_property
    def text(self) -> str:
        """The source as it is, with decorators."""
        if isinstance(self._found, dict):
            return self._found["text"]
        return "\n".join(self._source.part(self.first, self.last))

    @cached_property
    def lines(self) -> list[str]:
        """The whole lines, with what else is on them."""
        return self._source.part(self.first, self.last)

    @cached_property
    def above(self) -> str:
        """The comment lines directly above."""
        lines, at = self._source.lines, self.first - 1
        while at > 0 and lines[at - 1].strip().startswith(("#", "//", "/*", "*")):
            at -= 1
        return "\n".join(lines[at : self.first - 1])

    @cached_property
    def code(self) -> str:
        """The code without comments, layout and docstrings."""
        return (
            "\0".join(self._found["tokens"])
            if isinstance(self._found, dict)
            else self._source.form(self._found)
        )

    @cached_property
    def documented(self) -> str:
        """The code with docstrings."""
        return self.code if isinstance(self._found, dict) else ast.dump(self._found)

    @cached_property
    def nameless(self) -> str:
        """The code without the name of the definition."""
        if isinstance(self._found, dict):
            return "\0".join(self._found["without"])
        return self._source.form(self._found, named=False)

    @cached_property
    def loose(self) -> str:
        """The code without quotes and optional punctuation."""
        if isinstance(self._found, dict):
            return loosely(self._found["tokens"])
        inside = (one for one in self._source.tokens if self.first <= one.first and one.last <= self.last)
        return loosely([one.text for one in inside if not one.is_doc])


class Source:
    """One file of a release."""

    def __init__(self, path: str, data: bytes, script: dict | None) -> None:
        self.path = path
        self.data = data
        self._script = script
        self._forms: dict[int, str] = {}
        self._tree: ast.Module | None = None
        if path.endswith(PYTHON):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    self._tree = ast.parse(data)
                except (SyntaxError, ValueError):
                    self._tree = None

    @cached_property
    def text(self) -> str | None:
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None

    @cached_property
    def lines(self) -> list[str]:
        return (self.text or "").split("\n")

    @property
    def is_parsed(self) -> bool:
        return self._tree is not None or (self._script is not None and not self._script["broken"])

    @cached_property
    def tokens(self) -> list[Token]:
        if self._tree is not None:
            docs = {node.lineno for node in _docstrings(self._tree)}
            try:
                found = list(tokenize.tokenize(io.BytesIO(self.data).readline))
            except (tokenize.TokenError, SyntaxError):
                return []
            return [
                Token(
                    one.string, one.start[0], one.end[0], one.type == tokenize.STRING and one.start[0] in docs
                )
                for one in found
                if one.type not in _NO_CODE
            ]
        if self._script is not None:
            return [Token(*one) for one in self._script["tokens"]]
        return []

    @cached_property
    def definitions(self) -> list[Definition]:
        if self._tree is not None:
            return [
                Definition(self, name, _first_line(node), node.end_lineno or node.lineno, node)
                for node, name in _defined(self._tree.body, ())
            ]
        if self._script is not None:
            return [
                Definition(self, found["name"], found["start"], found["end"], found)
                for found in self._script["definitions"]
            ]
        return []

    @cached_property
    def imported(self) -> frozenset[str]:
        """Names that the file binds without a definition that is compared here."""
        if self._tree is None:
            return frozenset()
        names = [
            (alias.asname or alias.name).partition(".")[0]
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        ]
        stored = [
            node.id
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        return frozenset(names + stored)

    @cached_property
    def code(self) -> str | None:
        """The whole file without comments, layout and docstrings."""
        if self._tree is not None:
            return self.form(self._tree)
        return "\0".join(token.text for token in self.tokens) if self.is_parsed else None

    @cached_property
    def documented(self) -> str | None:
        return ast.dump(self._tree) if self._tree is not None else self.code

    @cached_property
    def loose(self) -> str | None:
        return loosely([token.text for token in self.tokens if not token.is_doc]) if self.is_parsed else None

    @cached_property
    def plain_tokens(self) -> list[Token]:
        """The tokens without docstrings."""
        return [token for token in self.tokens if not token.is_doc]

    @cached_property
    def token_text(self) -> str:
        return "\0".join(("", *(token.text for token in self.plain_tokens), ""))

    @cached_property
    def dedented(self) -> str:
        return dedented(self.lines)

    @cached_property
    def squeezed(self) -> str:
        return squeezed(self.lines)

    @cached_property
    def counted(self) -> Counter[str]:
        """How often the file has each line."""
        return Counter(line.strip() for line in self.lines if line.strip())

    def form(self, node: ast.AST, *, named: bool = True) -> str:
        """Return code without comments, layout and docstrings."""
        return _form(node, self._forms, named=named)

    def part(self, first: int, last: int) -> list[str]:
        return self.lines[first - 1 : last]


def squeezed(lines: Sequence[str]) -> str:
    """Return all characters but spaces, with a mark for each border of words."""
    return "\n" + "\n".join(_WORD.findall("\n".join(lines))) + "\n"


def dedented(lines: Sequence[str]) -> str:
    return "\n" + "\n".join(line.strip() for line in lines if line.strip()) + "\n"


class Tree:
    """The files of a release."""

    def __init__(self, release: Release, known: dict[tuple[str, bytes], Source]) -> None:
        """Read a release. Files that didn't change since another one are taken from `known`."""
        script = _script(release.tree)
        self.sources: dict[str, Source] = {}
        for found in sorted(release.tree.rglob("*")):
            if found.is_file():
                path, data = str(found.relative_to(release.tree)), found.read_bytes()
                if (path, data) not in known:
                    known[path, data] = Source(path, data, script.get(path) or _braced(path, data))
                self.sources[path] = known[path, data]

    @cached_property
    def by_name(self) -> dict[str, list[Definition]]:
        return _grouped((one.name.rpartition(".")[2], one) for one in self.definitions)

    @cached_property
    def by_code(self) -> dict[str, list[Definition]]:
        return _grouped((one.code, one) for one in self.definitions)

    @cached_property
    def by_nameless(self) -> dict[str, list[Definition]]:
        return _grouped((one.nameless, one) for one in self.definitions)

    @cached_property
    def definitions(self) -> list[Definition]:
        return [one for source in self.sources.values() for one in source.definitions]

    def defined(self, path: str, name: str) -> list[Definition]:
        source = self.sources.get(path)
        return [one for one in source.definitions if one.name == name] if source else []


def trees_of(history: History) -> list[Tree]:
    known: dict[tuple[str, bytes], Source] = {}
    return [Tree(release, known) for release in history.releases]


def _grouped(pairs: Iterable[tuple[str, Definition]]) -> dict[str, list[Definition]]:
    found: dict[str, list[Definition]] = {}
    for key, one in pairs:
        found.setdefault(key, []).append(one)
    return found


def _braced(path: str, data: bytes) -> dict | None:
    language = braces.ENDINGS.get(Path(path).suffix)
    try:
        return braces.read(data.decode(), language) if language else None
    except UnicodeDecodeError:
        return None


def _script(folder: Path) -> dict[str, dict]:
    if not any(path.suffix in SCRIPT for path in folder.rglob("*")):
        return {}
    version = hashlib.sha256(_FINDER.read_bytes()).hexdigest()[:8]
    kept = cache() / "definitions" / version / f"{folder.parent.name}-{folder.name}.json"
    if not kept.exists():
        done = subprocess.run(("node", str(_FINDER), str(typescript()), str(folder)), capture_output=True)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(done.stdout)
    return json.loads(kept.read_bytes())


def _defined(body: Sequence[ast.stmt], outer: tuple[str, ...]) -> Iterator[tuple[ast.stmt, str]]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node, ".".join((*outer, name))
            case ast.ClassDef(name=name):
                yield node, ".".join((*outer, name))
                yield from _defined(node.body, (*outer, name))
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield node, ".".join((*outer, name))
            case ast.If() | ast.Try() | ast.With():
                for part in ("body", "orelse", "finalbody"):
                    yield from _defined(getattr(node, part, []), outer)
                for handler in getattr(node, "handlers", []):
                    yield from _defined(handler.body, outer)


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])


def _docstring(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
        match node.body[0]:
            case ast.Expr(value=ast.Constant(value=str()) as found):
                return found
    return None


def _docstrings(tree: ast.AST) -> Iterator[ast.expr]:
    return (found for node in ast.walk(tree) if (found := _docstring(node)) is not None)


def _form(node: object, known: dict[int, str], *, named: bool = True) -> str:
    """Return code as a text without positions and docstrings. The texts of statements are kept in `known`."""
    if isinstance(node, list):
        return f"[{','.join(_form(one, known) for one in node)}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    kept = known.get(id(node)) if named else None
    if kept is None:
        fields = dict(ast.iter_fields(node))
        if _docstring(node) is not None:
            fields["body"] = fields["body"][1:]
        if not named:
            fields = {**fields, **_NAMELESS.get(type(node), {"name": ""})}
        kept = f"{type(node).__name__}({','.join(_form(value, known) for value in fields.values())})"
        if named and isinstance(node, ast.stmt):
            known[id(node)] = kept
    return kept


_NAMELESS = {ast.Assign: {"targets": ""}, ast.AnnAssign: {"target": ""}}


def loosely(tokens: Sequence[str]) -> str:
    """Return the tokens without what a formatter may change: quotes, trailing commas, semicolons, parentheses."""
    kept = []
    for at, token in enumerate(tokens):
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        if token in ("(", ")", ";") or (token == "," and after in (")", "]", "}", ">")):
            continue
        kept.append(token.replace('"', "'").removeprefix("u'").strip("'") if token[-1:] in "'\"" else token)
    return "\0".join(kept)
