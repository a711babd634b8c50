"""What a query asks for: terms with weights, names, quoted phrases, files, and likely slips.

Everything is read off the query's own form and the index's vocabulary; nothing is learned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

# A name whose whole was already counted says less by its parts: measured best of .4 to 1.
PART_WEIGHT = 0.5
CORRECTION_WEIGHT = 0.8
_LETTERS = "abcdefghijklmnopqrstuvwxyz_0123456789"
SHORTEST_CORRECTED = 5
_MAX_CORRECTIONS = 3
_FEWEST_CHUNKS = 50  # in a smaller corpus, a word of most chunks may well be its subject
# Other spellings of one word, at the end of a stem: recognis and recogniz, flavour and flavor.
_SPELLINGS = (("is", "iz"), ("ys", "yz"), ("our", "or"), ("ll", "l"), ("ogu", "og"), ("c", "s"))
# Compiled by `re` when first used: a search that is not explained needs only the last two.
_QUOTED = r"\"([^\"\n]{2,200})\"|`([^`\n]{2,200})`|“([^”\n]{2,200})”"
# docs/guide/ and src/a.py, or sampler.py
PATH = r"(?<![\w./-])(?:(?:[\w.-]+/)+[\w.-]*|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,5}(?![\w/]))"
_FLAG = r"(?<![\w-])--[A-Za-z][\w-]*"
_NUMBER = r"(?<![\w.])\d+(?:\.\d+)*(?![\w])"
_NAMED = r"\b(?:class|def|function|method|struct)\s+([A-Za-z_]\w*)"
_IDENTIFIER = r"[A-Za-z_][\w.]*"
_CODE = r"(?<![\w.])[A-Za-z]{0,3}(?:\d+\.)*\d{4,}(?:\.\d+)*(?![\w])"


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """A query taken apart.

    Attributes:
        text: as asked.
        terms: index terms with their weights, in order of first mention.
        evidence: of these, those that stand for the words of the query, each word once: a name
            that somebody wrote by its whole, another by its parts, a slip by what was meant.
        ignored: terms left out because nearly every chunk holds them.
        corrections: term that nobody wrote to the term that was probably meant.
    """

    text: str
    terms: Mapping[str, float]
    evidence: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    corrections: Mapping[str, str] = field(default_factory=dict)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Words that look like names in a program, as written.

        They have an underscore, an inner capital, a dot between letters, or capitals only.
        """
        words = (word.rstrip(".") for word in re.findall(_IDENTIFIER, self.text))
        return tuple(dict.fromkeys(word for word in words if _is_identifier(word)))

    @property
    def phrases(self) -> tuple[str, ...]:
        """Quoted or back-quoted passages, without their quotes."""
        return tuple(next(filter(None, groups)) for groups in re.findall(_QUOTED, self.text))

    @property
    def paths(self) -> tuple[str, ...]:
        """Words that look like files or folders, as written."""
        found = re.findall(PATH, self.text)
        return tuple(dict.fromkeys(word for word in found if not re.fullmatch(_NUMBER, word)))

    @property
    def flags(self) -> tuple[str, ...]:
        """Command line options such as ``--max-model-len``."""
        return tuple(dict.fromkeys(re.findall(_FLAG, self.text)))

    @property
    def numbers(self) -> tuple[str, ...]:
        """Numbers and versions."""
        return tuple(dict.fromkeys(re.findall(_NUMBER, self.text)))

    @property
    def codes(self) -> tuple[str, ...]:
        """Numbers of parts, errors and standards: four digits together or more, as written."""
        return tuple(dict.fromkeys(re.findall(_CODE, self.text)))

    @property
    def names(self) -> frozenset[str]:
        """Names asked about, lower-case: identifiers, words after ``class``, a lone word."""
        words = self.text.split()
        alone = words if len(words) == 1 else []
        named = (*self.identifiers, *re.findall(_NAMED, self.text), *alone)
        return frozenset(part.lower() for name in named for part in (name, name.rpartition(".")[2]))


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """What the analysis does beyond reading terms.

    Attributes:
        part_weight: weight of the parts of a name whose whole is a term too; 1 switches it off.
        common_share: terms in more than this share of all chunks are ignored, unless nothing that
            somebody wrote is left; 1 ignores none.
        does_correct: whether slips in words that occur nowhere are mended.
    """

    part_weight: float = PART_WEIGHT
    common_share: float = 0.9
    does_correct: bool = True


