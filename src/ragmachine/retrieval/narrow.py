"""What a question says about where to look: the files, folders and versions that it names.

A question that names a file is not always answered there: the script in "what does run.sh need?"
may be described elsewhere. So only names in a place where people say where they look count ("in
sampler.py", "what does config.py do", "the pump manual"), and what they name is lifted, never cut
off from the rest: where it holds nothing, or too little, the rest of the corpus fills the hits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragmachine.retrieval.query import PATH

# Measured on questions to which "In <file>:" was added: recall@5 rises steeply up to here, and
# what lies above only pays off where the answer is in that file for certain.
FACTOR = 1.5
# What stands before a path that says where to look, "the file" and the like left out.
_LEADS = frozenset("in inside within under of from see explain describe".split())
_FILLERS = frozenset("the file folder directory script module page document".split())
_OWNERS = ("'s", "’s")  # "in the pump's manual.md"
_ASKING = ("does", "do", "is", "are")  # after "what"
_JOINTS = ("and", "or", "")  # between two paths, commas left out
_COLLECTIONS = ("folder", "directory", "package", "project", "repository", "docs", "documentation",
                "manual", "handbook", "guide")  # fmt: skip
# Compiled by `re` when first used: most questions name no place, and are not searched for any.
_FOLDER = rf"(?<![\w.+-])([\w.+-]+)[`\"']?\s+(?:{'|'.join(_COLLECTIONS)})\b"
_VERSION = r"(?<![\w./-])(v\d+(?:\.\d+)*|\d+(?:\.\d+)+)(?![\w/-])"
_LONGEST_LEAD = 60  # characters
_AROUND = " \t\n`\"'(),:"


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a question was narrowed to; nothing by default.

    Attributes:
        files: positions of the files named, ascending.
        factor: of their chunks' scores.
        named: what named them, with the number of files: ``config.py (2 files)``.
    """

    files: tuple[int, ...] = ()
    factor: float = 1.0
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A place that a question names: its kind among ``path folder version``, as written."""

    kind: str
    name: str


def places(text: str) -> list[Place]:
    """Paths, folders and versions that a question names as places, whether or not they exist."""
    low = text.lower()
    found: list[Place] = []
    if "." in low or "/" in low:
        found += [Place("path", path) for path in _led_paths(text)]
    if any(word in low for word in _COLLECTIONS):
        found += [Place("folder", name) for name in re.findall(_FOLDER, text, re.IGNORECASE)]
    if any(character.isdigit() for character in low):
        found += [Place("version", name) for name in re.findall(_VERSION, text, re.IGNORECASE)]
    return found


def _led_paths(text: str) -> list[str]:
    """Paths behind a word such as "in", at the beginning, or joined to one of these."""
    found: list[str] = []
    end = -1  # of the last path found
    for match in re.finditer(PATH, text):
        start = match.start()
        is_joined = end >= 0 and text[end:start].lower().strip(_AROUND) in _JOINTS
        if is_joined or _is_led(text[max(0, start - _LONGEST_LEAD) : start]):
            found.append(match[0])
            end = match.end()
    return found


def _is_led(before: str) -> bool:
    words = before.lower().strip(_AROUND).split()
    while words and (words[-1] in _FILLERS or words[-1].endswith(_OWNERS)):
        words.pop()
    is_asked = len(words) > 1 and words[-2] == "what" and words[-1] in _ASKING
    return not words or words[-1] in _LEADS or is_asked


class FilePlaces:
    """Finds files by the end of their path or a folder on it, letter case ignored.

    Args:
        files: (files,) paths relative to the corpus root.
        root: path of the corpus root, which a question may write in front of a path.
    """

    def __init__(self, files: Sequence[str], root: str) -> None:
        low = [path.lower() for path in files]
        self._count = len(files)
        self._root = root.strip("/").lower() + "/"
        # one text of all paths: the search for a piece of it is one call in C
        self._text = "".join(f"/{path}\n" for path in low)
        self._ends = np.cumsum([len(path) + 2 for path in low], dtype=np.int64)

    def narrowing(self, places: Iterable[Place]) -> Narrowing:
        """The files that all places stand for, or else any of them ("in a.py and b.py").

        What names every file, or none, narrows nothing.
        """
        found = {place.name: self._files(place) for place in places}
        kept = {name: files for name, files in found.items() if 0 < files.size < self._count}
        if not kept:
            return Narrowing()
        sets = [frozenset(files.tolist()) for files in kept.values()]
        files = frozenset.intersection(*sets) or frozenset.union(*sets)
        return Narrowing(tuple(sorted(files)), FACTOR, tuple(_counted(kept.items())))

    def _files(self, place: Place) -> npt.NDArray[np.int64]:
        low = place.name.lower()
        if place.kind == "path":
            return self._named(low)
        if place.kind == "folder":
            return self._numbers(self._positions(f"/{low}/"))
        number = low.removeprefix("v")
        found = self._positions(f"{number}/")
        return self._numbers(at for at in found if self._is_version(at, "." in number))

    def _named(self, path: str) -> npt.NDArray[np.int64]:
        """Files whose path ends so, else files below a folder whose path ends so."""
        low = path.rstrip(".").removeprefix("./").removeprefix(self._root)
        name = low.strip("/")
        files = self._numbers(self._positions(f"/{name}\n") if name else ())
        is_folder = low.endswith("/") or ("/" in low and not files.size)
        return self._numbers(self._positions(f"/{name}/")) if is_folder and name else files

    def _is_version(self, at: int, is_dotted: bool) -> bool:
        """Whether a number is all of a folder's name, or its end: ``v2``, ``pump-2.3``."""
        if self._text[at - 1] == "v":
            at -= 1
        elif not is_dotted:
            return False
        return self._text[at - 1] in "/_-"

    def _positions(self, piece: str) -> Iterator[int]:
        at = self._text.find(piece)
        while at >= 0:
            yield at
            at = self._text.find(piece, at + 1)

    def _numbers(self, positions: Iterable[int]) -> npt.NDArray[np.int64]:
        """The files whose paths stand there, ascending."""
        starts = np.fromiter(positions, dtype=np.int64)
        return np.unique(np.searchsorted(self._ends, starts, "right"))


def _counted(found: Iterable[tuple[str, npt.NDArray[np.int64]]]) -> Iterable[str]:
    for name, files in found:
        yield f"{name} ({files.size} file{'s' if files.size > 1 else ''})"
