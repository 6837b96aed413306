"""Definitions of code that tree-sitter parses."""

import importlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from agentplane.curate.anchors.grammars import JAVASCRIPT, PYTHON, TSX, TYPESCRIPT, Grammar
from agentplane.curate.anchors.source import Definition, Meaning, meaning_of


if TYPE_CHECKING:
    from tree_sitter import Node, Parser


_SCRIPTS = (JAVASCRIPT, TYPESCRIPT, TSX)
_OWN_NAME = "\0own"
_CLOSING = frozenset(")]}>")
_VERBATIM = ("string", "template", "char", "regex", "heredoc", "raw", "literal")
"""Parts of the names of nodes in which white space counts."""
_SIGNATURES = frozenset(("interface_body", "object_type"))
_WITH_SEMICOLONS = frozenset(("for_statement", "for_clause"))
_VALUES = frozenset(("function_expression", "arrow_function", "generator_function", "class", "object"))
_CALLED = frozenset(("member_expression", "subscript_expression", "call_expression"))
_WITHOUT_NUMBERS = frozenset(("enum_constant", "enum_variant"))
"""Members of enumerations whose numbers hardly matter."""
_QUOTE = re.compile(r"\\(.)", re.DOTALL)


class _Unit(NamedTuple):
    """The nodes of a definition."""

    name: str
    nodes: tuple["Node", ...]
    skipped: frozenset[int] = frozenset()
    """Nodes that belong to other definitions."""
    shown: "Node | None" = None
    """The node with the lines of the definition, if it is only a part of the nodes."""


class _Scope(NamedTuple):
    prefix: str
    is_local: bool
    """True in a function, where variables aren't definitions."""


class ParsedSource:
    """Code that tree-sitter parsed."""

    def __init__(self, data: bytes, grammar: Grammar) -> None:
        self._grammar = grammar
        self._tree = _parser(grammar.module, grammar.function).parse(data)
        self._units: dict[str, list[_Unit]] = {}
        for unit in _units(self._tree.root_node, grammar):
            self._units.setdefault(unit.name, []).append(unit)
        self.definitions: Sequence[Definition] = [
            Definition(name, tuple(_lines(unit) for unit in units), number)
            for number, (name, units) in enumerate(self._units.items())
        ]

    @property
    def error_line(self) -> int | None:
        root = self._tree.root_node
        return _error_line(root) if root.has_error else None

    def meaning(self, definition: Definition) -> Meaning | None:
        units = self._units[definition.name]
        if any(node.has_error for unit in units for node in unit.nodes):
            return None
        words = [word for unit in units for word in self._words(unit, definition.own)]
        return meaning_of(self._grammar.name, words)

    def whole(self) -> Meaning | None:
        root = self._tree.root_node
        return None if root.has_error else meaning_of(self._grammar.name, _words(root, self._grammar))

    def between(self, first: int, last: int) -> Meaning | None:
        """Return the words of these lines, with the nodes that begin there."""
        root = self._tree.root_node
        if root.has_error or self._cuts(first) or self._cuts(last + 1):
            return None
        words = _words(root, self._grammar, rows=(first - 1, last - 1))
        return meaning_of(f"{self._grammar.name}t", words) if words else None

    def _cuts(self, line: int) -> bool:
        """True if a comment or a string begins above a line and ends in it or below, so that lines have only a part."""
        node = self._tree.root_node.descendant_for_point_range((line - 1, 0), (line - 1, 0))
        while node is not None and node.child_count == 0:
            if node.start_point.row < line - 1 <= node.end_point.row:
                return True
            node = node.parent
        kinds = _VERBATIM if node is not None else ()
        return (
            node is not None and node.start_point.row < line - 1 and any(part in node.type for part in kinds)
        )

    def _words(self, unit: _Unit, own: str) -> Iterator[str]:
        for node in unit.nodes:
            yield from _words(node, self._grammar, own, unit.skipped)


@lru_cache(maxsize=32)
def _parser(module: str, function: str) -> "Parser":
    from tree_sitter import Language, Parser

    return Parser(Language(getattr(importlib.import_module(module), function)()))


def _text(node: "Node | None") -> str:
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def _error_line(root: "Node") -> int:
    node = root
    while True:
        worse = next((one for one in node.children if one.is_error or one.is_missing or one.has_error), None)
        if worse is None or node.is_error:
            return node.start_point.row + 1
        node = worse


def _lines(unit: _Unit) -> tuple[int, int]:
    first = (unit.shown or unit.nodes[0]).start_point.row
    last = max(map(_last_row, (unit.shown,) if unit.shown is not None else unit.nodes))
    return first + 1, last + 1


