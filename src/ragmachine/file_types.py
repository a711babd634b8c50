"""What kind of file a name announces; kept apart so that a search need not import the chunkers."""

from __future__ import annotations

# Suffix (or whole name, lower-case) -> the file type that hits and filters show.
_TYPES = {
    "python": "py pyi pyw",
    "cython": "pyx pxd pxi",
    "markdown": "md markdown mdx",
    "rst": "rst",
    "text": "txt text log",
    "toml": "toml",
    "yaml": "yaml yml",
    "json": "json jsonl ndjson json5 ipynb",
    "csv": "csv tsv",
    "cmake": "cmake cmakelists.txt",
    "docker": "dockerfile containerfile",
    "make": "makefile mk gnumakefile",
    "shell": "sh bash zsh fish",
    "c": "c h",
    "cpp": "cpp cc cxx hpp hh hxx inl",
    "cuda": "cu cuh",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts tsx",
    "java": "java",
    "go": "go",
    "rust": "rs",
    "ruby": "rb",
    "html": "html htm",
    "css": "css scss",
    "sql": "sql",
    "jinja": "jinja j2 tpl",
    "ini": "ini cfg conf",
}
_TYPE_OF = {name: kind for kind, names in _TYPES.items() for name in names.split()}
FILE_TYPES = frozenset(_TYPES)
DOCUMENTATION_TYPES = frozenset({"markdown", "rst", "text", "html"})


def file_type_of(path: str) -> str:
    """Short lower-case type of a file by its name; ``text`` when the name says nothing."""
    name = path.rpartition("/")[2].lower()
    if name in _TYPE_OF:
        return _TYPE_OF[name]
    if name.startswith("dockerfile"):
        return "docker"
    return _TYPE_OF.get(name.rpartition(".")[2], "text") if "." in name else "text"
