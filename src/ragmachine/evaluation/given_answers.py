"""Answers to be judged: what each says, cites and claims, beside what was retrieved for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragmachine.errors import DatasetError

from .measures import Span

if TYPE_CHECKING:
    from ragmachine.exchange import SearchEntry
    from ragmachine.models import Answer

_CODE = r"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)"
_MARK = re.compile(_CODE + r"|\[(?P<numbers>\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]", re.DOTALL)
_REFUSAL = re.compile(r"[^.!?\n]*\bI\s+(?:do\s+not|don['’]?t)\s+know\b", re.IGNORECASE)
_RERUN = "write the answers again with answer_dataset"


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One answer to be judged.

    Attributes:
        text: with its marks ``[n]``.
        retrieved: the spans it was made from, best first.
        cited: the spans it cites, each once; None for a number that names nothing.
        is_refusal: whether it says that nothing is known.
        supported: a verdict for each sentence; None where nobody looked.
    """

    text: str
    retrieved: tuple[Span, ...] = ()
    cited: tuple[Span | None, ...] = ()
    is_refusal: bool = False
    supported: tuple[bool, ...] | None = None

    @property
    def words(self) -> str:
        """The text without citation marks; code stays as it is."""
        return _MARK.sub(lambda m: m[0] if m["code"] or not _numbers(m) else "", self.text)


def given_answer(answer: Answer, *, is_checked: bool = True) -> GivenAnswer:
    """An answer of this program.

    Args:
        answer: just made.
        is_checked: whether its sentences were looked up anywhere.
    """
    spans = {c.number: Span(c.file_path, c.start, c.end) for c in answer.citations}
    chunks = [hit.chunk for hit in answer.result.hits]
    return GivenAnswer(
        answer.text,
        tuple(Span(chunk.file_path, chunk.start, chunk.end) for chunk in chunks),
        tuple(dict.fromkeys(spans.values())),
        answer.is_refusal,
        tuple(one.is_supported for one in answer.sentences) if is_checked else None,
    )


def read_answer(entry: SearchEntry) -> GivenAnswer | None:
    """The answer of an entry; None where it has none.

    ``[n]`` names the entry's n-th citation by its number, where it lists citations, and else its
    n-th retrieved source. Whether it refuses and which sentences are supported is read where the
    entry says so; a refusal is else one whose first sentence says "I don't know".

    Raises: DatasetError: a field is there and has another shape.
    """
    extra = entry.model_extra or {}
    text = extra.get("answer", getattr(entry, "answer", None))
    if text is None:
        return None
    if not isinstance(text, str):
        raise _malformed(entry, "answer is not text")
    retrieved = tuple(
        Span(source.file_path, source.first_character_index, source.last_character_index)
        for source in entry.retrieved_sources
    )
    listed = _citations(entry, extra)
    named = dict(enumerate(retrieved, 1)) if listed is None else listed
    marks = (n for match in _MARK.finditer(text) for n in _numbers(match))
    cited = [named.get(number) for number in dict.fromkeys(marks)] if listed is None else []
    refused = extra.get("refused")
    if refused is not None and not isinstance(refused, bool):
        raise _malformed(entry, "refused is neither true nor false")
    return GivenAnswer(
        text,
        retrieved,
        tuple(dict.fromkeys([*cited, *(listed or {}).values()])),
        _REFUSAL.match(text.strip()) is not None if refused is None else refused,
        _verdicts(entry, extra),
    )


def _numbers(match: re.Match[str]) -> list[int]:
    """The numbers of a mark; [4, 4] is a shape, and code holds indices."""
    if match["code"] or match["numbers"] is None:
        return []
    numbers = [int(number) for number in re.split(r"[,;]", match["numbers"])]
    return numbers if len(set(numbers)) == len(numbers) else []


def _citations(entry: SearchEntry, extra: Mapping[str, Any]) -> dict[int, Span] | None:
    """The spans that an entry lists as cited, by number, or by place where they have none."""
    listed = extra.get("citations")
    if listed is None:
        return None
    try:
        return {
            int(one.get("number", place)): Span(
                str(one["file_path"]),
                int(one["first_character_index"]),
                int(one["last_character_index"]),
            )
            for place, one in enumerate(listed, 1)
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _malformed(entry, "citations are no list of spans") from None


def _verdicts(entry: SearchEntry, extra: Mapping[str, Any]) -> tuple[bool, ...] | None:
    sentences = extra.get("sentences")
    if sentences is None:
        return None
    try:
        verdicts = [sentence["supported"] for sentence in sentences]
    except (KeyError, TypeError):
        verdicts = [None]
    if not all(isinstance(verdict, bool) for verdict in verdicts):
        raise _malformed(entry, "sentences are no list with a verdict for each")
    return tuple(verdicts)


def _malformed(entry: SearchEntry, why: str) -> DatasetError:
    return DatasetError(f"the entry of question {entry.question_id!r}: {why}", remedy=_RERUN)
