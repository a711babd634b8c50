"""What to index and how, as plain values handed down by the pipeline."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides the form of chunks: a change of any of these needs a full build.

    Attributes:
        max_chars: hard limit of a chunk in characters.
        overlap_chars: characters repeated from the chunk before, in whole lines.
    """

    max_chars: int
    overlap_chars: int


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to index and how.

    Attributes:
        root: folder or file on disk.
        display_root: how `file_path` begins, POSIX.
        shape: what decides the chunks.
        max_file_bytes: larger files are reported and left out.
        workers: processes; 1 keeps everything in this one.
        is_strict: any problem fails the run.
        is_forced: nothing is taken over from the current generation.
    """

    root: str
    display_root: str
    shape: Shape
    max_file_bytes: int
    workers: int
    is_strict: bool = False
    is_forced: bool = False
