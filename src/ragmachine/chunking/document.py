"""Chooses the chunker of a file by its name, and falls back to lines when a parser fails."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ragmachine.chunking.builder import Block, ChunkBuilder, Piece
from ragmachine.chunking.fixed import fixed_blocks
from ragmachine.chunking.lines import line_blocks
from ragmachine.file_types import CODE_TYPES, file_type_of

# Packing sizes in characters, chosen on the reference corpus: sections are answers by themselves,
# while code needs its neighbours for context.
_TARGET_CHARS = {"python": 1500, "markdown": 1000, "rst": 1000, "asciidoc": 1000}
_DEFAULT_TARGET_CHARS = 1500
STRUCTURE, FIXED = CHUNKERS = ("structure", "fixed")


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """The chunks of one document.

    Attributes:
        file_type: see `file_type_of`.
        pieces: in file order.
        problem: why a better chunker could not be used, else "".
    """

    file_type: str
    pieces: list[Piece]
    problem: str = ""


def _parser_of(path: str, file_type: str, text: str) -> Callable[[int], list[Block]] | None:
    """What cuts a file of this type, imported when first needed; None where lines must do."""
    if file_type == "python":
        from ragmachine.chunking.python_ast import python_blocks

        return partial(python_blocks, text)
    if file_type == "markdown":
        from ragmachine.chunking.markdown import markdown_blocks

        return partial(markdown_blocks, text)
    if file_type == "rst":
        from ragmachine.chunking.rst import rst_blocks

        return partial(rst_blocks, text)
    if file_type == "asciidoc":
        from ragmachine.chunking.asciidoc import asciidoc_blocks

        return partial(asciidoc_blocks, text)
    if file_type not in CODE_TYPES:
        return None
    from ragmachine.chunking.grammars import is_installed
    from ragmachine.chunking.languages import language_of

    language = language_of(path, file_type, text)
    if language is None or not is_installed(language):
        return None
    from ragmachine.chunking.syntax import syntax_blocks

    return lambda max_chars: syntax_blocks(text, max_chars, language)


def chunk_document(
    path: str, text: str, *, max_chars: int, overlap_chars: int = 0, chunker: str = STRUCTURE
) -> ChunkedDocument:
    """Cut a document into chunks; never raises for odd input.

    Args:
        path: decides the file type.
        text: the document.
        max_chars: hard limit of a chunk in characters.
        overlap_chars: characters repeated from the chunk before, in whole lines.
        chunker: ``structure`` cuts where the format has its joints; ``fixed``, a yardstick to
            measure that against, fills each chunk with lines whatever they are.
    Raises: ValueError: there is no such chunker.
    """
    if chunker not in CHUNKERS:
        raise ValueError(f"no chunker is called {chunker!r}")
    file_type = file_type_of(path)
    if chunker == FIXED:
        builder = ChunkBuilder(max_chars, max_chars, overlap_chars)
        blocks = fixed_blocks(text, max_chars - overlap_chars)
        return ChunkedDocument(file_type, builder.build(text, blocks))
    target = min(_TARGET_CHARS.get(file_type, _DEFAULT_TARGET_CHARS), max_chars)
    builder = ChunkBuilder(max_chars, target, overlap_chars)
    blocks, problem = _blocks(path, text, file_type, max_chars)
    return ChunkedDocument(file_type, builder.build(text, blocks), problem)


def _blocks(path: str, text: str, file_type: str, max_chars: int) -> tuple[list[Block], str]:
    parser = _parser_of(path, file_type, text)
    if parser is None:
        return line_blocks(text), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a corpus's own SyntaxWarnings are not ours to print
            return parser(max_chars), ""
    except SyntaxError as error:
        reason = f"line {error.lineno}: {error.msg}" if error.lineno else error.msg
    except (RecursionError, MemoryError):
        reason = "nested too deeply"
    except ValueError as error:
        reason = str(error)
    blocks = _other_python(text, max_chars) if file_type == "python" else []
    means = "tree-sitter" if blocks else "lines"
    return blocks or line_blocks(text), f"not parsed as {file_type} ({reason}): cut by {means}"


def _other_python(text: str, max_chars: int) -> list[Block]:
    """Blocks of Python that the running version does not read, be it Python 2, newer or broken.

    None at all where the grammar is not installed or gives up.
    """
    from ragmachine.chunking.grammars import is_installed
    from ragmachine.chunking.languages import LANGUAGES

    if not is_installed(LANGUAGES["python"]):
        return []
    from ragmachine.chunking.syntax import syntax_blocks

    try:
        return syntax_blocks(text, max_chars, LANGUAGES["python"])
    except ValueError:
        return []