def _last_row(node: "Node") -> int:
    """Return the row in which a node ends. White space after it can belong to the node."""
    return node.start_point.row + (node.text or b"").rstrip().count(b"\n")


# Definitions


def _units(root: "Node", grammar: Grammar) -> Iterator[_Unit]:
    """Yield the definitions, in the order of the code."""
    waiting: list[tuple[Node, _Scope]] = [(root, _Scope("", is_local=False))]
    while waiting:
        node, scope = waiting.pop()
        inner = scope
        if node.type in grammar.declared:
            yield from _declared(node, scope, grammar)
        if node.type in grammar.named and (name := _name(node, grammar)):
            is_local = scope.is_local and node.type in ("assignment", "field_declaration")
            if not is_local:
                yield _Unit(f"{scope.prefix}{name}", (*_before(node, grammar), node))
            if node.type in grammar.scopes or node.type in grammar.functions:
                inner = _Scope(f"{scope.prefix}{name}.", scope.is_local)
        elif node.type == "impl_item":
            inner = _Scope(f"{scope.prefix}{_type_name(node.child_by_field_name('type'))}.", is_local=False)
        elif grammar in _SCRIPTS:
            found, inner = _of_script(node, scope)
            yield from found
        if node.type in grammar.functions:
            inner = _Scope(inner.prefix, is_local=True)
        if grammar.is_c and node.type == "function_definition":
            continue
        waiting.extend((child, inner) for child in reversed(node.named_children))


def _before(node: "Node", grammar: Grammar) -> tuple["Node", ...]:
    """Return the nodes directly before a definition that belong to it, such as attributes and decorators."""
    found: list[Node] = []
    if node.parent is not None and node.parent.type == "decorated_definition":
        return tuple(one for one in node.parent.named_children if one.type == "decorator")
    if node.parent is not None and node.parent.type == "template_declaration":
        return tuple(one for one in node.parent.named_children if one.id != node.id)
    if node.parent is not None and node.parent.type == "export_statement":
        found = [one for one in node.parent.children if one.type == "decorator"]
    kinds = grammar.before or frozenset(("decorator",))
    above = node.prev_named_sibling
    while above is not None and above.type in (*kinds, *grammar.comments):
        if above.type in kinds or not _is_comment(above, grammar):
            found.insert(0, above)
        above = above.prev_named_sibling
    return tuple(found)


def _name(node: "Node", grammar: Grammar) -> str:
    """Return the name that a node defines, or an empty text."""
    if grammar.is_c and node.type.endswith("_specifier") and node.child_by_field_name("body") is None:
        return ""  # a use of the type
    field = next(
        (found for name in ("name", "property", "left") if (found := node.child_by_field_name(name))), None
    )
    if field is None or field.type in ("list_pattern", "left_assignment_list", "element_reference"):
        return ""
    name = _dotted(_text(field))
    if node.type == "assignment":
        # In Ruby only constants are definitions, and in Python names that are assigned in a class or module.
        kinds = ("constant", "scope_resolution") if grammar is not PYTHON else ("identifier",)
        return name if field.type in kinds else ""
    if node.type == "method_declaration" and (receiver := node.child_by_field_name("receiver")):
        return f"{_type_name(receiver)}.{name}"
    return name


def _dotted(name: str) -> str:
    name = name.strip("\"'`").replace("::", ".").lstrip("#")
    return re.sub(r"\s+", "", name)[:300]


def _type_name(node: "Node | None") -> str:
    """Return the name of a type without its parameters."""
    waiting = [node] if node is not None else []
    while waiting:
        one = waiting.pop()
        if one.type == "type_identifier":
            return _text(one)
        # The name of a parameter of a method comes before its type, and arguments of a type come after it.
        waiting.extend(child for child in reversed(one.named_children) if child.type != "identifier")
    return _dotted(_text(node))


def _declared(node: "Node", scope: _Scope, grammar: Grammar) -> Iterator[_Unit]:
    """Yield the definitions of a declaration, which can have several names."""
    if scope.is_local and not grammar.is_c:
        # A function in a variable is a definition everywhere.
        parts = [
            one for one in node.named_children if one.type == "variable_declarator" and _holds_function(one)
        ]
    elif grammar.is_c and grammar.declared[node.type] == "":
        yield from _of_c(node, scope)
        return
    else:
        kind = grammar.declared[node.type]
        parts = [one for one in node.named_children if one.type == kind]
    if node.type == "enum_body" or node.type in (
        "enum_variant_list",
        "enumerator_list",
        "enum_member_declaration_list",
    ):
        yield from _members(node, scope, grammar)
        return
    # In Go, the value of a constant can depend on the constants above it.
    counts = node.type == "const_declaration" and (
        "iota" in _text(node) or any(one.child_by_field_name("value") is None for one in parts)
    )
    for number, part in enumerate(parts):
        ids = {one.id for one in (parts[number + 1 :] if counts else parts)} - {part.id}
        for name in _names_of(part):
            whole = part if part.type in ("field_declaration", "var_spec") else node
            if node.parent is not None and node.parent.type.endswith("field_declaration"):
                whole = node.parent  # with its modifiers
            above = (*_before(node, grammar), *_before(part, grammar)) if grammar.directives else ()
            nodes = (*above, whole)
            yield _Unit(
                f"{scope.prefix}{_dotted(name)}", nodes, frozenset(ids), part if len(parts) > 1 else None
            )


