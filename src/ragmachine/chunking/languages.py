"""What a definition looks like in each programming language: node types of its tree-sitter grammar.

One table a language, read by `syntax`, which knows no language. A node type that a grammar renames
is no longer found, and its text is cut as statements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# What names a path for those that it holds: a function in one of these is a method.
TYPES = frozenset(
    ("class", "struct", "union", "enum", "interface", "trait", "record", "protocol", "object")
)
_FUNCTION_VALUES = "arrow_function function_expression generator_function class"
# What makes a C header one of C++; a comment may say so too, which does no harm.
_CPP_SIGN = re.compile(
    r"^[ \t]*(?:namespace\b|template\s*<|class\s+\w|using\s+\w|public:|private:|protected:"
    r"|#\s*include\s*<[a-z_]+>)|\bconstexpr\b|\bstatic_cast<|\bstd::",
    re.M,
)
_SNIFFED_CHARS = 50_000
_CUDA_SIGN = re.compile(r"\b__(?:global|device|host)__\b|<<<")


@dataclass(frozen=True, slots=True)
class Language:
    """How `syntax` reads the tree of one grammar.

    Attributes:
        module: of the grammar, e.g. ``tree_sitter_cpp``.
        definitions: node type to the kind of a definition. ``kind/field`` asks for that field, e.g.
            a body, without which the node only mentions what is defined elsewhere;
            ``kind/field=type type`` asks for a field of one of these types.
        scopes: nodes that add a name to the path of what they hold and are nothing by themselves;
            one that is a definition too is a scope where it holds types.
        sections: nodes that only hold others: conditions of a preprocessor, linkage, what could
            not be parsed.
        wrappers: nodes that may hold one definition, e.g. a ``template`` or an ``export``.
        imports: packed together.
        leads: comments and the like, which belong to what follows.
        attributes: leads and parts that decorate a definition.
        entry: function of the module that returns the grammar.
    """

    module: str
    definitions: Mapping[str, str]
    scopes: frozenset[str] = frozenset()
    sections: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    leads: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    entry: str = "language"


def _language(module: str, *, entry: str = "language", **tables: str) -> Language:
    """A language of tables written as words; definitions as ``type:kind``."""
    pairs = (word.partition(":") for word in tables.pop("definitions").split(","))
    sets = {name: frozenset(words.split()) for name, words in tables.items()}
    leads = sets.pop("leads", frozenset()) | {"comment"} | sets.get("attributes", frozenset())
    sections = sets.pop("sections", frozenset()) | {"ERROR"}
    return Language(
        module=f"tree_sitter_{module}",
        definitions={node.strip(): kind for node, _, kind in pairs},
        sections=sections,
        leads=leads,
        entry=entry,
        **sets,
    )


_PREPROCESSOR = "preproc_if preproc_ifdef preproc_elif preproc_elifdef preproc_else"
_C = {
    # a declarator by itself is what the parser made of a function that it could not close
    "definitions": "function_definition:function, function_declarator:function,"
    " struct_specifier:struct/body,"
    " union_specifier:union/body, enum_specifier:enum/body, preproc_function_def:macro",
    "sections": _PREPROCESSOR + " linkage_specification declaration_list",
    "wrappers": "declaration field_declaration type_definition",
    "imports": "preproc_include",
    "attributes": "attribute_declaration attribute_specifier",
}
_CPP = {
    **_C,
    "definitions": _C["definitions"] + ", class_specifier:class/body, concept_definition:concept",
    "scopes": "namespace_definition",
    "wrappers": _C["wrappers"] + " template_declaration friend_declaration export_declaration",
    "imports": "preproc_include using_declaration import_declaration",
    "leads": "access_specifier",
}
_JAVASCRIPT = {
    "definitions": "function_declaration:function, generator_function_declaration:function,"
    " class_declaration:class, class:class, method_definition:function,"
    f" variable_declarator:function/value={_FUNCTION_VALUES},"
    f" assignment_expression:function/right={_FUNCTION_VALUES},"
    f" field_definition:function/value={_FUNCTION_VALUES}, pair:function/value={_FUNCTION_VALUES}",
    "wrappers": "export_statement lexical_declaration variable_declaration expression_statement",
    "imports": "import_statement",
    "leads": "html_comment hash_bang_line",
    "attributes": "decorator",
}
_TYPESCRIPT = {
    **_JAVASCRIPT,
    "definitions": _JAVASCRIPT["definitions"] + ", interface_declaration:interface,"
    " type_alias_declaration:type, enum_declaration:enum, abstract_class_declaration:class,"
    " function_signature:function, method_signature:function, abstract_method_signature:function,"
    f" public_field_definition:function/value={_FUNCTION_VALUES}",
    "scopes": "internal_module module",
    "wrappers": _JAVASCRIPT["wrappers"] + " ambient_declaration",
    "imports": "import_statement import_alias",
}
LANGUAGES: dict[str, Language] = {
    "c": _language("c", **_C),
    "cpp": _language("cpp", **_CPP),
    "cuda": _language("cuda", **_CPP),
    "rust": _language(
        "rust",
        definitions="function_item:function, function_signature_item:function, struct_item:struct,"
        " enum_item:enum, union_item:union, trait_item:trait, impl_item:class,"
        " macro_definition:macro, type_item:type",
        scopes="mod_item",
        sections="foreign_mod_item declaration_list",
        imports="use_declaration extern_crate_declaration",
        leads="line_comment block_comment",
        attributes="attribute_item inner_attribute_item",
    ),
    "go": _language(
        "go",
        definitions="function_declaration:function, method_declaration:function,"
        " type_spec:type, type_alias:type, var_spec:function/value=func_literal",
        wrappers="type_declaration var_declaration",
        imports="import_declaration package_clause",
    ),
    "java": _language(
        "java",
        definitions="class_declaration:class, interface_declaration:interface,"
        " enum_declaration:enum, record_declaration:record, annotation_type_declaration:interface,"
        " method_declaration:function, constructor_declaration:function,"
        " compact_constructor_declaration:function",
        imports="import_declaration package_declaration",
        leads="line_comment block_comment",
        attributes="marker_annotation annotation",
    ),
    "javascript": _language("javascript", **_JAVASCRIPT),
    "typescript": _language("typescript", entry="language_typescript", **_TYPESCRIPT),
    "tsx": _language("typescript", entry="language_tsx", **_TYPESCRIPT),
    "csharp": _language(
        "c_sharp",
        definitions="class_declaration:class, struct_declaration:struct, record_declaration:record,"
        " interface_declaration:interface, enum_declaration:enum, delegate_declaration:function,"
        " method_declaration:function, constructor_declaration:function,"
        " destructor_declaration:function, operator_declaration:function,"
        " conversion_operator_declaration:function, indexer_declaration:function,"
        " property_declaration:function/accessors, local_function_statement:function",
        scopes="namespace_declaration file_scoped_namespace_declaration",
        sections="declaration_list preproc_if preproc_elif preproc_else preproc_region",
        imports="using_directive extern_alias_directive",
        attributes="attribute_list",
    ),
    "ruby": _language(
        "ruby",
        definitions="class:class, method:function, singleton_method:function, module:class,"
        " assignment:function/right=lambda",
        scopes="module",
        sections="singleton_class",
        wrappers="call argument_list",
    ),
    "php": _language(
        "php",
        entry="language_php",
        definitions="class_declaration:class, interface_declaration:interface,"
        " trait_declaration:trait, enum_declaration:enum, function_definition:function,"
        " method_declaration:function,"
        " assignment_expression:function/right=anonymous_function arrow_function",
        scopes="namespace_definition",
        wrappers="expression_statement",
        imports="namespace_use_declaration",
        leads="php_tag",
        attributes="attribute_list",
    ),
    "shell": _language("bash", definitions="function_definition:function"),
    "sql": _language(
        "sql",
        definitions="create_table:table, create_view:view, create_materialized_view:view,"
        " create_function:function, create_procedure:procedure, create_trigger:trigger,"
        " create_type:type, create_index:index, create_sequence:sequence, create_schema:schema",
        wrappers="statement",
        leads="marginalia",
    ),
    "python": _language(
        "python",
        definitions="class_definition:class, function_definition:function",
        wrappers="decorated_definition",
        imports="import_statement import_from_statement future_import_statement",
        attributes="decorator",
    ),
}

# What decides how code is cut, besides the modules here.
GRAMMAR_PACKAGES = (
    "tree-sitter",
    *sorted({language.module.replace("_", "-") for language in LANGUAGES.values()}),
)


def language_of(path: str, file_type: str, text: str) -> Language | None:
    """The language a file is read as, None where there is no grammar for it.

    Args:
        path: its suffix tells dialects of one type apart.
        file_type: see `file_type_of`.
        text: the file; a header that only C++ understands is C++.
    """
    suffix = path.rpartition(".")[2].lower()
    if suffix in ("fish", "tsx"):
        return LANGUAGES["tsx"] if suffix == "tsx" else None
    if suffix in ("h", "hpp", "inl") and _CUDA_SIGN.search(text, 0, _SNIFFED_CHARS):
        return LANGUAGES["cuda"]
    if suffix == "h" and _CPP_SIGN.search(text, 0, _SNIFFED_CHARS):
        return LANGUAGES["cpp"]
    return LANGUAGES.get(file_type)
