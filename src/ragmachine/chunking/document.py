"""Chooses the chunker of a file by its name, and falls back to lines when a parser fails."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

from ragmachine.chunking.builder import Block, ChunkBuilder, Piece
from ragmachine.chunking.fixed import fixed_blocks
from ragmachine.chunking.lines import line_blocks
from ragmachine.file_types import file_type_of

# Packing sizes in characters, chosen on the reference corpus: sections are answers by themselves,
# while code needs its neighbours for context.
_TARGET_CHARS = {"python": 1500, "markdown": 1000, "rst": 1000}
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


def _chunker_of(file_type: str) -> Callable[[str, int], list[Block]] | None:
    """The parser of a type, imported when first needed; None where lines are all there is."""
    if file_type == "python":
        from ragmachine.chunking.python_ast import python_blocks

        return python_blocks
    if file_type == "markdown":
        from ragmachine.chunking.markdown import markdown_blocks

        return markdown_blocks
    return None


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
    blocks, problem = _blocks(text, file_type, max_chars)
    return ChunkedDocument(file_type, builder.build(text, blocks), problem)


def _blocks(text: str, file_type: str, max_chars: int) -> tuple[list[Block], str]:
    chunker = _chunker_of(file_type)
    if chunker is None:
        return line_blocks(text), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a corpus's own SyntaxWarnings are not ours to print
            return chunker(text, max_chars), ""
    except SyntaxError as error:
        reason = f"line {error.lineno}: {error.msg}" if error.lineno else error.msg
    except (RecursionError, MemoryError):
        reason = "nested too deeply"
    except ValueError as error:
        reason = str(error)
    return line_blocks(text), f"not parsed as {file_type} ({reason}): cut by lines"