def _members(node: "Node", scope: _Scope, grammar: Grammar) -> Iterator[_Unit]:
    """Yield the members of an enumeration. A member without a value counts from the members above it."""
    above: list[Node] = []
    for part in node.named_children:
        if part.type in grammar.comments or part.type == "enum_body_declarations":
            continue
        if part.child_by_field_name("value") is not None or part.type in _WITHOUT_NUMBERS:
            above = []
        above.append(part)
        name = part.child_by_field_name("name") or (part if part.child_count == 0 else None)
        if name is not None:
            yield _Unit(f"{scope.prefix}{_dotted(_text(name))}", tuple(above), frozenset(), part)


def _holds_function(declarator: "Node") -> bool:
    value = declarator.child_by_field_name("value")
    return value is not None and value.type in _VALUES


def _names_of(part: "Node") -> list[str]:
    names = part.children_by_field_name("name")
    return [text for one in names if one.type.endswith("identifier") and (text := _text(one))]


def _of_c(node: "Node", scope: _Scope) -> Iterator[_Unit]:
    """Yield the definitions of a declaration of C or C++."""
    if scope.is_local:
        return
    declarators = node.children_by_field_name("declarator")
    for one in declarators:
        if name := _declared_name(one):
            others = frozenset(other.id for other in declarators if other.id != one.id)
            parent = node.parent
            whole = parent if parent is not None and parent.type == "template_declaration" else node
            yield _Unit(f"{scope.prefix}{_dotted(name)}", (whole,), others)


def _declared_name(node: "Node") -> str:
    one: Node | None = node
    while one is not None:
        if one.type in (
            "identifier",
            "field_identifier",
            "type_identifier",
            "qualified_identifier",
            "destructor_name",
        ):
            return _text(one)
        if one.type in ("operator_name", "operator_cast"):
            return _text(one)
        one = one.child_by_field_name("declarator") or next(
            (
                child
                for child in one.named_children
                if child.type.endswith(("declarator", "identifier")) or child.type == "destructor_name"
            ),
            None,
        )
    return ""


def _of_script(node: "Node", scope: _Scope) -> tuple[list[_Unit], _Scope]:
    """Return the definitions of JavaScript and TypeScript that have no node of their own."""
    if node.type == "variable_declarator":
        name = node.child_by_field_name("name")
        if name is not None and name.type == "identifier" and _holds_function(node):
            return [], _Scope(f"{scope.prefix}{_text(name)}.", scope.is_local)
    if (
        node.type == "pair"
        and scope.prefix
        and not scope.is_local
        and (key := node.child_by_field_name("key"))
    ):
        name_of_key = f"{scope.prefix}{_dotted(_text(key))}"
        return [_Unit(name_of_key, (node,))], _Scope(f"{name_of_key}.", is_local=False)
    if node.type == "assignment_expression" and not scope.is_local:
        left = node.child_by_field_name("left")
        if left is not None and left.type == "member_expression":
            text = _dotted(_text(left)).removeprefix("module.").removeprefix("exports.")
            assigned = text.replace(".prototype.", ".")
            return [_Unit(f"{scope.prefix}{assigned}", (node,))], _Scope(f"{assigned}.", is_local=False)
    is_default = node.type == "export_statement" and any(one.type == "default" for one in node.children)
    if is_default and node.child_by_field_name("value") is not None:
        return [_Unit(f"{scope.prefix}default", (node,))], scope
    if node.type in ("arguments", "array", "formal_parameters"):
        return [], _Scope("", is_local=True)
    return [], scope


# Words


