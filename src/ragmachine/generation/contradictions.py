"""What a sentence turns round: a negation, a word for its opposite, or whose value a number is.

Careful rather than complete: what may be read in two ways contradicts nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from .phrasing import GLUE, ROLES

_CLAUSE_END = re.compile(r"(?<=[.!?;:])\s+|\n\s*(?=[-*|#])|\n\s*\n|\s[-–—]\s")
_WORD = re.compile(r"[^\W_][\w'’-]*(?:\.\w+)*|[,;:()]")
_CODE_LINE = re.compile(
    r"\s[-+*/]?=\s|[\[({;=]\s*$|^\s*(?:return|assert|raise|import|def|class)\b|^\s*[\])}]"
    r"|^\s*(?:if|elif|for|while)\b.*:\s*$|^\s*\w[\w.]*\("
)
_NEGATORS = frozenset(["not", "never", "cannot", "without", "hardly"])
# A negation here denies nothing that follows: "not only", "no more than", "whether or not".
_HARMLESS = re.compile(
    r"\bnot (?:only|just|merely|necessarily|yet|even|so|exactly|limited|all|every)\b"
    r"|\bno (?:more|less|fewer|later|earlier|sooner|matter|doubt|other)\b|\b(?:or|if|why) not\b",
    re.IGNORECASE,
)
_NOD = re.compile(r"^\W*(?:yes|no)\b[,.;:]", re.IGNORECASE)
_EXISTS_NOT = re.compile(r"\b(?:there (?:is|are|was|were)|has|have|had|with) no\b", re.IGNORECASE)
# Where a whole clause may be denied by a word at its edge, nothing is read from it.
_UNCLEAR = re.compile(
    r"\b(?:neither|nor|none|nothing|nobody|instead|unless|except|rather than|other than)\b|\bno\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"\w+ly$|^(?:yet|ever|always|also|even|still|really|longer|be|been)$")
_GLUE = GLUE | ROLES.keys() | {"or", "but", "else"}
_CONDITIONS = frozenset(["if", "unless", "until", "when", "whether", "where"])
_SCOPE = 3
_LEAST_SHARED = 0.5
_OPPOSITES = """
    enabled disabled
    enable disable
    enables disables
    supported unsupported
    allowed forbidden
    allowed disallowed
    always never
    optional mandatory
    optional required
    increases decreases
    increase decrease
    higher lower
    faster slower
    minimum maximum
    synchronous asynchronous
    safe unsafe
    ascending descending
