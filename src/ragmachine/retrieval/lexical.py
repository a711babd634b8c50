"""Lexical retrieval: BM25 of chunk, file and best passage, file names, priors, definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragmachine.retrieval.definitions import has_assignment, own_symbols
from ragmachine.retrieval.priors import learn_priors
from ragmachine.retrieval.ranking import Floats, Question, Scored, top

if TYPE_CHECKING:
    from ragmachine.index.reader import Index

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LexicalWeights:
    """How much each signal counts, as multiples of the chunk's own BM25 score.

    Attributes:
        file: BM25 of the whole file.
        passage: BM25 of the best passage of about 400 characters inside the chunk.
        name: share of the file name's words that the query holds, times the best score.
        has_priors: whether what a file is for counts; the next two say how much.
        support: factor for tests, examples, tools and the like, see `learn_priors`.
        documentation: factor for documentation, or code, where it is rare, see `learn_priors`.
        symbol: factor for chunks that define a name of the query; 1 switches it off.
        candidates: chunks that are rescored with their passages.
    """

    file: float = 0.4
    passage: float = 0.4
    name: float = 0.06
    has_priors: bool = True
    support: float = 0.9
    documentation: float = 1.2
    symbol: float = 1.1
    candidates: int = 200


class LexicalRetriever:
    """Ranks chunks by weighted query terms.

    Built once per index generation; `search` is read-only and thread-safe.
    """

    def __init__(self, index: Index, weights: LexicalWeights) -> None:
        self.index = index
        self.weights = weights
        self._file_factor: Floats = np.ones(len(index.files), dtype=np.float32)
        self._shown_priors: dict[str, float] = {}
        if weights.has_priors:
            priors = learn_priors(
                index.files,
                index.file_types,
                np.bincount(index.file_of_chunk, minlength=len(index.files)),
                support=weights.support,
                documentation=weights.documentation,
            )
            self._file_factor = priors.factors
            self._shown_priors = priors.by_role

    @property
    def decided_by(self) -> LexicalWeights:
        """The weights."""
        return self.weights

    def search(self, question: Question, count: int, also: Ids | None = None) -> list[Scored]:
        """The best chunks that score above 0; equal scores keep index order.

        Args:
            question: its terms, names, mask and narrowing are read.
            count: at least 1.
            also: chunks that are scored and returned beyond `count`, whatever they score.
        """
        question.notes.setdefault("priors", self._shown_priors)
        vocabulary = self.index.vocabulary
        known = {
            number: weight
            for term, weight in question.terms.items()
            if (number := vocabulary.get_number(term)) is not None
        }
        if not known or not self.index.chunk_count:
            return []
        lift = self._lift(question)
        base = self._weighted(self.index.chunk_scores, known)
        in_file = self.weights.file * self._weighted(self.index.file_scores, known)
        file_of = self.index.file_of_chunk
        score = (base + in_file[file_of]) * (self._file_factor * lift)[file_of]
        score[base <= 0] = 0.0
        if question.mask is not None:
            score[~question.mask] = 0.0
        found = min(max(self.weights.candidates, count), int(np.count_nonzero(score)))
        chunks = top(score, found)
        if also is not None:
            chunks = np.concatenate([chunks, np.setdiff1d(also, chunks)])
            count += len(also)
        if not chunks.size:
            return []
        stages = {
            "chunk": base[chunks],
            "file": in_file[file_of[chunks]],
            "passage": self.weights.passage * self._passage_scores(chunks, known),
        }
        final = self._add_factors(stages, chunks, question, lift, count)
        order = np.lexsort((chunks, -final))[:count]
        return [
            Scored(
                int(chunks[row]),
                float(final[row]),
                {stage: float(values[row]) for stage, values in stages.items()},
            )
            for row in order
        ]

    def _add_factors(
        self, stages: dict[str, Floats], chunks: Ids, question: Question, lift: Floats, count: int
    ) -> Floats:
        """The final scores; what each factor adds is noted as a stage of its own."""
        files = self.index.file_of_chunk[chunks]
        total = sum(stages.values(), np.zeros(len(chunks), dtype=np.float32))
        stages["name"] = (
            self.weights.name * self._name_coverage(files, question.terms) * float(total.max())
        )
        final: Floats = total + stages["name"]
        stages["role"] = (self._file_factor[files] - 1) * final
        final = final + stages["role"]
        if question.narrowing.files:
            stages["narrowing"] = (lift[files] - 1) * final
            final = final + stages["narrowing"]
        if question.names and self.weights.symbol != 1:
            defining = self._defines(chunks, question.names, final, count)
            stages["symbol"] = (self.weights.symbol - 1) * final * defining
            final = final + stages["symbol"]
        return final

    def _lift(self, question: Question) -> Floats:
        """(files,) factors of the files that the question names."""
        lift = np.ones(len(self.index.files), dtype=np.float32)
        lift[list(question.narrowing.files)] = question.narrowing.factor
        return lift

    @staticmethod
    def _weighted(model: object, known: Mapping[int, float]) -> Floats:
        """Sum of each term's scores times its weight; one bm25s call per distinct weight."""
        by_weight: dict[float, list[int]] = {}
        for term, weight in known.items():
            by_weight.setdefault(weight, []).append(term)
        parts: list[Floats] = [
            model.get_scores_from_ids(terms) * np.float32(weight)  # type: ignore[attr-defined]
            for weight, terms in by_weight.items()
        ]
        return parts[0] if len(parts) == 1 else np.sum(parts, axis=0, dtype=np.float32)

    def _passage_scores(self, chunks: Ids, known: Mapping[int, float]) -> Floats:
        """BM25 of the best passage of each chunk."""
        passages, bm25 = self.index.passages, self.index.bm25
        order = np.argsort(chunks)  # look-ups of ascending passages are far faster
        first = passages.first_of_chunk[chunks[order]]
        counts = passages.first_of_chunk[chunks[order] + 1] - first
        starts = np.cumsum(counts) - counts
        ids = np.repeat(first - starts, counts) + np.arange(int(counts.sum()))
        score = np.zeros(ids.size, dtype=np.float32)
        norm = bm25.norm(passages.length[ids], passages.mean_length)
        numbers = np.fromiter(known, dtype=np.int64, count=len(known))
        held = passages.indptr[numbers + 1] - passages.indptr[numbers]
        idfs = bm25.idf(held, passages.length.size)
        weights = (np.fromiter(known.values(), dtype=np.float64, count=len(known)) * idfs).tolist()
        for term, weight in zip(known, weights, strict=True):
            at, count = passages.holders(term, ids)
            if at.size:
                score[at] += weight * bm25.gain(count, norm[at])
        best: Floats = np.empty(len(chunks), dtype=np.float32)
        best[order] = np.maximum.reduceat(score, starts)
        return best

    def _defines(self, chunks: Ids, names: frozenset[str], score: Floats, count: int) -> Floats:
        """1 for each chunk that defines one of the names; only chunks it may bring up are read.

        A chunk defines a name where its label, or a part of it, ends in the name, and where a line
        of it gives the name its value.
        """
        low, high = sorted((1.0, self.weights.symbol))
        reach = np.arange(len(chunks))
        if count < len(chunks):
            bound = float(np.partition(score, len(chunks) - count)[len(chunks) - count])
            reach = np.flatnonzero(score * high >= bound * low)
        near = chunks[reach].tolist()
        held = self.index.holders(sorted(names), near)
        found = np.zeros(len(chunks), dtype=np.float32)
        for row, chunk, inside in zip(reach.tolist(), near, held, strict=True):
            found[row] = not names.isdisjoint(own_symbols(self.index.labels[chunk])) or (
                bool(inside) and self._assigns(chunk, inside)
            )
        return found

    def _assigns(self, chunk: int, names: Sequence[str]) -> bool:
        text = self.index.chunk_text(chunk).lower()
        return any(has_assignment(text, name) for name in names)

    def _name_coverage(self, files: npt.NDArray[np.int32], terms: Mapping[str, float]) -> Floats:
        """Share of a file name's words that the query holds."""
        cover = {file: self._cover(file, terms) for file in set(files.tolist())}
        return np.array([cover[file] for file in files.tolist()], dtype=np.float32)

    def _cover(self, file: int, terms: Mapping[str, float]) -> float:
        words = self.index.name_terms(file)
        if words.isdisjoint(terms):
            return 0.0
        return sum(min(1.0, terms.get(term, 0.0)) for term in words) / len(words)
