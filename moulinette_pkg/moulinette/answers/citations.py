"""Citation precision and recall: whether an answer points at the passages that hold it."""

import re
from collections.abc import Sequence

from ..overlap import Span, is_found

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_MARK = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]")


def cited_numbers(answer: str) -> tuple[int, ...]:
    """Numbers of the marks [n], [n, m] or [n; m] of an answer, each once, in order of appearance.

    Code, in backticks or fences, is not read: `x[1]` there is an index. Nor is a list that repeats
    a number: [4, 4] is a shape.
    """
    marks = _MARK.finditer(_CODE.sub(" ", answer))
    return tuple(dict.fromkeys(number for mark in marks for number in _numbers(mark)))


def without_marks(answer: str) -> str:
    """The answer without its citation marks; code is left as it is."""
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(answer):
        parts += _remove_marks(answer[end : code.start()]), code.group()
        end = code.end()
    return "".join([*parts, _remove_marks(answer[end:])])


def _numbers(mark: re.Match[str]) -> list[int]:
    numbers = [int(number) for number in re.split(r"[,;]", mark.group(1))]
    return numbers if len(set(numbers)) == len(numbers) else []


def _remove_marks(text: str) -> str:
    return _MARK.sub(lambda mark: "" if _numbers(mark) else mark.group(), text)


def cited_spans(
    answer: str, retrieved: Sequence[Span], declared: Sequence[Span] | None = None
) -> tuple[Span | None, ...]:
    """What an answer cites: the spans it declares, or else the retrieved source of each [n].

    A tool that merges passages before it numbers them declares what its numbers name.

    Args:
        retrieved: [1] names the first.
        declared: None where the answer declares nothing.
    Returns: each span once; None for each number that names no retrieved source.
    """
    if declared is not None:
        return tuple(dict.fromkeys(declared))
    named: list[Span | None] = []
    for number in cited_numbers(answer):
        source = retrieved[number - 1] if 1 <= number <= len(retrieved) else None
        if source is None or source not in named:
            named.append(source)
    return tuple(named)


def citation_precision(true_sources: Sequence[Span], cited: Sequence[Span | None]) -> float | None:
    """Share of the citations that overlap a true source by more than 0.05.

    Returns: 0.0 to 1.0, a number that names no source being a wrong citation; None without any
        citation.
    Source: Gao et al., "Enabling Large Language Models to Generate Text with Citations",
        EMNLP 2023, with spans in place of their entailment model.
    """
    if not cited:
        return None
    right = [span is not None and is_found(span, true_sources) for span in cited]
    return sum(right) / len(right)


def citation_recall(true_sources: Sequence[Span], cited: Sequence[Span | None]) -> float | None:
    """Share of the true sources that a citation overlaps by more than 0.05.

    Returns: 0.0 to 1.0; None without any true source.
    Source: as `citation_precision`.
    """
    if not true_sources:
        return None
    spans = [span for span in cited if span is not None]
    return sum(is_found(source, spans) for source in true_sources) / len(true_sources)
