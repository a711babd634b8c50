"""Key values: the numbers, quoted strings and names without which an answer is not right."""

import re
import unicodedata
from collections.abc import Iterable

_QUOTED = re.compile(
    r"`([^`\n]+)`"
    r'|"([^"\n]+)"'
    r"|“([^”\n]+)”"
    r"|(?<!\w)'([^'\n]+)'(?!\w)"
)
# A unit of up to three letters may follow; 99d004 is a hash, not 99.
_NUMBER = re.compile(r"(?<![\w.,/-])\d++(?:[.,]\d++)*+(?=[^\W\d_]{0,3}(?!\w))")
_NAME = re.compile(
    r"(?<![\w-])--[A-Za-z][\w-]*"  # command line flags
    r"|(?<![\w/.])/\w[\w./-]*(?<=\w)"  # absolute paths and HTTP routes
    r"|(?<![\w./-])[\w.-]+(?:/[\w.-]+)+\.[A-Za-z]\w*"  # relative paths of files
    r"|(?<!\w)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"  # words and dotted names
)
_IN_QUOTES = re.compile(r"(['\"])([^'\"]+)\1")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]")
_DOTTED = re.compile(r"\w\.\w\w|\w\w\.\w")
_CONSTANTS = frozenset({"True", "False", "None"})
_UNITS = {
    "ns": "nanoseconds?",
    "us": "[µμ]s|microseconds?",
    "ms": "msecs?|milliseconds?",
    "s": "secs?|seconds?",
    "min": "mins?|minutes?",
    "h": "hrs?|hours?",
    "d": "days?",
    "kB": "KB|kilobytes?",
    "MB": "megabytes?",
    "GB": "gigabytes?",
    "KiB": "Ki|kibibytes?",
    "MiB": "Mi|mebibytes?",
    "GiB": "Gi|gibibytes?",
    "mm": "millimet(?:re|er)s?",
    "cm": "centimet(?:re|er)s?",
    "m": "met(?:re|er)s?",
    "km": "kilomet(?:re|er)s?",
    "V": "volts?",
    "W": "watts?",
    "%": "percent",
}
_UNIT_SPELLINGS = {
    unit: re.compile(rf"(?<=\d)[ -]?(?:{re.escape(unit)}|{others})(?!\w)")
    for unit, others in _UNITS.items()
}
_PLAIN = re.compile(r"[^\W\d_](?:[^\W\d_A-Z]|(?<=[ '\u2019-])[^\W\d_]|[ '\u2019-])*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def extract_key_values(reference: str, question: str) -> tuple[str, ...]:
    """The values a right answer should contain, read from the reference answer.

    In this order: what stands in `backticks`, "double" or 'single' quotes; then, outside those,
    numbers; then flags (--x), paths that begin with a slash or end in a file name, the constants
    True, False and None, and identifiers: words with an underscore, a digit, a capital after a
    small letter or digit, or a dot between two names.
    A value that the question already contains proves nothing and is left out.

    Returns: each value once.
    """
    quoted = [_unquoted("".join(match.groups(""))) for match in _QUOTED.finditer(reference)]
    rest = _QUOTED.sub(" ", reference)
    names = [name for name in _NAME.findall(rest) if _is_identifier(name)]
    values: dict[str, str] = {}
    for value in [*quoted, *_NUMBER.findall(rest), *names]:
        if _comparable(value) and not contains_value(question, value):
            values.setdefault(_key(value), value)
    return tuple(values.values())


def contains_value(text: str, value: str) -> bool:
    """Whether the text contains the value as a whole, not as part of a longer word or number.

    Backticks, runs of white space, thousands separators and spellings of units do not count, nor
    does the case of plain words: 16 is in "16 GB" and in "16GB", not in "160", "0.16" or "16.5";
    5 s is in "5 seconds"; `max_tokens` is neither in `max_tokens_total` nor in `MAX_TOKENS`.
    """
    wanted, searched = _comparable(value), _comparable(text)
    if _is_plain(wanted):
        wanted, searched = wanted.casefold(), searched.casefold()
    if not wanted:
        return False
    before = r"(?<!\w)(?<!\d[.,])" if wanted[0].isalnum() or wanted[0] == "_" else ""
    after = ""
    if wanted[-1].isdigit() and wanted[0].isdigit():
        after = r"(?!\d)(?!\.\d*[1-9])(?!,\d{3}(?!\d))"  # 20 is in 20.0, and in a row 20,5
    elif wanted[-1].isalnum() or wanted[-1] == "_":
        after = r"(?!\w)"
    return re.search(f"{before}{re.escape(wanted)}{after}", searched) is not None


def containment(answer: str, values: Iterable[str]) -> float | None:
    """Share of the key values that the answer contains.

    Returns: 0.0 to 1.0; None without any value.
    """
    found = [contains_value(answer, value) for value in values]
    return sum(found) / len(found) if found else None


def _is_identifier(name: str) -> bool:
    if name.startswith("--") or "/" in name or name in _CONSTANTS:
        return True
    has_mark = "_" in name.strip("_") or any(character.isdigit() for character in name)
    return has_mark or bool(_INNER_CAPITAL.search(name) or _DOTTED.search(name))


def _unquoted(value: str) -> str:
    # `"x"` in backticks is the value x, but `name="x"` keeps its quotes.
    match = _IN_QUOTES.fullmatch(value.strip())
    return match.group(2) if match else value.strip()


def _key(value: str) -> str:
    comparable = _comparable(value)
    return comparable.casefold() if _is_plain(comparable) else comparable


def _is_plain(comparable: str) -> bool:
    return bool(_PLAIN.fullmatch(comparable)) and comparable not in _CONSTANTS


def _comparable(text: str) -> str:
    joined = " ".join(unicodedata.normalize("NFC", text).replace("`", "").split())
    joined = _THOUSANDS.sub("", joined)
    for unit, spellings in _UNIT_SPELLINGS.items():
        joined = spellings.sub(unit, joined)
    return joined
