"""Nearest vectors, approximately: faiss graphs and compressed lists behind `VectorIndex`.

Both compare by the inner product, so that what faiss returns is a similarity already.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ragmachine.errors import RagError
from ragmachine.index.files import damage, storage_errors
from ragmachine.index.vectors import (
    METADATA_FILE,
    FlatIndex,
    Floats,
    Ids,
    Mask,
    Similarities,
    VectorIndex,
    check_vectors,
    checked_mask,
    checked_query,
    read_metadata,
    top_k,
    write_metadata,
)

_FAISS_FILE = "index.faiss"
# Below this share of the vectors a graph is mostly walked through what a mask forbids.
_EXACT_SHARE = 0.05


class _FaissIndex(ABC):
    """What both kinds share: sizes, masks that must not empty a result, and files."""

    _kind = ""

    def __init__(self, **parameters: int) -> None:
        self._parameters = parameters
        self._faiss: Any = None
        self._dimensions = 0

    @property
    def count(self) -> int:
        """Number of vectors."""
        return int(self._faiss.ntotal) if self._faiss is not None else 0

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 before `build`."""
        return self._dimensions

    def build(self, vectors: Floats) -> None:
        """Take the vectors in, with all cores; see `VectorIndex.build`.

        Raises: RagError: faiss is not installed.
        """
        check_vectors(vectors)
        made = self._make(np.ascontiguousarray(vectors, dtype=np.float32)) if len(vectors) else None
        self._faiss, self._dimensions = made, int(vectors.shape[1])

    def search(self, query: Floats, k: int, mask: Mask | None = None) -> tuple[Ids, Similarities]:
        """The vectors most similar to the query; see `VectorIndex.search`.

        Some of the true k may be missing, but there are k of them whenever there are k to find.
        """
        wanted = checked_query(query, k, self._dimensions)
        allowed = None if mask is None else checked_mask(mask, self.count)
        reachable = self.count if allowed is None else len(allowed)
        k = min(k, reachable)
        if not k:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        if allowed is not None and reachable <= _EXACT_SHARE * self.count:
            return self._search_all(wanted, k, allowed)
        found = self._search_some(wanted, k, mask, self.count / reachable)
        return found if len(found[0]) == k else self._search_all(wanted, k, allowed)

    def save(self, folder: str) -> None:
        """Write ``vectors.json`` and ``index.faiss``; see `VectorIndex.save`."""
        data = b"" if self._faiss is None else _faiss().serialize_index(self._faiss).tobytes()
        with storage_errors(folder):
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, _FAISS_FILE), "wb") as stream:
                stream.write(data)
            write_metadata(
                folder,
                self._kind,
                self.count,
                self._dimensions,
                parameters=self._parameters,
                sha256=hashlib.sha256(data).hexdigest(),
            )

    @classmethod
    def load(cls, folder: str) -> Self:
        """Open what `save` wrote, in memory; see `VectorIndex.load`.

        faiss's own parser, which trusts what it reads, sees the file only when its hash is right.
        """
        metadata = read_metadata(folder, cls._kind)
        with damage(os.path.join(folder, METADATA_FILE)):
            index = cls(**metadata["parameters"])
        path = os.path.join(folder, _FAISS_FILE)
        with damage(path), open(path, "rb") as stream:
            data = stream.read()
            if hashlib.sha256(data).hexdigest() != metadata.get("sha256"):
                raise ValueError("not what was written")
        index._dimensions = metadata["dimensions"]
        if data:
            index._faiss = _faiss().deserialize_index(np.frombuffer(data, dtype=np.uint8))
        return index

    @abstractmethod
    def _make(self, vectors: npt.NDArray[np.float32]) -> Any:
        """Build the faiss index of (n, d) vectors, n positive."""

    @abstractmethod
    def _search_some(
        self, query: Similarities, k: int, mask: Mask | None, rarity: float
    ) -> tuple[Ids, Similarities]:
        """Search the usual way; for each vector that may be found there are `rarity` in all."""

    @abstractmethod
    def _search_all(
        self, query: Similarities, k: int, allowed: Ids | None
    ) -> tuple[Ids, Similarities]:
        """Compare with every vector that may be found."""

    def _ask(self, query: Similarities, k: int, parameters: Any) -> tuple[Ids, Similarities]:
        """One faiss search; where it finds less than k it fills up with -1."""
        # A few more than asked for, so that ties at the edge are settled here, by id.
        similarities, ids = self._faiss.search(query[None], k + 8, params=parameters)
        by_id = np.argsort(ids[0], kind="stable")
        by_id = by_id[ids[0][by_id] >= 0]
        return top_k(similarities[0][by_id], k, ids[0][by_id])


