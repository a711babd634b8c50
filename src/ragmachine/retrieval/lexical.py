"""Lexical retrieval: BM25 of chunk, file and best passage, file-name coverage, file roles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragmachine.index.sparse import K1, B
from ragmachine.retrieval.priors import role_factors

if TYPE_CHECKING:
    from ragmachine.index.reader import Index

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LexicalWeights:
    """How much each signal counts, as multiples of the chunk's own BM25 score.

    Attributes:
        file: BM25 of the whole file.
        passage: BM25 of the best passage of about 400 characters inside the chunk.
        name: share of the file name's words that the query holds, times the best score.
        support: factor for tests, examples, tools and the like, see `role_factors`.
        documentation: factor for documentation among code, see `role_factors`.
        symbol: factor for chunks that define a name of the query; 1 switches it off.
        candidates: chunks that are rescored with their passages.
    """

    file: float = 0.4
    passage: float = 0.4
    name: float = 0.06
    support: float = 0.9
    documentation: float = 1.15
    symbol: float = 1.1
    candidates: int = 200


@dataclass(frozen=True, slots=True)
class Scored:
    """A retrieved chunk number with its score and what each stage gave."""

    chunk: int
    score: float
    stages: dict[str, float]


class LexicalRetriever:
    """Ranks chunks by weighted query terms.

    Built once per index generation; `search` is read-only and thread-safe.
    """

    def __init__(self, index: Index, weights: LexicalWeights) -> None:
        self.index = index
        self.weights = weights
        self._file_factor = role_factors(
            index.files,
            index.file_types,
            np.bincount(index.file_of_chunk, minlength=len(index.files)),
            support=weights.support,
            documentation=weights.documentation,
        )

    def search(
        self,
        terms: Mapping[str, float],
        k: int,
        *,
        mask: Mask | None = None,
        names: frozenset[str] = frozenset(),
    ) -> list[Scored]:
        """The k best chunks that score above 0; equal scores keep index order.

        Args:
            terms: index terms of the query with their weights; unknown ones are ignored.
            k: at least 1.
            mask: (chunks,) which chunks may be found; None lets all.
            names: names that the query asks about, lower-case.
        """
        vocabulary = self.index.vocabulary
        known = {
            number: weight
            for term, weight in terms.items()
            if (number := vocabulary.get_number(term)) is not None
        }
        if not known or not self.index.chunk_count:
            return []
        base = self._weighted(self.index.chunk_scores, known)
        in_file = self._weighted(self.index.file_scores, known)
        file_of = self.index.file_of_chunk
        score = base + self.weights.file * in_file[file_of]
        score *= self._file_factor[file_of]
        score[base <= 0] = 0.0
        if mask is not None:
            score[~mask] = 0.0
        count = min(max(self.weights.candidates, k), int(np.count_nonzero(score)))
        if not count:
            return []
        candidates = top(score, count)
        stages = {
            "chunk": base[candidates],
            "file": self.weights.file * in_file[file_of[candidates]],
            "passage": self.weights.passage * self._passage_scores(candidates, known),
        }
        factor = self._file_factor[file_of[candidates]]
        total = sum(stages.values(), np.zeros(len(candidates), dtype=np.float32))
        name = self.weights.name * self._name_coverage(candidates, terms) * float(total.max())
        stages["name"] = name
        final = (total + name) * factor
        stages["role"] = final - total - name
        if names and self.weights.symbol != 1:
            stages["symbol"] = (self.weights.symbol - 1) * final * self._defines(candidates, names)
            final = final + stages["symbol"]
        order = np.lexsort((candidates, -final))[:k]
        return [
            Scored(
                int(candidates[row]),
                float(final[row]),
                {stage: float(values[row]) for stage, values in stages.items()},
            )
            for row in order
        ]

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

    def _passage_scores(self, chunks: npt.NDArray[np.int64], known: Mapping[int, float]) -> Floats:
        """BM25 of the best passage of each chunk."""
        passages = self.index.passages
        first = passages.first_of_chunk[chunks]
        counts = passages.first_of_chunk[chunks + 1] - first
        starts = np.cumsum(counts) - counts
        ids = np.repeat(first - starts, counts) + np.arange(int(counts.sum()))
        score = np.zeros(ids.size, dtype=np.float32)
        norm = K1 * (1 - B + B * passages.length[ids] / passages.mean_length)
        total = passages.length.size
        for term, weight in known.items():
            begin, end = int(passages.indptr[term]), int(passages.indptr[term + 1])
            if begin == end:
                continue  # a word of labels and paths alone
            holders = passages.items[begin:end]
            at = np.searchsorted(holders, ids)
            at[at == holders.size] = 0
            hit = holders[at] == ids
            tf = passages.counts[begin:end][at[hit]].astype(np.float32)
            frequency = end - begin
            idf = math.log1p((total - frequency + 0.5) / (frequency + 0.5))
            score[hit] += weight * idf * tf / (tf + norm[hit])
        best: Floats = np.maximum.reduceat(score, starts)
        return best

    def _defines(self, chunks: npt.NDArray[np.int64], names: frozenset[str]) -> Floats:
        """1 for each chunk whose label ends, or one of whose labels ends, in one of the names."""
        labels = (self.index.labels[chunk] for chunk in chunks.tolist())
        found = [not names.isdisjoint(own_symbols(label)) for label in labels]
        return np.array(found, dtype=np.float32)

    def _name_coverage(self, chunks: npt.NDArray[np.int64], terms: Mapping[str, float]) -> Floats:
        """Share of a file name's words that the query holds."""
        files = self.index.file_of_chunk[chunks]
        cover = {file: self._cover(file, terms) for file in set(files.tolist())}
        return np.array([cover[file] for file in files.tolist()], dtype=np.float32)

    def _cover(self, file: int, terms: Mapping[str, float]) -> float:
        words = self.index.name_terms(file)
        return sum(min(1.0, terms.get(term, 0.0)) for term in words) / len(words) if words else 0.0


def own_symbols(label: str) -> set[str]:
    """The innermost name of each part of a label, lower-case: what the chunk itself defines.

    ``Class: Cache - Method: get; Function: run`` gives ``get`` and ``run``.
    """
    parts = (part for part in label.split("; ") if not part.startswith("Section: "))
    return {part.rpartition(": ")[2].rpartition(".")[2].lower() for part in parts}


def top(score: Floats, count: int) -> npt.NDArray[np.int64]:
    """Positions of the `count` largest scores, best first, ties by position."""
    if count >= score.size:
        chosen = np.arange(score.size)
    else:
        bound = np.partition(score, score.size - count)[score.size - count]
        above = np.flatnonzero(score > bound)
        level = np.flatnonzero(score == bound)[: count - above.size]
        chosen = np.concatenate([above, level])
    return chosen[np.lexsort((chosen, -score[chosen]))]


def weighted_terms(
    terms: Sequence[str], expansions: Sequence[str], weight: float
) -> dict[str, float]:
    """Query terms at weight 1 and expansions at `weight`, never in place of a query term."""
    return {**dict.fromkeys(expansions, weight), **dict.fromkeys(terms, 1.0)}