def analyze_query(
    query: str,
    expand_words: Sequence[tuple[str, tuple[str, ...]]],
    frequency: Callable[[str], int],
    total: int,
    options: AnalysisOptions,
) -> QueryAnalysis:
    """Take a query apart.

    Args:
        query: as asked.
        expand_words: (raw word, its index terms, the whole first) for each word that counts, in
            order.
        frequency: number of chunks that hold a term; 0 for a term nobody wrote.
        total: number of chunks in the index.
        options: see `AnalysisOptions`.
    """
    weights: dict[str, float] = {}
    evidence: dict[str, None] = {}
    corrections: dict[str, str] = {}
    for _, terms in expand_words:
        if not terms:
            continue
        is_known = frequency(terms[0]) > 0
        standing = terms[:1] if is_known else terms[1:] or terms
        if not is_known and options.does_correct and len(corrections) < _MAX_CORRECTIONS:
            meant = correct(terms[0], frequency)
            if meant:
                corrections[terms[0]] = meant
                weights.setdefault(meant, CORRECTION_WEIGHT)
                standing = (meant,)
        evidence |= dict.fromkeys(standing)
        for position, term in enumerate(terms):
            weight = options.part_weight if position else 1.0
            weights[term] = max(weight, weights.get(term, 0.0))
    ignored = _ignored(weights, frequency, total, options.common_share)
    return QueryAnalysis(
        text=query,
        terms={term: weight for term, weight in weights.items() if term not in ignored},
        evidence=tuple(term for term in evidence if term not in ignored),
        ignored=ignored,
        corrections=corrections,
    )


def _ignored(
    weights: Mapping[str, float], frequency: Callable[[str], int], total: int, share: float
) -> tuple[str, ...]:
    """Terms of nearly every chunk, where others that somebody wrote are left."""
    if share >= 1 or total < _FEWEST_CHUNKS:
        return ()
    counts = {term: frequency(term) for term in weights}
    common = tuple(term for term, count in counts.items() if count > share * total)
    return common if any(0 < count <= share * total for count in counts.values()) else ()


def _is_identifier(word: str) -> bool:
    has_shape = "_" in word or "." in word or re.search(r"[a-z0-9][A-Z]|[A-Z]{2}", word)
    return bool(has_shape) and len(word) > 1


def correct(
    word: str, frequency: Callable[[str], int], *, shortest: int = SHORTEST_CORRECTED
) -> str:
    """The known word one slip away: a letter dropped, added, changed, or two swapped.

    Args:
        word: an index term that nobody wrote.
        frequency: of a term in the index.
        shortest: shorter words are left alone, having too many neighbours.
    Returns: another spelling of the same word where there is one, else the most frequent, else "";
        equal frequencies keep the alphabetically first.
    Source: Norvig, "How to Write a Spelling Corrector", 2007: candidates at distance one.
    """
    if len(word) < shortest or not word.isascii() or word.isdigit():
        return ""
    for spelling in _other_spellings(word):
        if frequency(spelling):
            return spelling
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    candidates = {a + b[1:] for a, b in splits if b}
    candidates |= {a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1}
    candidates |= {a + c + b[1:] for a, b in splits if b for c in _LETTERS}
    candidates |= {a + c + b for a, b in splits for c in _LETTERS}
    known = [(-frequency(c), c) for c in candidates if frequency(c)]
    return min(known)[1] if known else ""


def _other_spellings(word: str) -> list[str]:
    pairs = [pair for known in _SPELLINGS for pair in (known, known[::-1])]
    return [word.removesuffix(old) + new for old, new in pairs if word.endswith(old)]
