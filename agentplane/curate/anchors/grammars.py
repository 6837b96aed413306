"""The languages that tree-sitter parses, as data: file endings, grammars, and the nodes that define names."""

from collections.abc import Mapping

import msgspec


class Grammar(msgspec.Struct, frozen=True):
    """One language."""

    name: str
    """A short name for digests. Raise its number if the digests change."""
    module: str
    function: str = "language"
    """The function of the module that returns the grammar."""
    named: frozenset[str] = frozenset()
    """Nodes that define the name in one of their fields `name`, `property` and `left`."""
    scopes: frozenset[str] = frozenset()
    """Nodes of `named` whose parts have names in their scope."""
    functions: frozenset[str] = frozenset()
    """Nodes in which variables are local."""
    declared: Mapping[str, str] = {}
    """Nodes that declare several names, each with the node of one name."""
    is_c: bool = False
    """True if names are nested in declarators."""
    before: frozenset[str] = frozenset()
    """Nodes that belong to the definition that follows."""
    optional: frozenset[str] = frozenset()
    """Punctuation that is layout."""
    comments: frozenset[str] = frozenset(("comment", "line_comment", "block_comment"))
    directives: tuple[str, ...] = ()
    """Beginnings of comments that the compiler reads."""


_SCRIPT_NAMED = frozenset((
    "function_declaration", "generator_function_declaration", "class_declaration", "abstract_class_declaration",
    "method_definition", "field_definition", "public_field_definition", "interface_declaration", "property_signature",
    "method_signature", "abstract_method_signature", "type_alias_declaration", "enum_declaration", "internal_module",
    "module", "function_signature",
))  # fmt: skip
_SCRIPT = {
    "named": _SCRIPT_NAMED,
    "scopes": _SCRIPT_NAMED,
    "functions": frozenset((
        "function_declaration", "generator_function_declaration", "method_definition", "function_expression",
        "arrow_function", "generator_function", "class_static_block",
    )),
    "declared": {
        "lexical_declaration": "variable_declarator",
        "variable_declaration": "variable_declarator",
        "enum_body": "enum_assignment",
    },
    "optional": frozenset(";"),
}  # fmt: skip

_C_NAMED = frozenset((
    "preproc_def", "preproc_function_def", "struct_specifier", "union_specifier", "enum_specifier", "class_specifier",
    "namespace_definition", "alias_declaration", "concept_definition",
))  # fmt: skip
_C = {
    "named": _C_NAMED,
    "scopes": frozenset((
        "struct_specifier", "union_specifier", "enum_specifier", "class_specifier", "namespace_definition",
    )),
    "functions": frozenset(("function_definition", "lambda_expression")),
    "declared": {
        "declaration": "", "field_declaration": "", "function_definition": "", "type_definition": "",
        "enumerator_list": "enumerator",
    },
    "is_c": True,
}  # fmt: skip

