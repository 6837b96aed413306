"""Definitions of Python code, read with `ast`.

The digests are the same in all versions of Python. For this reason the fields that one version adds to a node
count only if they aren't empty.
"""

import ast
import inspect
import io
import sys
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property

from agentplane.curate.anchors.source import Definition, Meaning, meaning_of


_WAY = "py1"
# Since Python 3.12, a formatted string has several tokens.
_TOKENS = "py1t" if sys.version_info < (3, 12) else "py2t"
_FILENAME = "agentplane evidence"
_IGNORED = frozenset(("ctx", "type_comment", "type_ignores", "kind"))
_OWN_NAME = "\0own"

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
_LAYOUT = frozenset((tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER))
_BLOCKS = frozenset((tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE))
_BLOCK_NAMES = frozenset(tokenize.tok_name[kind] for kind in _BLOCKS)


class PythonSource:
    """Parsed Python code."""

    error_line: int | None = None

    def __init__(self, data: bytes, tree: ast.Module) -> None:
        self._data = data
        self._tree = tree
        self._nodes: dict[str, list[ast.AST]] = {}
        for name, node in _defined(tree):
            self._nodes.setdefault(name, []).append(node)

    @cached_property
    def definitions(self) -> Sequence[Definition]:
        found = [(name, tuple(map(_lines, nodes))) for name, nodes in self._nodes.items()]
        return [Definition(name, spans, number) for number, (name, spans) in enumerate(found)]

    def meaning(self, definition: Definition) -> Meaning | None:
        nodes = self._nodes[definition.name]
        return meaning_of(_WAY, _tokens(nodes, definition.own))

    def whole(self) -> Meaning | None:
        return meaning_of(_WAY, _tokens([self._tree], None))

    def between(self, first: int, last: int) -> Meaning | None:
        """Return the meaning of these lines. Blocks count, but not the indentation itself.

        None if the lines have no code, or only a part of a string, because then their text is what counts.
        """
        words: list[str] = []
        try:
            for token in tokenize.tokenize(io.BytesIO(self._data).readline):
                (begin, _), (end, _) = token.start, token.end
                is_word = token.type not in _LAYOUT and token.type not in _BLOCKS
                if is_word and (begin < first <= end or begin <= last < end):
                    return None
                if first <= begin <= last and token.type not in _LAYOUT:
                    words.append(_word(token))
                if begin > last:
                    break
        except (tokenize.TokenError, SyntaxError, ValueError):
            return None
        while words and words[0] in _BLOCK_NAMES:
            words.pop(0)
        while words and words[-1] in _BLOCK_NAMES:
            words.pop()
        return meaning_of(_TOKENS, words) if words else None


def parse(data: bytes) -> PythonSource | int:
    """Return the parsed code, or the line of its syntax error."""
    # Code with odd escapes would print warnings. This has no effect if the filter is there already.
    warnings.filterwarnings("ignore", module=_FILENAME)
    try:
        return PythonSource(data, ast.parse(data, _FILENAME))
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):  # a null byte, or too many nested parts
        return 1


def _word(token: tokenize.TokenInfo) -> str:
    if token.type in _BLOCKS:
        return tokenize.tok_name[token.type]
    if token.type == tokenize.STRING and len(token.string) < 10_000:
        try:
            return f"string {ast.literal_eval(token.string)!r}"
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return token.string
    return token.string


def _defined(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield the definitions with their dotted names, in the order of the code."""
    attributes: list[tuple[str, ast.AST]] = []
    names: set[str] = set()
    waiting: list[tuple[ast.AST, str, ast.AST]] = [(node, "", tree) for node in reversed(tree.body)]
    while waiting:
        node, prefix, scope = waiting.pop()
        if isinstance(node, _SCOPES):
            name = f"{prefix}{node.name}"
            names.add(name)
            yield name, node
            inside = [(one, f"{name}.", node) for one in node.body]
            waiting.extend(reversed(inside))
            continue
        for target in () if isinstance(scope, _FUNCTIONS) else _targets(node):
            names.add(f"{prefix}{target}")
            yield f"{prefix}{target}", node
        if isinstance(scope, _FUNCTIONS):
            holder = prefix.removesuffix(f"{scope.name}.")
            attributes += [(f"{holder}{name}", node) for name in _own_attributes(node)]
        waiting.extend((one, prefix, scope) for one in reversed(list(_blocks(node))))
    # An attribute that only methods assign is defined there.
    yield from ((name, node) for name, node in attributes if name not in names and "." in name)


def _targets(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement assigns."""
    match node:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from (one.id for one in _flat(target) if isinstance(one, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case _ if type(node).__name__ == "TypeAlias":  # Python 3.12
            yield getattr(getattr(node, "name", None), "id", "")


def _own_attributes(node: ast.AST) -> Iterator[str]:
    """Yield the names of the attributes of `self` that a statement assigns."""
    targets: Sequence[ast.expr] = ()
    match node:
        case ast.Assign(targets=several):
            targets = several
        case ast.AnnAssign(target=one):
            targets = [one]
    for target in targets:
        for part in _flat(target):
            match part:
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    yield name


def _flat(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _flat(part)
    else:
        yield target


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements in the blocks of a statement."""
    for field in ("body", "handlers", "cases", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield from (one for one in block if isinstance(one, ast.AST))


def _lines(node: ast.AST) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", ())
    first = min(getattr(one, "lineno", 1) for one in (node, *decorators))
    return first, getattr(node, "end_lineno", None) or first


def _tokens(nodes: Sequence[ast.AST], own: str | None) -> Iterator[str]:
    """Yield the code as a list of words. Equal lists are equal code, and only names, values and structure count."""
    waiting: list[object] = list(reversed(nodes))
    while waiting:
        match waiting.pop():
            case str() as mark:
                yield mark
            case ast.Constant(value=value):
                yield _OWN_NAME if own is not None and value == own else _constant(value)
            case ast.AST() as node:
                yield f"({type(node).__name__}"
                waiting.append(")")
                waiting.extend(reversed(list(_fields(node, own))))
            case list() as several:
                yield "["
                waiting.append("]")
                waiting.extend(reversed(several))
            case None:
                yield "None"


def _fields(node: ast.AST, own: str | None) -> Iterator[object]:
    for name in node._fields:
        value = getattr(node, name, None)
        if name in _IGNORED or value is None or value == []:
            continue
        yield f".{name}"
        if isinstance(value, str):
            yield _OWN_NAME if value == own else f"={value}"
        elif name == "body" and isinstance(node, (*_SCOPES, ast.Module)):
            yield _with_plain_docstring(value)
        elif isinstance(node, ast.JoinedStr):
            yield [one for one in value if not _is_empty(one)]
        elif isinstance(value, list):
            yield [f"={one}" if isinstance(one, str) else one for one in value]
        elif isinstance(value, ast.AST):
            yield value
        else:
            yield f"={value!r}"


def _with_plain_docstring(body: list[ast.stmt]) -> list[object]:
    """Return statements in which the docstring has no indentation, because that is layout."""
    match body:
        case [ast.Expr(value=ast.Constant(value=str(text))), *rest]:
            lines = [line.rstrip() for line in inspect.cleandoc(text).splitlines()]
            return [f"docstring {chr(10).join(lines).strip()!r}", *rest]
    return list(body)


def _is_empty(node: object) -> bool:
    """True for an empty part of a formatted string, which only Python 3.12 adds."""
    return isinstance(node, ast.Constant) and node.value == ""


def _constant(value: object) -> str:
    # The decimal form of a very long number would be refused.
    number = hex(value) if type(value) is int else repr(value)
    return f"{type(value).__name__} {number}"
