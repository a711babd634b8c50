"""What a question asks for."""

from __future__ import annotations

import pytest

from ragmachine.generation.intents import intent_scorer, value_subjects, without_asking
from ragmachine.generation.words import content_words, exact_names


@pytest.mark.parametrize(
    ("question", "holds", "lacks"),
    [
        pytest.param("how many retries", "It tries 3 times.", "It tries again.", id="number"),
        pytest.param("minimum version", "Needs 0.46.1 or later.", "Needs it.", id="version"),
        pytest.param("which error is raised", "raise ValueError", "pass it on", id="error"),
        pytest.param("what does it return", "return x", "x = 1", id="return"),
        pytest.param("which flag turns it on", "Pass `--fast`.", "Pass it.", id="flag"),
        pytest.param("which environment variable", "Set APP_PORT.", "Set it.", id="variable"),
        pytest.param("what command installs it", "pip install x", "an x", id="command"),
        pytest.param("which endpoint is used", "POST to /v1/load", "POST it", id="endpoint"),
        pytest.param("what happens on overflow", "if full: drop", "drop it", id="condition"),
        pytest.param(
            "how long does it last", "It lasts 24 months.", "It has 24 parts.", id="duration"
        ),
        pytest.param(
            "when is it time to clean it",
            "Every 3 weeks.",
            "Every 3 parts.",
            id="time to do something",
        ),
        pytest.param("which has the longer life, a or b", "for 2 hours", "for 2 dogs", id="longer"),
        pytest.param("which is heavier, a or b", "3 kg", "some", id="comparative"),
        pytest.param("why is it slow", "It waits because of locks.", "It waits.", id="reason"),
    ],
)
def test_kinds(question, holds, lacks):
    """A unit that holds a value of the kind asked for counts more than one that does not."""
    judge = intent_scorer(question, [])
    assert judge(holds)[0] > judge(lacks)[0]


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("How long is the fuse?", "is the fuse?"),
        ("When is it time to clean it?", "to clean it?"),
        ("Compare the mass of a and b", "the mass of a and b"),
        ("What is the difference in mass between a and b?", "What is the mass between a and b?"),
        ("Is the difference large?", "Is the difference large?"),
        ("A long fuse", "A long fuse"),
    ],
)
def test_words_that_only_ask(question, rest):
    """They are left out; the same words elsewhere are not."""
    assert " ".join(without_asking(question).split()) == rest


def test_a_length_is_no_duration():
    """Metres answer how long something may be as well as hours."""
    judge = intent_scorer("how long may a line be", [])
    assert judge("300 m")[0] == judge("3 hours")[0] > 0


def test_values_of_the_question_do_not_count():
    """A number that the question names is not its answer."""
    judge = intent_scorer("how many heads has layer7", ["layer7"])
    assert judge("layer7 has heads")[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "port = 8000",
        "port: int = 8000",
        "self.port = None",
        'port="8000"',
        'get("port", 8000)',
        "port: 8000",
        "--port, default: 8000",
        "The port defaults to eight thousand.",
    ],
)
def test_value_of_a_default(text):
    """A name with a literal, or with the word default, is the value asked for."""
    assert intent_scorer("what is the default value of port", ["port"])(text)[1]


@pytest.mark.parametrize(
    "text", ["port=port", "port == 8000", "use port", "import_port = 8000", "port = compute()"]
)
def test_no_value_of_a_default(text):
    """A name passed on, compared, or mentioned is not."""
    assert not intent_scorer("what is the default value of port", ["port"])(text)[1]


def test_words_that_name_nothing():
    """The words "value" and "default" in the question are not names to look for."""
    judge = intent_scorer("what is the default value of port", ["default", "value", "port"])
    assert not judge("value = 3, default = 4")[1]


def test_value_only_where_a_default_is_asked():
    """Other questions do not prefer assignments."""
    assert not intent_scorer("what is port", ["port"])("port = 8000")[1]


@pytest.mark.parametrize(
    ("question", "subjects"),
    [
        pytest.param("What is the default of size in Pool?", ["size"], id="in its class"),
        pytest.param("What is the default value of the kv_states parameter in Model's forward?",
                     ["kv_states"], id="identifier first"),
        pytest.param("What does max_len default to?", ["max_len"], id="defaults to"),
        pytest.param("To what is DOSE_RATE set?", ["DOSE_RATE"], id="set to"),
        pytest.param("What is MAX_SIZE in the reader and why?", ["MAX_SIZE"], id="constant"),
        pytest.param("What are the default window and rest of a Ledger?", ["window", "rest"],
                     id="two words"),
        pytest.param("What is the default port of Relay?", ["port"], id="a plain word"),
        pytest.param("Why is the port slow?", [], id="no value asked"),
    ],
)  # fmt: skip
def test_whose_value_is_asked_for(question, subjects):
    """The names behind "default of", "set to" and the like; containers are left out."""
    names = [*exact_names(question), *content_words(question)]
    assert value_subjects(question, names) == subjects