def _words(
    top: "Node",
    grammar: Grammar,
    own: str | None = None,
    skipped: frozenset[int] = frozenset(),
    rows: tuple[int, int] | None = None,
) -> list[str]:
    """Return the code as a list of words. Equal lists are equal code.

    `rows` limits the words to the nodes that begin in these rows.
    """
    words: list[str] = []
    data = top.text or b""
    base = top.start_byte
    cursor = top.walk()
    ends = [0]
    """Ends of the last child of each open node, to find text between the children."""
    kinds: list[str] = []
    while (node := cursor.node) is not None:
        inside = rows is None or rows[0] <= node.start_point.row <= rows[1]
        descends = False
        if kinds and inside:
            _add_gap(words, data[ends[-1] - base : node.start_byte - base], kinds[-1])
        if node.id not in skipped and not _is_comment(node, grammar):
            word = _whole_word(node, grammar, own, kinds)
            if word is None:
                descends = node.child_count > 0
                if inside:
                    field = cursor.field_name if kinds else None
                    words += [f".{field}"] if field and rows is None else []
                    _open(words, node, grammar, kinds)
            elif word and inside:
                _add(words, word, node, grammar, kinds)
        if descends:
            kinds.append(node.type)
            ends.append(node.start_byte)
            cursor.goto_first_child()
            continue
        while kinds and (current := cursor.node) is not None:
            ends[-1] = current.end_byte
            if cursor.goto_next_sibling():
                break
            cursor.goto_parent()
            kind, end = kinds.pop(), ends.pop()
            if rows is None and (closed := cursor.node) is not None:
                _add_gap(words, data[end - base : closed.end_byte - base], kind)
                _close(words, closed, grammar, kinds)
        if not kinds:
            break
    return words


def _is_comment(node: "Node", grammar: Grammar) -> bool:
    return node.type in grammar.comments and not (
        grammar.directives and _text(node).startswith(grammar.directives)
    )


def _add_gap(words: list[str], gap: bytes, kind: str) -> None:
    """Add text that no node covers. White space counts only in strings."""
    if gap and (gap.strip() or any(part in kind for part in _VERBATIM)):
        words.append(f"~{gap.decode(errors='replace')}")


def _whole_word(node: "Node", grammar: Grammar, own: str | None, kinds: list[str]) -> str | None:
    """Return the word for a node without parts, or for a string. None if its parts count."""
    if node.type == "string" and grammar in _SCRIPTS:
        text = _text(node)
        if not kinds or kinds[-1] != "jsx_attribute":
            text = _QUOTE.sub(lambda found: found[1] if found[1] in "'\"" else found[0], text)
        return f"'{text[1:-1]}"
    if node.type == "jsx_text":
        lines = (line.strip() for line in _text(node).splitlines())
        return f"jsx {' '.join(line for line in lines if line)}" if _text(node).strip() else ""
    if node.type == "formal_parameters" and kinds[-1:] == ["arrow_function"] and (only := _only_name(node)):
        # An arrow function with one parameter may leave out the parentheses.
        return f"identifier {only}"
    if node.child_count:
        return None
    text = _text(node)
    if not node.is_named:
        return text if text.strip() else ""
    return _OWN_NAME if own is not None and text == own else f"{node.type} {text}"


def _only_name(parameters: "Node") -> str:
    """Return the only parameter if it is a plain name, or an empty text."""
    names = parameters.named_children
    one = names[0] if len(names) == 1 else None
    if one is not None and one.type == "required_parameter" and one.child_count == 1:
        one = one.children[0]
    return _text(one) if one is not None and one.type == "identifier" else ""


def _add(words: list[str], word: str, node: "Node", grammar: Grammar, kinds: list[str]) -> None:
    inside = kinds[-1] if kinds else ""
    if word in grammar.optional and not node.is_named and inside not in _WITH_SEMICOLONS:
        return
    if word == "," and inside in _SIGNATURES:
        return
    if not node.is_named and word in ("(", ")") and _is_transparent(inside, "".join(kinds[-2:-1]), grammar):
        return
    # A comma before a closing bracket is layout, except in macros and where it makes an empty place.
    if (
        word in _CLOSING
        and words[-1:] == [","]
        and inside != "token_tree"
        and words[-2:-1] not in (["["], [","])
    ):
        words.pop()
    words.append(word)


def _is_transparent(node_type: str, parent: str, grammar: Grammar) -> bool:
    """True for parentheses that only repeat the structure of the code."""
    return node_type == "parenthesized_expression" and grammar in _SCRIPTS and parent not in _CALLED


def _open(words: list[str], node: "Node", grammar: Grammar, kinds: list[str]) -> None:
    if not _is_transparent(node.type, kinds[-1] if kinds else "", grammar):
        words.append(f"({node.type}")


def _close(words: list[str], node: "Node", grammar: Grammar, kinds: list[str]) -> None:
    if not _is_transparent(node.type, kinds[-1] if kinds else "", grammar):
        words.append(")")
