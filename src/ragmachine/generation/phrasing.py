"""How English questions are phrased: words that only ask or join, and turns that say the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Words that only ask or join. Whatever is in no list of this module counts as it stands.
GLUE = frozenset(
    """
    a also am an and any are as be been being do does i is it its itself just me my our please so
    some such that the their them then there these they this those us we what which whose will
    would you your
    """.split()
)
# Prepositions and the like, by the role that they give to what follows. What follows none has the
# role "", which "of" and "for" give too: "the warranty of the pump" is "the pump's warranty".
ROLES = {
    word: word for word in "about at by during from if in on than to while with within".split()
} | {"for": "", "into": "to", "of": "", "using": "with", "via": "with", "when": "if"}
# "to" after one of these begins a verb and points nowhere.
BEFORE_VERB = frozenset(
    """
    able allowed cost costs going have how like necessary need needed order possible required steps
    take takes time try trying used want way what when where which
    """.split()
)
NOT = frozenset(["not", "no", "without", "cannot"])
# Without one of these a question may be in another language, in which "an" and "in" say something.
ENGLISH = frozenset(
    """
    are can could did does from has have how my need possible should that the there this what when
    where which who why with would you
    """.split()
)
BEING = frozenset("am are be been being is was were".split())
PERSONS = {"i": "i", "we": "i", "you": "you", "they": "they"}
# Participles that do not end in "ed".
_PARTICIPLES = frozenset(
    """
    begun bound bought broken brought built chosen cut done drawn driven fed found given gone hidden
    held hit hung kept known laid led left lent let lost made meant met paid put read rebuilt reset
    run seen sent set shown shut split stood stopped taken taught thrown told understood written
    """.split()
)
_GENERIC = frozenset(["a", "an", "any"])
_DEFINITE = frozenset("the this that these those my our your its".split())
_VERBAL = BEING | {"do", "does", "get", "gets", "has", "have"}
_NOMINAL = _GENERIC | _DEFINITE | ROLES.keys()
_HEADS = _NOMINAL | _VERBAL
ASKING = frozenset(["how", "what", "where", "which", "who", "whom", "whose", "why"])
AUXILIARY = frozenset(
    """
    am are can could did do does had has have is may might must need shall should was were whether
    will would
    """.split()
)
NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        """
        two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty
        """.split(),
        start=2,
    )
}
# One line each: words that ask for the same.
_ALIKE = """
    was were did had
    have has
    use uses used
    can could may might possible able
    may can allowed allow permitted permit
    must need require necessary
    way how
    reason why
    place where location
    person who
    time when
    duration period howlong
    length howlong
    cost price
    error exception
    flag option
    folder directory
    enable activate
    disable deactivate
    convert transform
    delete remove
    change modify
    show display
    start begin launch
    differ difference
    large big
    fast quick
    weight mass
    configuration config
    documentation docs
    environment env
    argument arg
    parameter param
    database db
