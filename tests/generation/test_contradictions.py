"""Negations turned round, opposites, and numbers of other names."""

from __future__ import annotations

import pytest

from ragmachine.generation.contradictions import contradiction, misplaced
from ragmachine.generation.words import split_terms


@pytest.mark.parametrize(
    ("sentence", "source", "word"),
    [
        pytest.param("LoRA is not supported on TPU.", "LoRA is supported on TPU.", "support",
                     id="put in"),
        pytest.param("LoRA is supported on TPU.", "LoRA is not supported on TPU.", "support",
                     id="left out"),
        pytest.param("It doesn't keep old logs.", "It keeps old logs.", "keep", id="short form"),
        pytest.param("The cache can keep old logs.", "The cache cannot keep old logs.", "keep",
                     id="cannot"),
        pytest.param("There is no cache for logs.", "There is a cache for logs.", "cach",
                     id="there is no"),
        pytest.param("The cache is enabled by default.", "The cache is disabled by default.",
                     "enabled", id="opposite"),
        pytest.param("LoRA is not supported.", "LoRA is\nsupported.", "support", id="wrapped"),
        pytest.param("It does not keep old logs.", "It does not wait, it keeps old logs.", "keep",
                     id="behind a comma"),
    ],
)  # fmt: skip
def test_a_contradiction_is_noticed(sentence, source, word):
    """The word that is turned round is named."""
    assert contradiction(sentence, [source], split_terms) == word


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        pytest.param("LoRA is supported.", "LoRA is supported.", id="same"),
        pytest.param("LoRA is not supported.", "LoRA isn't supported.", id="same, short"),
        pytest.param("It does not support LoRA.", "LoRA is not supported.", id="another order"),
        pytest.param("LoRA is supported.", "Not only is LoRA supported.", id="not only"),
        pytest.param("LoRA is supported.", "If LoRA is not supported, wait.", id="condition"),
        pytest.param("LoRA is supported.", "No LoRA is not supported.", id="twice"),
        pytest.param("LoRA is supported.", "LoRA is not supported on TPU. LoRA is supported.",
                     id="said both ways"),
        pytest.param("The cache is enabled or disabled.", "The cache is disabled.",
                     id="both opposites"),
        pytest.param("The log is not kept.", "The cat is kept warm at night in winter.",
                     id="about something else"),
        pytest.param("The cache is disabled.", "The cache is not enabled.", id="opposite denied"),
        pytest.param("The cache does not keep old logs.",
                     "The cache does not compress or keep old logs.", id="denied together"),
        pytest.param("The scheduler keeps long prompts of many users in memory pages.",
                     "It does not keep memory.", id="little in common"),
        pytest.param("LoRA is not used here.", "lora = used(here)", id="code"),
        pytest.param("It is 5.", "", id="nothing there"),
        pytest.param("", "LoRA is supported.", id="nothing said"),
    ],
)  # fmt: skip
def test_nothing_is_made_of_what_agrees_or_is_unclear(sentence, source):
    """False alarms cost trust."""
    assert contradiction(sentence, [source], split_terms) == ""


SET = "max_seqs = 256\nmax_tokens: int = 2048\n| `min_p` | 0.5 | share |\n--top-k: 7\n"


@pytest.mark.parametrize(
    ("names", "numbers", "found"),
    [
        pytest.param(["max_seqs"], ["2048"], ("2048", "max_tokens"), id="sibling's"),
        pytest.param(["max_seqs"], ["256"], ("", ""), id="its own"),
        pytest.param(["--top-k"], ["0.5"], ("0.5", "min_p"), id="a row's"),
        pytest.param(["max_seqs", "max_tokens"], ["2048"], ("", ""), id="both are named"),
        pytest.param(["max_seqs"], ["99"], ("", ""), id="nobody's"),
        pytest.param(["other"], ["2048"], ("", ""), id="not set there"),
        pytest.param([], ["2048"], ("", ""), id="no name"),
    ],
)
def test_whose_number_it_is(names, numbers, found):
    """A number that is set for another name, and for none that the sentence has."""
    assert misplaced(names, numbers, SET) == found


def test_a_line_with_both_says_nothing():
    """The number may be about either."""
    source = "max_seqs = 256  # below 2048\nmax_tokens = 2048\n"
    assert misplaced(["max_seqs"], ["2048"], source) == ("", "")
    source = "Up to 2048 may stand in max_seqs.\nmax_seqs = 256\nmax_tokens = 2048\n"
    assert misplaced(["max_seqs"], ["2048"], source) == ("", "")
