"""Key values: the numbers, names and literals without which an answer is not right.

Two texts are compared in spelling only: nothing here knows that one hour is sixty minutes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from .quantities import QUANTITY, quantities, read_quantity

_LONGEST_CHARS = 80
_LITERAL = re.compile(
    r"``([^`\n]+)``"
    r"|`([^`\n]+)`"
    r'|"([^"\n]+)"'
    r"|“([^”\n]+)”"
    r"|(?<!\w)'([^'\n]+)'(?!\w)"
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,12}://[^\s,;)\]}>'\"]*[\w/]", re.IGNORECASE)
_FLAG = re.compile(
    r"(?<![\w-])--[A-Za-z][\w.-]*(?<=\w)(?:=[^\s,;)]*\w)?"
    r"|(?<!\S)-[A-Za-z][\w.-]*(?<=\w)(?:=[^\s,;)]*\w)?(?![\w(])"
)
_PATH = re.compile(
    r"(?<![\w/.)-])(?:~/|\.{0,2}/)[\w.-]+(?:/[\w.-]+)*(?<=\w)"  # ~/x, /v1/load, ./a
    r"|(?<![\w./-])[\w.-]+(?:/[\w.-]+)+\.[A-Za-z]\w*"  # docs/a.md
    r"|(?<![\w./-])\w+(?:-\w+)+\.[A-Za-z]\w*"  # run-tests.sh
)
_TIME = re.compile(r"(?<![\w:.-])(?:\d{1,2}(?::\d{2})+|\d{4}-\d{2}-\d{2})(?![\w:])")
_NAME = re.compile(r"(?<![\w.])\.?[^\W\d]\w*(?:\.\w+)*(?:\(\))?")
_CONSTANTS = frozenset({"True", "False", "None", "null", "NaN", "nan", "inf"})
_DEFAULT = re.compile(
    r"\bdefaults?(?: value)?(?: is| are| to|:| =|=)\s+(?P<value>[\w.+-]*\w)", re.IGNORECASE
)
_NO_DEFAULT = frozenset(
    "a an the that to not no when if it its what this of in on by for with same set".split()
)
_INNER_CAPITAL = re.compile(r"[^\W\d_]*[^\W\dA-Z_][A-Z]")
_DOTTED = re.compile(r"\w\.\w\w|\w\w\.\w")
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]?")
_PLAIN = re.compile(r"[^\W\d_]+(?:(?:[ '’-]|, )[^\W\d_]+)*")
_JOINED = re.compile(r"[-/]|\.[A-Za-z]\w*$")  # flags, paths and file names
_IN_QUOTES = re.compile(r"(['\"])([^'\"]+)\1")
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:[,_\u00a0\u202f]\d{3})+(?![\w,]\w|\w)")
_FOLDED = str.maketrans({"−": "-", "–": "-", "“": "'", "”": "'", "‘": "'", "’": "'", '"': "'"})


def key_values(reference: str, question: str = "") -> tuple[str, ...]:
    """The values a right answer should contain, read from the reference answer.

    In this order: what stands in backticks or quotes; then, outside those, addresses, flags
    (``--x``, ``-x``), paths, what is called a default, numbers with their units, and names: words
    with an underscore, a digit, a capital inside or a dot between names, and constants such as
    ``None`` and ``True``. What the question says already proves nothing and is left out.

    Args:
        reference: the answer of a dataset.
        question: its question.
    Returns: each value once, as written.
    """
    found: list[str] = []

    def take(pattern: re.Pattern[str], text: str) -> str:
        """Collect what the pattern finds and blank it out; a long quotation is read as prose."""
        values = [next(filter(None, [*m.groups(), m[0]])) for m in pattern.finditer(text)]
        found.extend(value for value in values if len(value) <= _LONGEST_CHARS)
        return pattern.sub(lambda m: " " if len(m[0]) <= _LONGEST_CHARS + 4 else m[0][1:-1], text)

    rest = reference
    for pattern in (_LITERAL, _URL, _FLAG, _PATH, _TIME):
        rest = take(pattern, rest)
    found += [m["value"] for m in _DEFAULT.finditer(rest) if m["value"] not in _NO_DEFAULT]
    found += [m[0].lstrip("+v") for m in QUANTITY.finditer(rest)]
    found += [m[0] for m in _NAME.finditer(QUANTITY.sub("0", rest)) if _is_name(m[0])]
    values: dict[object, str] = {}
    for value in map(_unquoted, found):
        if any(map(str.isalnum, value)) and not contains(question, value):
            values.setdefault(read_quantity(value) or _comparable(value), value)
    return tuple(values.values())


def contains(text: str, value: str) -> bool:
    """Whether a text contains a value as a whole, not as a part of a longer word or number.

    A number is compared by value and, where it has one, by its unit: ``1024`` is in "1,024
    tokens", ``5 s`` in "five seconds", ``16`` in "16GB", but not in "160", "0.16" or "fp16". Names
    keep the case of their letters, plain words do not. Kinds of quotes, backticks, and blanks
    around ``=`` never count.
    """
    wanted = _comparable(value)
    if not any(map(str.isalnum, wanted)):
        return bool(wanted) and wanted in _comparable(text)
    quantity = read_quantity(value)
    if quantity is not None and quantity in quantities(_without_code_marks(text)):
        return True
    if quantity is not None and not wanted.isalpha():  # "one" may be meant as a word
        return False
    wanted = wanted.removesuffix("()")
    flags = re.IGNORECASE if _is_plain(wanted) else re.NOFLAG
    return re.search(_bounded(wanted), _comparable(text), flags) is not None


def contained(text: str, values: Iterable[str]) -> tuple[str, ...]:
    """Those of the values that a text contains, in their order."""
    return tuple(value for value in values if contains(text, value))


def _is_name(word: str) -> bool:
    if word in _CONSTANTS:
        return True
    if _ABBREVIATION.fullmatch(word):
        return False
    has_mark = "_" in word.strip("_") or any(map(str.isdigit, word)) or word.endswith("()")
    return has_mark or bool(_INNER_CAPITAL.match(word) or _DOTTED.search(word) or word[0] == ".")


def _is_plain(value: str) -> bool:
    """Whether a value is words rather than a name: ``null block`` yes, ``None`` and ``WSL`` no."""
    if value in _CONSTANTS or not _PLAIN.fullmatch(value):
        return False
    return all(word[1:].islower() or len(word) == 1 for word in re.split(r"[ '’,-]+", value))


def _bounded(wanted: str) -> str:
    """A pattern for the value as a whole token; hyphens and dots join where the value has some."""
    before = after = ""
    is_joined = _JOINED.search(wanted) is not None
    if wanted[0].isalnum() or wanted[0] in "_-.":
        before = r"(?<![\w-])" if is_joined and wanted[0] != "." else r"(?<!\w)"
    if wanted[0].isdigit() and wanted[-1].isdigit():
        after = r"(?!\d|[.,]\d)"  # a unit may follow
    elif wanted[-1].isalnum() or wanted[-1] == "_":
        after = r"(?!\w)" + (r"(?!-\w)(?!\.\w)" if is_joined else "")
    return f"{before}{re.escape(wanted)}{after}"


def _unquoted(value: str) -> str:
    # `"x"` in backticks is the value x, but `name="x"` keeps its quotes
    match = _IN_QUOTES.fullmatch(value.strip())
    return match.group(2) if match else value.strip()


def _without_code_marks(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("`", " ")


def _comparable(text: str) -> str:
    text = unicodedata.normalize("NFC", text).translate(_FOLDED).replace("`", "")
    text = _GROUPED.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    text = re.sub(r"\s*(?<![=<>!:])=(?!=)\s*", "=", text)
    return " ".join(text.split())
