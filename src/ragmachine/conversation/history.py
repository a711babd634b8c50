"""What was asked and answered so far, as much of it as later questions need."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from ragmachine.models import Answer

from .sources import Source


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its answer.

    Attributes:
        asked: as typed.
        question: as searched for: it stands alone.
        answer: the answer's text; "" where none was given.
        is_refusal: whether the answer is that nothing is known.
    """

    asked: str
    question: str
    answer: str = ""
    is_refusal: bool = False


@dataclass(slots=True)
class Conversation:
    """The last turns, and all of the last answer.

    Attributes:
        turns: oldest first; the oldest goes when there are more than `most`.
        answer: the last answer; None before the first.
        sources: what the last answer cites, or the nearest passages where it cites nothing.
        most: turns that are kept.
    """

    most: int = 50
    turns: deque[Turn] = field(default_factory=deque)
    answer: Answer | None = None
    sources: tuple[Source, ...] = ()

    def add(
        self, asked: str, question: str, answer: Answer, sources: tuple[Source, ...] = ()
    ) -> None:
        """Remember a question and its answer."""
        self.turns.append(Turn(asked, question, answer.text, answer.is_refusal))
        while len(self.turns) > self.most:
            self.turns.popleft()
        self.answer, self.sources = answer, sources

    def clear(self) -> None:
        """Forget everything."""
        self.turns.clear()
        self.answer, self.sources = None, ()

    @property
    def questions(self) -> list[str]:
        """The questions so far, each standing alone, oldest first."""
        return [turn.question for turn in self.turns]

    @property
    def places(self) -> dict[int, str]:
        """Paths of the last answer's sources by number."""
        return {source.number: source.file_path for source in self.sources}