class HnswIndex(_FaissIndex):
    """A navigable small world graph (Malkov and Yashunin, 2018) over float32 vectors.

    Building with several threads links in another order each time: results may differ slightly
    between two builds.

    Args:
        links: neighbours of a vector in the upper layers, M; twice as many in the lowest.
        construction_breadth: candidates kept while a vector is linked, efConstruction.
        search_breadth: candidates kept while a query is answered, efSearch; grows with k, and with
            the share of the vectors that a mask forbids.
    """

    _kind = "hnsw"

    def __init__(
        self, links: int = 32, construction_breadth: int = 200, search_breadth: int = 128
    ) -> None:
        if min(links - 1, construction_breadth, search_breadth) < 1:
            raise ValueError("a graph has two links or more, and breadths are positive")
        super().__init__(
            links=links,
            construction_breadth=construction_breadth,
            search_breadth=search_breadth,
        )
        self._links = links
        self._construction_breadth = construction_breadth
        self._search_breadth = search_breadth

    def _make(self, vectors: npt.NDArray[np.float32]) -> Any:
        faiss = _faiss()
        made = faiss.IndexHNSWFlat(vectors.shape[1], self._links, faiss.METRIC_INNER_PRODUCT)
        made.hnsw.efConstruction = self._construction_breadth
        made.add(vectors)
        return made

    def _search_some(
        self, query: Similarities, k: int, mask: Mask | None, rarity: float
    ) -> tuple[Ids, Similarities]:
        breadth = int(max(self._search_breadth, 2 * k) * rarity)
        parameters = _faiss().SearchParametersHNSW(efSearch=breadth, sel=_selector(mask))
        return self._ask(query, k, parameters)

    def _search_all(
        self, query: Similarities, k: int, allowed: Ids | None
    ) -> tuple[Ids, Similarities]:
        ids = np.arange(self.count) if allowed is None else allowed
        return top_k(self._faiss.reconstruct_batch(ids) @ query, k, ids)


class IvfPqIndex(_FaissIndex):
    """Inverted lists of product-quantised vectors (Jégou, Douze and Schmid, 2011).

    A small fraction of the bytes, and similarities that are estimates: to be rescored.

    Args:
        lists: clusters that the vectors are sorted into; 0 for four times the root of their number.
        probes: clusters searched for a query, nprobe; grows with what a mask forbids.
        pieces: parts that a vector is cut into, m; must divide its length.
        bits: bits that each part is kept in; fewer when there are too few vectors to learn from.
    """

    _kind = "ivfpq"

    def __init__(self, lists: int = 0, probes: int = 32, pieces: int = 48, bits: int = 8) -> None:
        if lists < 0 or min(probes, pieces) < 1 or not 1 <= bits <= 12:
            raise ValueError("probes and pieces are positive, and a part takes 1 to 12 bits")
        super().__init__(lists=lists, probes=probes, pieces=pieces, bits=bits)
        self._lists = lists
        self._probes = probes
        self._pieces = pieces
        self._bits = bits

    def _make(self, vectors: npt.NDArray[np.float32]) -> Any:
        count, dimensions = vectors.shape
        if dimensions % self._pieces:
            raise ValueError(f"{self._pieces} pieces do not divide {dimensions} dimensions")
        faiss = _faiss()
        lists = min(self._lists or round(4 * count**0.5), count)
        bits = min(self._bits, max(count.bit_length() - 1, 1))
        made = faiss.IndexIVFPQ(
            faiss.IndexFlatIP(dimensions),
            dimensions,
            lists,
            self._pieces,
            bits,
            faiss.METRIC_INNER_PRODUCT,
        )
        # Else faiss writes to the terminal that it would have liked more vectors.
        made.cp.min_points_per_centroid = made.pq.cp.min_points_per_centroid = 1
        made.train(vectors)
        made.add(vectors)
        return made

    def _search_some(
        self, query: Similarities, k: int, mask: Mask | None, rarity: float
    ) -> tuple[Ids, Similarities]:
        return self._probe(query, k, mask, round(self._probes * rarity))

    def _search_all(
        self, query: Similarities, k: int, allowed: Ids | None
    ) -> tuple[Ids, Similarities]:
        mask = None
        if allowed is not None:
            mask = np.zeros(self.count, dtype=np.bool_)
            mask[allowed] = True
        return self._probe(query, k, mask, int(self._faiss.nlist))

    def _probe(
        self, query: Similarities, k: int, mask: Mask | None, probes: int
    ) -> tuple[Ids, Similarities]:
        parameters = _faiss().SearchParametersIVF(
            nprobe=min(probes, int(self._faiss.nlist)), sel=_selector(mask)
        )
        return self._ask(query, k, parameters)


_KINDS: dict[str, type[VectorIndex]] = {"flat": FlatIndex, "hnsw": HnswIndex, "ivfpq": IvfPqIndex}


def load_vectors(folder: str) -> VectorIndex:
    """Open an index of any kind, as its own ``vectors.json`` says.

    Raises:
        IndexCorruptError: a file is missing or not what was written; names it.
        RagError: the kind needs faiss, which is not installed.
    """
    metadata = read_metadata(folder)
    with damage(os.path.join(folder, METADATA_FILE)):
        kind = _KINDS[metadata["kind"]]
    return kind.load(folder)


def _selector(mask: Mask | None) -> Any:
    if mask is None:
        return None
    return _faiss().IDSelectorBitmap(np.packbits(mask, bitorder="little"))


def _faiss() -> Any:
    if importlib.util.find_spec("faiss") is None:
        raise RagError(
            "faiss is not installed, so approximate vector indexes cannot be used",
            remedy="type `uv sync --extra ann`, or `pip install 'ragmachine[ann]'`;"
            " the exact index needs nothing",
        )
    import faiss

    return faiss