"""
_SAME_AS: dict[str, frozenset[str]] = {}
for _line in _ALIKE.strip().splitlines():
    for _word in _line.split():
        _SAME_AS[_word] = _SAME_AS.get(_word, frozenset()) | {f"={_line.split()[0]}"}
_END = r"(?=[?.!]*$)"
_PHRASES = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (
            r"^(?:please )?(?:(?:can|could|would|will) you )?(?:please )?"
            r"(?:tell|show|remind|explain to) me (?=how|wh)",
            "",
        ),
        (r"^(?:do you know|i(?: would|'d)? (?:want|like|need) to know|i wonder) if\b", "whether"),
        (r"^(?:do you know|i(?: would|'d)? (?:want|like|need) to know|i wonder) ", ""),
        (r"\b(?:turn|switch)(?:ed|es|s|ing)? on\b", "enable"),
        (rf"\b(?:turn|switch)(?:ed|es|s|ing)? ((?:\S+ ){{1,4}})on{_END}", r"enable \1"),
        (r"\b(?:turn|switch|shut)(?:ed|es|s|ing)? ((?:\S+ ){0,4}?)off\b", r"disable \1"),
        (r"\bturn(?:s|ed)?\b(?= .*\binto\b)", "convert"),
        (r" use[sd]?\b(.*?) by default\b", r"\1; default;"),
        (r" by default\b", "; default;"),
        (r"\bdefault values?\b", "default"),
        (rf"\bdefaults? to{_END}", "default"),
        (r"\bha(?:ve|s) to\b", "must"),
        (rf"\bused for{_END}", "purpose"),
        (r"(?:(?<=\bis )|(?<=\bare ))used (?=to\b)", ""),
        (rf"(?<=^what is )(.*) for{_END}", r"\1 purpose"),
        (rf"(?<=^what does )(.*)(?<! a) do{_END}", r"\1 purpose"),
        (rf"(?<=^what does )(.*) mean{_END}", r"\1 meaning"),
        (r"\blook(?:s|ed|ing)? for\b", "search"),
        (r"\bhow does (.*?) differ from\b", r"what difference \1 and"),
        (r"\bhow do (.*?) differ\b", r"what difference \1"),
        (r"\bdifference between\b", "difference"),
        (r"\bwhat are the steps (?:to|for)\b", "how to"),
        # the passive: "how can it be served", "is it served by him", "which are served by him"
        (r"\bhow (?:can|could|may|should) (.+?) be (\w+ed)\b", r"how do \2 \1"),
        (r"^(?:is|are) (.+?) (\w+ed) by (?=\S)(.+?)([?.!]*)$", r"does \3 \2 \1\4"),
        (r"^((?:what|which)\b.*?) (?:is|are) (\w+ed) by (?=\S)(.+?)([?.!]*)$", r"\1 does \3 \2\4"),
        # what is asked for is a phrase of its own, wherever it stands
        (r"\bhow much (?=.*\bcosts?\b)", "what "),
        (r"\bhow many\b", "what count;"),
        (r"\bthe number of (?!(?:an?|the|this|that|its|my|your) )", "the count "),
        (r"\bhow much time\b", "what duration;"),
        (r"\bfor how long\b", "how long"),
        (r"\bat (?:what|which) time\b", "what time"),
        (r"\bhow much\b", "what amount;"),
        (r"\bhow long\b", "what howlong;"),
        (r"\bhow often\b", "what frequency;"),
        (r"\bhow deep\b", "what depth;"),
        (r"\bhow (?:big|large)\b", "what size;"),
        (r"\bhow heavy\b", "what weight;"),
        (r"\bhow fast\b", "what speed;"),
        (r"\bhow far\b", "what distance;"),
    )
)
_SHORT_ROOT = re.compile(r"[^aeiouy]*[aeiou][^aeiouwxy]")  # hop, plan: "hoped" is not theirs
_QUOTATION = re.compile(r"(`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|(?<!\w)'[^'\n]+'(?!\w))")


def rewrite(question: str) -> str:
    """Bring turns of phrase to one form: "how deep" to "what depth", "turn off" to "disable".

    Quotations stay as they are. Some patterns look ahead: not meant for whole pages.
    """
    parts = _QUOTATION.split(" ".join(question.split()))
    for place in range(0, len(parts), 2):
        for pattern, replacement in _PHRASES:
            parts[place] = pattern.sub(replacement, parts[place])
    return "".join(parts)


def forms(word: str, lows: Sequence[str], place: int) -> frozenset[str]:
    """What a word may be compared by: itself, its kind, its verb, its lines of words alike.

    A plural is of the same kind as "a probe", and not as "the probe". A participle may be of its
    verb in "is limited", and not in "the limited". Nouns in -ing stay: a setting is no set.

    Args:
        word: in lower case.
        lows: the tokens of its question in lower case.
        place: which of them it is.
    """
    heads = [one for one in lows[max(place - 3, 0) : place] if one in _HEADS]
    head = heads[-1] if heads else ""
    is_generic = head not in _DEFINITE if word.endswith("s") else head in _GENERIC
    is_predicate = lows[place - 1] not in _NOMINAL and not _VERBAL.isdisjoint(lows[:place])
    verbs = _verbs(word) if is_predicate else {word}
    alike = [_SAME_AS[verb] for verb in verbs if verb in _SAME_AS]
    kinds = {f"a {one}" for one in _singulars(word)} if is_generic else set()
    return frozenset(verbs.union(kinds, *alike))


def is_participle(word: str) -> bool:
    """Whether a word in lower case may say what is done to something."""
    return word.endswith("ed") or word in _PARTICIPLES


def _singulars(word: str) -> set[str]:
    if word.endswith("ies") and len(word) > 4:
        return {word, word[:-3] + "y"}
    if re.search(r"(?:[sxz]|ch|sh|o)es$", word):
        return {word, word[:-2], word[:-1]}
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return {word, word[:-1]}
    return {word}


def _verbs(word: str) -> set[str]:
    """What a participle in -ed may be of: "planned" of plan, "cached" of cache; itself always."""
    root = word.removesuffix("ed")
    if root == word or len(root) < 3 or not re.search("[aeiouy]", root) or root[-1] == "e":
        return {word}
    if root.endswith("i"):
        return {word, root[:-1] + "y"}
    if root[-1] == root[-2]:
        return {word, root, root[:-1]}
    return {word, root + "e"} if _SHORT_ROOT.fullmatch(root) else {word, root + "e", root}
