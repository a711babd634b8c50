"""What two questions must share before one answer serves both."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.generation.anchors import difference, read_anchors

PAIRS = Path(__file__).resolve().parents[2] / "data" / "datasets" / "pairs" / "answer_cache.json"


def apart(first: str, second: str) -> str:
    """What keeps two questions apart, whichever was asked first."""
    there = difference(read_anchors(first), read_anchors(second))
    assert bool(there) == bool(difference(read_anchors(second), read_anchors(first)))
    return there


SAME = {
    "case and blanks": ("How long  is it kept?", "how long is it KEPT"),
    "shouted": ("WHAT DOES SM-P-4127 COST?", "What does SM-P-4127 cost?"),
    "apostrophe": ("What's the Cairn's port?", "What’s the Cairn’s port?"),
    "turn of phrase": ("How deep may the Limpet 3 be?", "What depth may the Limpet 3 be?"),
    "asked word": ("How long is the warranty of a relay?", "What is a relay's warranty period?"),
    "polite": ("Could you tell me which fuse Winkles take?", "Which fuse do Winkles take?"),
    "of and 's": ("What is the warranty of the Limpet 3?", "What is the Limpet 3's warranty?"),
    "front and end": ("In docs/a.md, what is the size?", "Which is the size in docs/a.md?"),
    "alike": ("How do I turn the light off?", "How can the light be disabled?"),
    "passive": ("Does vLLM support LoRA?", "Is LoRA supported by vLLM?"),
    "kind in the plural": ("How do I load an adapter?", "How do I load adapters?"),
    "name in lower case": ("Which port has the Cairn?", "which port has the cairn"),
    "quoted name": ("What is the default of `hold_s`?", "What is the default of hold_s?"),
    "by default": ("Which driver is used by default?", "What is the default driver?"),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), SAME.values(), ids=SAME.keys())
def test_one_answer_serves_both(first: str, second: str) -> None:
    """The same question in other words."""
    assert apart(first, second) == ""


NAMES = {
    "number": ("What does status 3 mean?", "What does status 4 mean?"),
    "number in words": ("What happens after five tries?", "What happens after six tries?"),
    "version": ("What is new in 2.6.0?", "What is new in 2.6.1?"),
    "sign": ("How do I set it to -5?", "How do I set it to 5?"),
    "unit sign": ("What is lost at 5%?", "What is lost at 5?"),
    "feet and inches": ("Is there a 5' cable?", 'Is there a 5" cable?'),
    "span of time": ("Does it run for 5 minutes?", "Does it run in 5 minutes?"),
    "model": ("How long may a Limpet 3 soak?", "How long may a Limpet 3S soak?"),
    "product": ("What is the price of the Delta Sensor?", "What is the price of the Cobalt Pump?"),
    "snake case": ("What is the default of quiet_start?", "What is the default of quiet_end?"),
    "capitals in a name": ("What is the value of MAX_K?", "What is the value of max_k?"),
    "dotted": ("What does np.argmin return?", "What does np.argmax return?"),
    "called": ("What does begin() do?", "What does start() do?"),
    "bang": ("What does save! do here?", "What does save do here?"),
    "path": ("What is in docs/faq.rst?", "What is in docs/api.rst?"),
    "flag": ("What does --enforce-eager do?", "What does --enable-lora do?"),
    "quoted glue": ("What does 'on' do?", "What does 'off' do?"),
    "operator": ("What does == compare?", "What does != compare?"),
    "punctuation": ("What does , separate?", "What does ; separate?"),
    "capitals of a small word": ("What does the SQL IN take?", "What does the SQL ON take?"),
    "not": ("Which columns are nullable?", "Which columns are not nullable?"),
    "n't": ("Why does it start?", "Why doesn't it start?"),
    "without": ("Can I run it with a GPU?", "Can I run it without a GPU?"),
    "names change places": ("Does the Winkle ask the Cairn?", "Does the Cairn ask the Winkle?"),
    "numbers change places": ("How do I go from 2.5 to 2.6?", "How do I go from 2.6 to 2.5?"),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), NAMES.values(), ids=NAMES.keys())
def test_other_names_are_another_question(first: str, second: str) -> None:
    """Numbers, names, quotations, options, paths and negations are equal, and in one order."""
    assert apart(first, second) == "names"


WORDS = {
    "product in lower case": ("delta sensor warranty", "cobalt pump warranty"),
    "lower-case function": ("what does selectinload do", "what does joinedload do"),
    "plural of a name": ("What does args hold?", "What does arg hold?"),
    "opposite": ("How do I enable the cache?", "How do I disable the cache?"),
    "ordinal": ("Which is the first byte?", "Which is the last byte?"),
    "before": ("What do I check before the start?", "What do I check after the start?"),
    "unit": ("How many GB does it need?", "How many mb does it need?"),
    "prefix": ("Which casts are safe?", "Which casts are unsafe?"),
    "quantifier": ("Do all probes float?", "Do any probes float?"),
    "and, or": ("Is the pump or the probe wet?", "Is the pump and the probe wet?"),
    "modal verb": ("May I open it?", "Must I open it?"),
    "asks when": ("Why is it cleared?", "When is it cleared?"),
    "asks how": ("Does vLLM load it?", "How does vLLM load it?"),
    "asks how many": ("How many outputs are there?", "Which outputs are there?"),
    "past": ("What was the default?", "What is the default?"),
    "tense of a verb": ("What changed then?", "What changes then?"),
    "used": ("What does the used pump cost?", "What does the pump cost?"),
    "setting and set": ("What is the setting of it?", "What is the set of it?"),
    "preposition at the end": ("Where do I send it?", "Where do I send it from?"),
    "preposition in front": ("To which pin does it go?", "From which pin does it go?"),
    "more": ("How long is the warranty?", "How long is the warranty after registration?"),
    "another language": ("Ist die Pumpe an der Wand?", "Ist die Pumpe in der Wand?"),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), WORDS.values(), ids=WORDS.keys())
def test_a_word_without_counterpart_is_another_question(first: str, second: str) -> None:
    """However common the word is."""
    assert apart(first, second) in ("words", "names")


ROLES = {
    "to": ("How do I turn an array into a list?", "How do I turn a list into an array?"),
    "than": ("Is prefill faster than decode?", "Is decode faster than prefill?"),
    "subject and object": ("Does flush call commit?", "Does commit call flush?"),
    "of": ("What is the fuse of the pump?", "What is the pump of the fuse?"),
    "with": ("Is the parent moved with the child?", "Is the child moved with the parent?"),
    "in and on": ("Is there a fuse in the box?", "Is there a fuse on the box?"),
    "object and place": ("What is the box?", "What is in the box?"),
    "voice": ("Which valve is closed?", "Which valve does close?"),
    "passive": ("Is the client started by the server?", "Is the server started by the client?"),
    "asker": ("Which functions call flush?", "Which functions does flush call?"),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), ROLES.values(), ids=ROLES.keys())
def test_words_in_other_roles_are_another_question(first: str, second: str) -> None:
    """The same words do not make the same question."""
    assert apart(first, second) == "order"


QUESTIONS = {
    "whether and what": ("Does the pool check?", "What does the pool check?"),
    "I and you": ("Can I cancel the order?", "Can you cancel the order?"),
    "person and thing": ("What can I change?", "What can change?"),
}


@pytest.mark.parametrize(("first", "second"), QUESTIONS.values(), ids=QUESTIONS.keys())
def test_another_kind_of_question_is_another_question(first: str, second: str) -> None:
    """Yes or no is no answer to what, and what I may do is not what you may."""
    assert apart(first, second) == "question"


@pytest.mark.parametrize(("first", "second"), [("?", "!"), ("", " "), ("?", "?")])
def test_a_question_without_a_word_is_like_no_other(first: str, second: str) -> None:
    """Nothing is asked, so nothing is the same."""
    assert apart(first, second)


def test_long_questions_are_compared_whole() -> None:
    """Nobody asks the same in other words at such length; blanks do not count."""
    long = "please compare these: " + "word " * 200
    assert apart(long, long.replace(" ", "  ")) == ""
    assert apart(long, long + "more")


@pytest.mark.parametrize(
    "text",
    [
        "how do " * 80,
        "turn a b c d " * 40,
        "is a by " * 60,
        ")" * 498 + "x",
        "“" * 499,
        "x " * 10**6,
    ],
    ids=lambda text: text[:12],
)
def test_odd_questions_take_no_time(text: str) -> None:
    """No pattern goes astray, in half a second on a slow machine."""
    started = time.perf_counter()
    apart(text, text + " y")
    assert time.perf_counter() - started < 2


def test_no_measured_pair_of_different_questions_passes() -> None:
    """All pairs that look alike are told apart without a vector; a third of the others pass."""
    pairs = json.loads(PAIRS.read_text(encoding="utf-8"))["pairs"]
    passed = [pair for pair in pairs if not apart(pair["first"], pair["second"])]
    assert [pair for pair in passed if not pair["is_same"]] == []
    assert len(passed) > sum(pair["is_same"] for pair in pairs) / 3


TEMPLATES = st.sampled_from(
    [
        "How long is the warranty of the {}?",
        "what does {} cost",
        "Is {} supported?",
        "In {}, which default has k?",
        "Can I use it with {} on a CPU?",
        "Why doesn't {} start?",
        "{}",
    ]
)
NUMBER_TEXTS = st.from_regex(r"-?[0-9]{1,4}(\.[0-9]{1,3}){0,2}", fullmatch=True)
IDENTIFIERS = st.from_regex(r"[A-Za-z]{1,6}_[a-z0-9]{1,6}|[a-z]{1,5}\.[a-z]{1,5}", fullmatch=True)
CAPITALISED = st.from_regex(r"[A-Z][a-z]{2,8}", fullmatch=True)
FLAGS = st.from_regex(r"--[a-z]{2,8}(-[a-z]{2,8})?", fullmatch=True)


@given(TEMPLATES, st.one_of(NUMBER_TEXTS, IDENTIFIERS, FLAGS), st.data())
def test_another_identifier_never_passes(template: str, name: str, data: st.DataObject) -> None:
    """Whatever number, identifier or option is replaced by another of its kind or another kind."""
    other = data.draw(st.one_of(NUMBER_TEXTS, IDENTIFIERS, FLAGS).filter(lambda new: new != name))
    assert apart(template.format(name), template.format(other))
    assert apart(template.format(name), template.format(name)) == ""


@given(TEMPLATES.filter(lambda text: text != "{}"), CAPITALISED, CAPITALISED)
def test_another_name_never_passes(template: str, name: str, other: str) -> None:
    """Within a sentence a capital makes a name, whether the word is also a small one or not."""
    is_same = name == other
    assert (apart(template.format(name), template.format(other)) == "") == is_same


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_read(first: str, second: str) -> None:
    """No text is an error, and every text with a word is like itself."""
    apart(first, second)
    assert apart(first, first) == ("" if read_anchors(first).key else "words")
