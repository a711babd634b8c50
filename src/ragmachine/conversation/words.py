"""Words of a question with their places, and the closed classes of English that rules go by."""

from __future__ import annotations

import re
from dataclasses import dataclass

BE = frozenset("am are is was were isn't aren't wasn't weren't".split())
DO = frozenset("do does did don't doesn't didn't".split())
HAVE = frozenset("has had hasn't hadn't have haven't".split())
MODAL = frozenset(
    "can can't cannot could couldn't may might must mustn't shall should shouldn't will won't "
    "would wouldn't".split()
)
AUXILIARY = BE | DO | HAVE | MODAL
ASKING = frozenset("how what what's when where which who whom whose why".split())
# "how long", "how much": what such a word measures needs no name.
DEGREES = frozenset(
    "big bright cold common deep expensive far fast hard heavy high hot large late long loud many "
    "much often old precise quickly slow small soon strong thick wide".split()
)
SUBJECTS = frozenset("i you we one people somebody someone anybody".split())
DETERMINERS = frozenset(
    "a an the my our your his her each every any some no another both all two three four".split()
)
PREPOSITIONS = frozenset(
    "about above after against as at before behind below beside between by despite during for from "
    "in inside into like near of off on onto out over per since than through to toward under until "
    "up using versus via with within without".split()
)
# Prepositions whose phrase says under which circumstances, and can be added to a question.
CIRCUMSTANCES = frozenset(
    "after at before below beside between despite during from in inside near on over since through "
    "under until using via with within without by".split()
)
CONJUNCTIONS = frozenset(
    "and although as because but if nor once or so than that then though unless until when "
    "whenever where whereas whether while".split()
)
SUBORDINATING = frozenset("although because if once unless when whenever while whether".split())
PRONOUNS = frozenset(
    "it its itself they them their theirs themselves this that these those he she him hers me us "
    "mine yours ours there here".split()
)
_ADVERBS = frozenset(
    "again already also always anyway even ever exactly just maybe more most much never not only "
    "often perhaps please really so still then too usually very yet".split()
)
FUNCTION = (
    AUXILIARY | ASKING | SUBJECTS | DETERMINERS | PREPOSITIONS | CONJUNCTIONS | PRONOUNS | _ADVERBS
    | frozenset("be been being".split())
)  # fmt: skip
# Verbs that a request begins with.
REQUESTS = frozenset(
    "compare define describe explain find give list name print quote repeat show summarise "
    "summarize tell translate".split()
)
_PIECE = re.compile(r"`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|\S+")
_OPENING = "([{\"'“‘«¿¡"
_CLOSING = re.compile(r"[\"'”’»,;:.?!…]+$")
_POSSESSIVE = re.compile(r"(?<=[\w)])['’]s?$")
_CITED = re.compile(r"\[\d{1,3}\]")
_SHAPED = re.compile(r"\d|[a-z][A-Z]|[A-Z]{2}|_|\w\.\w|\w/|/\w|^--?[A-Za-z]|[+#@]|::|\(\)")
_SENTENCE_END = re.compile(r"[.?!…]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a question.

    Attributes:
        text: as written, without punctuation around it and without a possessive ``'s``.
        start, end: its place in the question, in characters.
        after: what stood between it and the next blank: punctuation, or ``'s``.
        is_first: whether it begins a sentence.
        is_quoted: whether it stands in quotes or backticks, which belong to it.
    """

    text: str
    start: int
    end: int
    after: str
    is_first: bool
    is_quoted: bool = False

    @property
    def low(self) -> str:
        """In lower case, with a straight apostrophe; "" for a quotation, which is no word."""
        return "" if self.is_quoted else self.text.lower().replace("’", "'")

    @property
    def is_name(self) -> bool:
        """Whether it names something: quoted, shaped like no plain word, or with a capital."""
        if self.is_quoted or self.is_number:
            return True
        if self.low in FUNCTION:
            return False
        if _SHAPED.search(self.text):
            return True
        return self.text[:1].isupper() and not self.is_first

    @property
    def is_number(self) -> bool:
        """Whether it is digits, with dots perhaps."""
        return self.text.replace(".", "").isdigit()

    @property
    def is_content(self) -> bool:
        """Whether it says something of its own: no function word and no bare punctuation."""
        return self.is_quoted or (self.low not in FUNCTION and any(map(str.isalnum, self.text)))

    @property
    def ends_phrase(self) -> bool:
        """Whether punctuation, or a possessive, parts it from the next word."""
        return bool(self.after)

    @property
    def ends_sentence(self) -> bool:
        """Whether a sentence ends with it."""
        return bool(_SENTENCE_END.search(self.after))


def tokenize(text: str) -> list[Token]:
    """The words of a text in order; punctuation that stands alone is left out."""
    found: list[Token] = []
    is_first = True
    for match in _PIECE.finditer(text):
        piece = match.group()
        if piece[0] in '`"“' and len(piece) > 2 and piece[-1] in '`"”':
            found.append(Token(piece, match.start(), match.end(), "", is_first, True))
            is_first = False
            continue
        token = _plain(piece, match.start(), is_first)
        if not any(map(str.isalnum, token.text)):
            if found:  # punctuation behind a quotation or a blank belongs to the word before
                found[-1] = _with_after(found[-1], piece)
                is_first = found[-1].ends_sentence
            continue
        found.append(token)
        is_first = token.ends_sentence
    return found


def _plain(piece: str, offset: int, is_first: bool) -> Token:
    if _CITED.match(piece):
        cut = piece.index("]") + 1
        return Token(piece[:cut], offset, offset + cut, piece[cut:], is_first)
    body = piece.lstrip(_OPENING)
    start = offset + len(piece) - len(body)
    bare = _CLOSING.sub("", body)
    for opening, closing in ("()", "[]", "{}"):
        while bare.endswith(closing) and bare.count(closing) > bare.count(opening):
            bare = _CLOSING.sub("", bare[:-1])
    bare = _POSSESSIVE.sub("", bare)
    return Token(bare, start, start + len(bare), body[len(bare) :], is_first)


def _with_after(token: Token, after: str) -> Token:
    return Token(
        token.text, token.start, token.end, token.after + after, token.is_first, token.is_quoted
    )
