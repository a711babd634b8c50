"""The configurations that are measured: a ladder up to the shipped default, and steps aside.

A row names what differs from the shipped defaults, whatever a config file says. The ladder starts
at what anyone would write first and adds one step a row, in the order of the pipeline; the other
rows change one thing of the default.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragmachine.errors import UsageError

LADDER = "ladder"
DEFAULT = "default"
NAIVE = "naive bm25s"
ALL = "all"
VECTORS = "vectors"  # a group that `ALL` leaves out: making vectors takes minutes
_OVERLAP_CHARS = 200
_SIZES = (400, 800, 1200, 1600)  # of the longest chunk; the default is 2000


@dataclass(frozen=True, slots=True)
class Row:
    """One configuration.

    Attributes:
        name: as in tables and on the command line; holds no comma.
        group: ``ladder``, or the heading that it stands under.
        settings: what differs from the shipped defaults.
        step: on the ladder, what it adds to the row above; "" for the name itself.
    """

    name: str
    group: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    step: str = ""

    @property
    def title(self) -> str:
        """The name, with the step where the name does not tell it."""
        return f"+ {self.step} = {self.name}" if self.step else self.name


# Each stage in the order of the pipeline: its name, that of the row without it, and the settings
# that leave it out.
_STAGES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("parts of names at half weight", "parts of names at full weight", {"part_weight": 1.0}),
    ("very common words ignored", "very common words count", {"common_share": 1.0}),
    ("mending of slips", "no mending of slips", {"correct": False}),
    ("preference for named files", "no preference for named files", {"narrow": False}),
    ("whole-file score", "no whole-file score", {"file_weight": 0.0}),
    ("passage score", "no passage score", {"passage_weight": 0.0}),
    ("file-name coverage", "no file-name coverage", {"name_weight": 0.0}),
    ("factor for tests and examples", "no factor for tests and examples", {"support_factor": 1.0}),
    ("factor for documentation", "no factor for documentation", {"documentation_factor": 1.0}),
    ("factor for definitions", "no factor for definitions", {"symbol_factor": 1.0}),
    ("wider search where hits hold little", "no wider search", {"retry_coverage": 0.0}),
    ("same text shown once", "same text more than once", {"distinct": False}),
)


def _ladder() -> list[Row]:
    off = {name: value for _, _, left_out in _STAGES for name, value in left_out.items()}
    bare = {**off, "context": False}
    rows = [
        Row(NAIVE, LADDER),
        Row("+ our tokens and whole lines", LADDER, {**bare, "chunker": "fixed"}),
        Row("+ overlap", LADDER, {**bare, "chunker": "fixed", "overlap": _OVERLAP_CHARS}),
        Row("+ structure and no overlap", LADDER, bare),
        Row("+ context", LADDER, off),
    ]
    for name, _, left_out in _STAGES[:-1]:
        off = {setting: value for setting, value in off.items() if setting not in left_out}
        rows.append(Row(f"+ {name}", LADDER, off))
    return [*rows, Row(DEFAULT, LADDER, step=_STAGES[-1][0])]


def _aside() -> list[Row]:
    groups: dict[str, dict[str, dict[str, Any]]] = {
        "chunks": {
            **{f"chunks of {size}": {"max_chunk_size": size} for size in _SIZES},
            **{
                f"fixed chunks of {size}": {"chunker": "fixed", "max_chunk_size": size}
                for size in _SIZES
            },
            "fixed chunks of 2000": {"chunker": "fixed"},
            "overlapping chunks": {"overlap": _OVERLAP_CHARS},
            "no context": {"context": False},
            "no rows of tables": {"table_rows": False},
        },
        "bm25": {
            "BM25 robertson": {"bm25": "robertson"},
            "BM25 atire": {"bm25": "atire"},
            "BM25 bm25l": {"bm25": "bm25l"},
            "BM25 bm25plus": {"bm25": "bm25plus"},
            **{f"k1 {k1}": {"k1": k1} for k1 in (0.9, 1.2, 2.0)},
            **{f"b {b}": {"b": b} for b in (0.3, 0.5, 0.9)},
        },
        "stages off": {
            **{without: left_out for _, without, left_out in _STAGES},
            "no factors for kinds of files": {"priors": False},
            "comparisons searched as a whole": {"compare": False},
        },
        "stages on": {
            "feedback (RM3)": {"expand": "prf"},
            "decomposition": {"decompose": True},
            "near duplicates left out": {"near_duplicates": 0.8},
            "variety (MMR 0.8)": {"variety": 0.8},
        },
        VECTORS: {
            "vectors alone": {"strategy": "dense"},
            "vectors and words by evidence": {"strategy": "hybrid"},
            "vectors and words by ranks": {"strategy": "hybrid", "fusion": "rrf"},
            "vectors and words by scaled scores": {"strategy": "hybrid", "fusion": "weighted"},
            "static vectors and words": {"strategy": "hybrid", "encoder": "static"},
        },
    }
    return [
        Row(name, group, settings)
        for group, rows in groups.items()
        for name, settings in rows.items()
    ]


ROWS = (*_ladder(), *_aside())


def select_rows(text: str) -> list[Row]:
    """The rows that a list of names and groups means, in the order of the table.

    A row aside brings the default with it, which it is compared with.

    Args:
        text: names or groups with commas between; ``all`` for every row but those of vectors,
            which take minutes. Case does not matter.
    Raises: UsageError: an unknown name; the message suggests the nearest.
    """
    wanted = {word.strip().lower() for word in text.split(",")} - {""}
    known = {name for row in ROWS for name in _called(row)}
    for word in sorted(wanted - known) or ([] if wanted else [text]):
        close = difflib.get_close_matches(word, known, n=1)
        groups = ", ".join([ALL, *dict.fromkeys(row.group for row in ROWS)])
        hint = f"did you mean {close[0]}?" if close else f"give names of rows, or one of {groups}"
        raise UsageError(f"there is no row {word!r}", remedy=hint)
    chosen = [row for row in ROWS if wanted & _called(row)]
    if any(row.group != LADDER for row in chosen):
        chosen = [row for row in ROWS if row in chosen or row.name == DEFAULT]
    return chosen


def _called(row: Row) -> set[str]:
    """The words that choose a row."""
    return {row.name.lower(), row.group} | ({ALL} if row.group != VECTORS else set())


def comparisons(rows: Sequence[Row]) -> dict[str, str]:
    """What each row is compared with: on the ladder the row above, aside the default.

    Rows that have nothing of that kind beside them are left out.
    """
    ladder = [row.name for row in rows if row.group == LADDER]
    against = dict(zip(ladder[1:], ladder, strict=False))
    if DEFAULT in ladder:
        against |= {row.name: DEFAULT for row in rows if row.group != LADDER}
    return against