"""
_PAIRS = [tuple(line.split()) for line in _OPPOSITES.strip().splitlines()]
_OPPOSITE: dict[str, set[str]] = {}
for _one, _other in _PAIRS:
    _OPPOSITE.setdefault(_one, set()).add(_other)
    _OPPOSITE.setdefault(_other, set()).add(_one)
_BINDING = re.compile(
    r"^[ \t]*(?:[-*+|]|export|const\w*)?[ \t]*[`\"']?(?:--)?(?P<name>[^\W\d]\w*(?:[-.]\w+)*)[`\"']?"
    r"[ \t]*(?::[^=\n|]{0,60}=|[=:|])[ \t]*(?P<value>[^\n]*)",
    re.MULTILINE,
)
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,_]*(?:\.\d+)?(?![\w.]*\w)")
Reading = Mapping[str, frozenset[bool]]


def contradiction(sentence: str, sources: Sequence[str], terms: Callable[[str], list[str]]) -> str:
    """The word of a sentence that its sources say the opposite of; "" for none.

    Sources are read clause by clause. Only clauses count that share a good part of the sentence's
    words; where one of them agrees, nothing is contradicted. Lines of code are not read.

    Args:
        sentence: a claim, without citations.
        sources: lines around the place that supports it.
        terms: cuts a text into stemmed terms without stopwords.
    """
    said = _read(sentence, terms)
    least = max(2, math.ceil(_LEAST_SHARED * len(said)))
    alike = []
    for source in sources:
        for clause in _clauses(source):
            reading = _read(clause, terms)
            if len(said.keys() & reading.keys()) >= least:
                alike.append((clause, reading))
    for term, signs in said.items():
        met = [reading[term] for _, reading in alike if term in reading]
        if len(signs) == 1 and met and all(len(one) == 1 and one != signs for one in met):
            return term
    return _opposite(sentence, [clause for clause, _ in alike])


def _opposite(sentence: str, clauses: Sequence[str]) -> str:
    """A word whose opposite all clauses have in its place, with nothing denied on either side."""
    if not clauses:
        return ""
    words = _plain_words(sentence)
    others = [_plain_words(clause) for clause in clauses]
    if words is None or any(other is None for other in others):
        return ""
    for word in sorted(words & _OPPOSITE.keys()):
        opposite = _OPPOSITE[word]
        is_turned = all(other and word not in other and other & opposite for other in others)
        if is_turned and not words & opposite:
            return word
    return ""


def _plain_words(text: str) -> frozenset[str] | None:
    """Words in lower case; None where something is denied, so that opposites may agree."""
    words = frozenset(word.lower() for word in _WORD.findall(text))
    has_negation = any(word in _NEGATORS or word.endswith(("n't", "n’t")) for word in words)
    return None if has_negation or _UNCLEAR.search(text) else words


def _clauses(text: str) -> Iterator[str]:
    """Sentences and the like of the lines that are no code, wrapped lines joined."""
    prose = [line for line in text.splitlines() if not _CODE_LINE.search(line)]
    for clause in _CLAUSE_END.split("\n".join(prose)):
        if clause.strip():
            yield " ".join(clause.split())


def _read(text: str, terms: Callable[[str], list[str]]) -> Reading:
    """Terms, and whether they are affirmed, denied, or perhaps either.

    The first word behind a negation is denied; so may be the next ones.
    """
    text = _NOD.sub("", text)
    is_unclear = _UNCLEAR.search(_EXISTS_NOT.sub(" ", text)) is not None
    text = _EXISTS_NOT.sub(" not ", _HARMLESS.sub(" ", text))
    found: dict[str, set[bool]] = {}
    left, is_first, is_conditional = 0, False, False
    for word in _WORD.findall(text):
        low = word.lower()
        if low in ",;:()":
            left = 0
        elif low in _CONDITIONS:
            is_conditional = True
        elif low in _NEGATORS or low.endswith(("n't", "n’t")):
            left, is_first = _SCOPE + 1, True
        elif low not in _GLUE and (stems := terms(word)):
            signs = {True, False} if is_unclear or left else {True}
            if left and is_first and not _ADVERB.match(low) and not (is_unclear or is_conditional):
                signs, is_first = {False}, False
            for stem in stems:
                found.setdefault(stem, set()).update(signs)
            left = max(left - 1, 0)
    return {term: frozenset(signs) for term, signs in found.items()}


def misplaced(names: Sequence[str], numbers: Sequence[str], source: str) -> tuple[str, str]:
    """A number that the source gives to another name than those of the sentence.

    Args:
        names: of the sentence.
        numbers: of the sentence.
        source: lines in which names are set: ``name = 3``, ``name: 3``, ``| name | 3 |``.
    Returns: the number and the name that it belongs to, or two empty strings: where a name is not
        set there, or stands in a line with the number, nothing is known.
    """
    owners: dict[str, set[str]] = {}
    for match in _BINDING.finditer(source):
        values = {_digits(one) for one in _NUMBER.findall(match["value"])}
        if values:
            owners.setdefault(_plain(match["name"]), set()).update(values)
    asked = {_plain(name) for name in names}
    if not asked & owners.keys():
        return "", ""
    beside = {
        _digits(number)
        for line in source.splitlines()
        if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", _plain(line)) for name in asked)
        for number in _NUMBER.findall(line)
    }
    for number in numbers:
        value = _digits(number)
        holders = [name for name, values in owners.items() if value in values]
        if holders and value not in beside and not asked & set(holders):
            return number, holders[0]
    return "", ""


def _plain(name: str) -> str:
    return name.strip("-`'\"").replace("-", "_").lower()


def _digits(number: str) -> str:
    return re.sub(r"[,_]", "", number)
