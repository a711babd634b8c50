"""What kind of file a name announces; kept apart so that a search need not import the chunkers."""

from __future__ import annotations

# Suffix (or whole name, lower-case) -> the file type that hits and filters show.
_TYPES = {
    "python": "py pyi pyw",
    "cython": "pyx pxd pxi",
    "markdown": "md markdown mdx",
    "rst": "rst",
    "asciidoc": "adoc asciidoc",
    "text": "txt text log",
    "toml": "toml",
    "yaml": "yaml yml",
    "json": "json jsonl ndjson json5",
    "notebook": "ipynb",
    "pdf": "pdf",
    "docx": "docx docm",
    "csv": "csv tsv",
    "cmake": "cmake cmakelists.txt",
    "docker": "dockerfile containerfile",
    "make": "makefile mk gnumakefile",
    "shell": "sh bash zsh fish ksh",
    "c": "c h",
    "cpp": "cpp cc cxx c++ hpp hh hxx h++ inl ipp tpp cppm ixx",
    "cuda": "cu cuh",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts tsx mts cts",
    "java": "java",
    "csharp": "cs",
    "php": "php phtml",
    "go": "go",
    "rust": "rs",
    "ruby": "rb rake gemspec gemfile rakefile",
    "html": "html htm xhtml",
    "css": "css scss",
    "sql": "sql",
    "jinja": "jinja j2 tpl",
    "ini": "ini cfg conf",
}
_TYPE_OF = {name: kind for kind, names in _TYPES.items() for name in names.split()}
FILE_TYPES = frozenset(_TYPES)
DOCUMENTATION_TYPES = frozenset(
    {"markdown", "rst", "asciidoc", "text", "html", "pdf", "docx", "notebook"}
)
# The types that the extra `languages` has a parser for.
CODE_TYPES = frozenset(
    "c cpp cuda rust go java javascript typescript csharp ruby php shell sql".split()
)


def file_type_of(path: str) -> str:
    """Short lower-case type of a file by its name; ``text`` when the name says nothing."""
    name = path.rpartition("/")[2].lower()
    if name in _TYPE_OF:
        return _TYPE_OF[name]
    if name.startswith("dockerfile"):
        return "docker"
    return _TYPE_OF.get(name.rpartition(".")[2], "text") if "." in name else "text"
