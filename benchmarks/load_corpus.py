"""A corpus that says in every file which generation it is of, for rebuilds under load."""

from __future__ import annotations

import json
import re
from pathlib import Path

_SAYS = re.compile(r"Generation (\d+) says")
_PLACES = ("Ayr", "Bude", "Cowes", "Deal", "Eyemouth", "Fowey", "Goole", "Hayle")
_FILLER = "Vessels wait outside while the harbour master reads the gauge at the pier. " * 12


class Generations:
    """Writes generations, and judges whether an answer is of one alone.

    Args:
        folder: of the corpus; made here.
        files: of the first generation. Each later one has a file more, so that the number of
            chunks, which every answer tells, is another one too.

    Attributes:
        folder: likewise.
        number: of the generation that is written; 0 is the first.
        seen: numbers of which there was an answer.
        mixed: answers of more than one generation, or of none.
        questions: to ask.
    """

    def __init__(self, folder: Path, files: int) -> None:
        self.folder = folder
        self.number = 0
        self.seen: set[int] = set()
        self.mixed = 0
        self.questions = [f"What does generation say of the tide at {at}?" for at in _PLACES]
        self._files = files
        folder.mkdir(parents=True)
        self._write()

    def advance(self) -> None:
        """Write the next generation over this one."""
        self.number += 1
        self._write()

    def is_whole(self, answer: bytes) -> bool:
        """Whether every passage of a /search is of one generation, and so is their number."""
        document = json.loads(answer)
        rows = document["retrieved_chunks"]
        said = {int(number) for row in rows for number in _SAYS.findall(row["text"])}
        said.add(document["metrics"]["total_chunks"] - self._files)
        is_one = len(said) == 1 and len(rows) > 1
        self.mixed += not is_one
        self.seen |= said if is_one else set()
        return is_one

    def _write(self) -> None:
        for file in range(self._files + self.number):
            at = f"{_PLACES[file % len(_PLACES)]} pier {file}"
            text = f"# Tide at {at}\n\nGeneration {self.number} says 3 m of {at}.\n\n{_FILLER}\n"
            (self.folder / f"tide{file}.md").write_text(text, encoding="utf-8")