JAVASCRIPT = Grammar("js1", "tree_sitter_javascript", **_SCRIPT)  # type: ignore[arg-type]
TYPESCRIPT = Grammar("ts1", "tree_sitter_typescript", "language_typescript", **_SCRIPT)  # type: ignore[arg-type]
TSX = Grammar("tsx1", "tree_sitter_typescript", "language_tsx", **_SCRIPT)  # type: ignore[arg-type]
GO = Grammar(
    "go1",
    "tree_sitter_go",
    named=frozenset(("function_declaration", "type_spec", "type_alias", "method_elem", "method_declaration")),
    scopes=frozenset(("type_spec",)),
    functions=frozenset(("function_declaration", "method_declaration", "func_literal")),
    declared={
        "const_declaration": "const_spec",
        "var_declaration": "var_spec",
        "var_spec_list": "var_spec",
        "field_declaration_list": "field_declaration",
    },
    optional=frozenset(";"),
    directives=("//go:", "// +build", "//export ", "#cgo"),
)
RUST = Grammar(
    "rust1",
    "tree_sitter_rust",
    named=frozenset((
        "function_item", "function_signature_item", "struct_item", "enum_item", "union_item", "trait_item", "mod_item",
        "const_item", "static_item", "type_item", "macro_definition", "associated_type", "field_declaration",
    )),
    scopes=frozenset(("struct_item", "enum_item", "union_item", "trait_item", "mod_item", "function_item")),
    functions=frozenset(("function_item", "closure_expression")),
    declared={"enum_variant_list": "enum_variant"},
    before=frozenset(("attribute_item",)),
)  # fmt: skip
JAVA = Grammar(
    "java1",
    "tree_sitter_java",
    named=frozenset((
        "class_declaration", "interface_declaration", "enum_declaration", "record_declaration",
        "annotation_type_declaration", "method_declaration", "constructor_declaration",
        "compact_constructor_declaration", "annotation_type_element_declaration",
    )),
    scopes=frozenset((
        "class_declaration", "interface_declaration", "enum_declaration", "record_declaration",
        "annotation_type_declaration",
    )),
    functions=frozenset(("method_declaration", "constructor_declaration", "lambda_expression", "static_initializer")),
    declared={
        "field_declaration": "variable_declarator",
        "constant_declaration": "variable_declarator",
        "enum_body": "enum_constant",
    },
)  # fmt: skip
CSHARP = Grammar(
    "cs1",
    "tree_sitter_c_sharp",
    named=frozenset((
        "namespace_declaration", "file_scoped_namespace_declaration", "class_declaration", "interface_declaration",
        "struct_declaration", "enum_declaration", "record_declaration", "method_declaration",
        "constructor_declaration", "destructor_declaration", "property_declaration", "delegate_declaration",
        "event_declaration", "local_function_statement",
    )),
    scopes=frozenset((
        "namespace_declaration", "class_declaration", "interface_declaration", "struct_declaration",
        "enum_declaration", "record_declaration",
    )),
    functions=frozenset(("method_declaration", "constructor_declaration", "lambda_expression", "accessor_declaration")),
    declared={
        "variable_declaration": "variable_declarator",
        "enum_member_declaration_list": "enum_member_declaration",
    },
)  # fmt: skip
RUBY = Grammar(
    "ruby1",
    "tree_sitter_ruby",
    named=frozenset(("module", "class", "method", "singleton_method", "assignment")),
    scopes=frozenset(("module", "class")),
    functions=frozenset(("method", "singleton_method", "block", "do_block")),
    directives=("# frozen_string_literal",),
)
PYTHON = Grammar(
    "pyts1",
    "tree_sitter_python",
    named=frozenset(("function_definition", "class_definition", "assignment", "type_alias_statement")),
    scopes=frozenset(("function_definition", "class_definition")),
    functions=frozenset(("function_definition", "lambda")),
)
"""For code that `ast` of this Python version can't parse."""
C = Grammar("c1", "tree_sitter_c", **_C)  # type: ignore[arg-type]
CPP = Grammar("cpp1", "tree_sitter_cpp", **_C)  # type: ignore[arg-type]

ENDINGS: Mapping[str, Grammar] = {
    ".js": JAVASCRIPT,
    ".jsx": JAVASCRIPT,
    ".mjs": JAVASCRIPT,
    ".cjs": JAVASCRIPT,
    ".ts": TYPESCRIPT,
    ".mts": TYPESCRIPT,
    ".cts": TYPESCRIPT,
    ".tsx": TSX,
    ".go": GO,
    ".rs": RUST,
    ".java": JAVA,
    ".cs": CSHARP,
    ".rb": RUBY,
    ".rake": RUBY,
    ".c": C,
    ".h": CPP,
    ".cc": CPP,
    ".cpp": CPP,
    ".cxx": CPP,
    ".hh": CPP,
    ".hpp": CPP,
}
PYTHON_ENDINGS = frozenset((".py", ".pyi"))
