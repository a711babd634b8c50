"""Checking the sentences of an answer against passages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.generation.stitch import Passage
from ragmachine.generation.verify import Verifier, without_unsupported
from ragmachine.models import Chunk, Citation, Hit

PORTS = (
    "# Ports\n"  # line 10
    "\n"
    "The gateway listens on port 8417.\n"  # line 12
    "Its session ends after nine hours.\n"
    "\n\n\n\n\n\n\n"
    "The pager answers within 25 minutes.\n"  # line 21
)
PUMPS = "A pump rests for 150 seconds between two runs.\r\nIt trips at 6 A.\r\n"


@pytest.fixture
def passages(make_passage):
    """Two passages of two files; the first begins in the middle of its file."""
    return [
        make_passage(PORTS, 1, path="docs/net.md", start=300, first_line=10, label="Section: Net"),
        make_passage(PUMPS, 2, path="docs/pumps.md"),
    ]


def check(text, passages, **options):
    """The sentences' verdicts."""
    return Verifier(**options).verify(text, passages)


def verdicts(text, passages, **options):
    """Whether each sentence is supported."""
    return [sentence.is_supported for sentence in check(text, passages, **options)]


def test_a_supported_sentence_names_its_lines(passages):
    """Score 1, no reason, and the one line that says it, with offsets into the file."""
    (found,) = check("The gateway listens on port 8417 [1].", passages)
    assert (found.is_supported, found.score, found.reason) == (True, 1.0, "")
    assert (found.start, found.end, found.citations) == (0, 37, (1,))
    # "# Ports\n\n" is 9 characters long, the sentence 33
    assert found.span == Citation(1, "docs/net.md", 309, 342, 12, 12)


def test_the_document_has_the_verdict_and_the_span(passages):
    """What JSON shows of a sentence."""
    (found,) = check("It trips at 7 A [2].", passages)
    assert found.to_json() == {
        "sentence": "It trips at 7 A [2].",
        "answer_start": 0,
        "answer_end": 20,
        "supported": False,
        "score": 0.5,  # "trip" of "trip" and "7"
        "reason": "not found in [2]: 7",
        "citations": [2],
        "span": {
            "number": 2,
            "file_path": "docs/pumps.md",
            "first_character_index": 48,
            "last_character_index": 64,
            "first_line": 2,
            "last_line": 2,
        },
    }


def test_the_smallest_window_is_taken(passages):
    """Two lines where two are needed, and no more; a line's CR is no part of it."""
    (found,) = check("The gateway listens on port 8417 and its session ends [1].", passages)
    assert (found.span.first_line, found.span.last_line) == (12, 13)
    (found,) = check("A pump rests 150 seconds [2].", passages)
    assert found.span.end == len("A pump rests for 150 seconds between two runs.")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            "The gateway listens on port 8418 [1].", "not found in [1]: 8418", id="number"
        ),
        pytest.param(
            "The gateway listens on port 8417 of max_port [1].",
            "not found in [1]: max_port",
            id="name",
        ),
        pytest.param(
            'The gateway listens on "any port 8417" [1].',
            "not found in [1]: any port 8417",
            id="quotation",
        ),
        pytest.param(
            "The gateway listens on port 25 [1].",
            "not near the rest of it in [1]: 25",
            id="number from elsewhere in the passage",
        ),
        pytest.param(
            "The gateway listens on port 8417 [2].", "not found in [2]: 8417", id="wrong passage"
        ),
        pytest.param(
            "The gateway paints ponds purple [1].",
            "too few of its words stand together in [1]",
            id="other words",
        ),
        pytest.param(
            "Ponds are purple.", "too few of its words stand together in any passage", id="uncited"
        ),
        pytest.param("It rests 151 seconds.", "not found in any passage: 151", id="uncited number"),
    ],
)
def test_what_is_not_there_is_not_supported(passages, text, reason):
    """The reason says what is missing, and where it was looked for."""
    (found,) = check(text, passages)
    assert (found.is_supported, found.reason) == (False, reason)


def test_an_uncited_sentence_is_looked_up_everywhere(passages):
    """The span says where it was found; a citation is not invented."""
    (found,) = check("A pump rests for 150 seconds.", passages)
    assert (found.is_supported, found.citations, found.span.number) == (True, (), 2)


def test_words_of_two_passages_do_not_add_up_unless_both_are_cited(passages):
    """Half of the words here and half there support what cites both."""
    text = "The gateway port listens, a pump rests between runs, violet moons"
    (uncited,) = check(f"{text}.", passages)
    (cited,) = check(f"{text} [1][2].", passages)
    assert not uncited.is_supported
    assert cited.is_supported
    # gateway port listen, pump rest between run, violet moon
    assert (uncited.score, cited.score) == (4 / 9, 7 / 9)


def test_path_label_and_lines_may_be_named(passages):
    """Its author was shown them."""
    assert verdicts(
        "According to docs/net.md, lines 10-21, the gateway listens [1].", passages
    ) == [True]


def test_the_weight_of_words_decides(passages):
    """One rare word that is missing outweighs three common ones, where the weights say so."""
    text = "The purple gateway listens on the port [1]."
    assert verdicts(text, passages) == [True]
    weigh = {"purpl": 9.0, "gateway": 1.0, "listen": 1.0, "port": 1.0}
    (found,) = check(text, passages, weigh=lambda terms: [weigh[term] for term in terms])
    assert (found.is_supported, found.score) == (False, 0.25)


@pytest.mark.parametrize(("least", "is_supported"), [(0.75, True), (0.76, False)])
def test_the_threshold_itself_is_enough(passages, least, is_supported):
    """Three of four words."""
    assert verdicts("The purple gateway listens on the port [1].", passages, least=least) == [
        is_supported
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Yes. The gateway listens [1].", [True, True], id="yes, supported"),
        pytest.param("Yes. The moon is green [1].", [False, False], id="yes, unsupported"),
        pytest.param("# Moon\n\nThe gateway listens [1].", [True, True], id="heading"),
        pytest.param("The following holds:\n\n- The moon is green [1].", [False, False], id="lead"),
        pytest.param("The gateway listens [1]. I don't know.", [True, True], id="aside at the end"),
        pytest.param(
            "All 99 of them:\n\n- The gateway listens.", [False, True], id="lead's number"
        ),
        pytest.param("Yes.", [False], id="alone"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_what_claims_nothing_goes_with_what_follows(passages, text, expected):
    """Unless it has a number of its own that is not there."""
    assert verdicts(text, passages) == expected


def test_brackets_of_a_quotation_are_no_citations(make_passage):
    """In quotations only the last number cites, and it does so for all lines of its quotation."""
    passages = [make_passage("x = [2]\ny = [1, 2]\n", 1), make_passage("z = [1]\n", 2, path="b.md")]
    found = Verifier().verify("x = [2]\ny = [1, 2] [1]\nz = [1] [2]", passages, is_quoted=True)
    assert [sentence.citations for sentence in found] == [(1,), (1,), (2,)]
    assert all(sentence.is_supported for sentence in found)


def test_a_number_glued_to_its_word_is_a_citation(passages):
    """As small models write it."""
    (found,) = check("The gateway listens on port 8417[1].", passages)
    assert (found.is_supported, found.citations) == (True, (1,))


def test_without_passages_nothing_is_supported():
    """There is nothing to look it up in."""
    assert verdicts("The gateway listens.", []) == [False]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param("It trips. Moons. It trips.", "It trips. It trips.", id="in the middle"),
        pytest.param("Moons. It trips.", "It trips.", id="first"),
        pytest.param("It trips. Moons.", "It trips.", id="last"),
        pytest.param("It trips.\n\nMoons. It trips.", "It trips.\n\nIt trips.", id="paragraphs"),
        pytest.param("- It trips.\n- Moons.\n- It trips.", "- It trips.\n- It trips.", id="items"),
        pytest.param("Moons.", "", id="all"),
        pytest.param("It trips.", "It trips.", id="none"),
    ],
)
def test_unsupported_sentences_are_taken_out(passages, text, left):
    """With their blanks; those that stay know their new places."""
    found, kept = without_unsupported(text, check(text, passages))
    assert found == left
    assert all(found[one.start : one.end] == one.text and one.is_supported for one in kept)
    assert len(kept) == left.count("trips")


SETTINGS = (
    "Sessions end after 30 minutes of silence. Proxies are not supported on boards.\n"
    "max_seqs = 256\nmax_tokens = 2048\nThe cache keeps 1,024 pages, 90 % of all.\n"
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("Sessions end after 30 seconds [1].", "[1] has 30 minutes, not 30 seconds",
                     id="unit"),
        pytest.param("Proxies are supported on boards [1].", "[1] says the opposite of: support",
                     id="negation"),
        pytest.param("The default of max_seqs = 2048 [1].", "2048 belongs to max_tokens in [1]",
                     id="sibling"),
        pytest.param("Sessions end after half an hour, 0.5 hours [1].", "", id="unit converted"),
        pytest.param("Boards do not support proxies [1].", "", id="negation kept"),
        pytest.param("max_tokens is 2048 [1].", "", id="its own value"),
        pytest.param("The cache keeps 1k pages, 0.9 of all [1].", "", id="other spellings"),
    ],
)  # fmt: skip
def test_what_is_turned_round_is_not_supported(make_passage, text, reason):
    """Units, negations and values of siblings; the same in other words passes."""
    (found,) = check(text, [make_passage(SETTINGS, path="docs/a.md")])
    assert (found.is_supported, found.reason) == (not reason, reason)


def test_lines_of_a_quotation_may_stand_apart(make_passage):
    """A signature and a line far below it are quoted together; a model may not do so."""
    source = "serve(gateway, board,\n" + "    more,\n" * 20 + "    limit=30,\n)\n"
    passages = [make_passage(source, path="a.py")]
    text = "serve(gateway, board,\nlimit=30, [1]"
    (quoted,) = Verifier().verify(text, passages, is_quoted=True)
    assert quoted.is_supported
    assert not all(one.is_supported for one in check(text, passages))


def test_a_blank_line_within_a_quotation_counts_for_nothing(make_passage):
    """Fenced code is quoted whole, however far apart its parts stand."""
    source = "```\nserve(gateway, board,\n\n" + "    more,\n" * 20 + "    limit=30,\n)\n```\n"
    (quoted,) = Verifier().verify(f"{source} [1]", [make_passage(source)], is_quoted=True)
    assert (quoted.is_supported, quoted.reason) == (True, "")


def test_what_stands_there_is_supported_however_its_words_are_spread(make_passage):
    """A quotation without a word to look up, and code that is longer than a window."""
    source = 'if full:\n"""\n'
    found = Verifier().verify('""" [1]', [make_passage(source)], is_quoted=True)
    assert [one.is_supported for one in found] == [True]
    source = "```\n" + "".join(f"step{chr(97 + n)}()\n" for n in range(24)) + "```\n"
    assert verdicts(f"{source} [1]", [make_passage(source)]) == [True]


def test_part_of_a_word_is_no_quotation(make_passage):
    """A text that ends within a number of the passage does not stand there."""
    passage = make_passage("The gateway listens on port 84170.\n")
    assert verdicts("The gateway listens on port 8417", [passage]) == [False]


def test_what_stands_there_letter_by_letter_is_supported(make_passage):
    """Whatever else its passage says."""
    source = "LoRA is supported on TPU.\nLoRA is not\nsupported on TPU with 30 seconds.\n"
    passage = make_passage(source + "30 minutes\n", path="docs/a.md")
    assert verdicts("LoRA is not supported on TPU with 30 seconds.", [passage]) == [True]


ALPHABET = st.text("ab1. \n\r\t`\"'[]()|#-_:,é中【】", max_size=60)


@given(answer=ALPHABET, source=ALPHABET, is_quoted=st.booleans())
def test_whatever_is_written_gets_a_verdict(answer, source, is_quoted):
    """No text breaks the check, and every span is a run of whole lines of its passage."""
    chunk = Chunk(0, "a.md", 7, 7 + len(source), 3, 3 + source.count("\n"), source, "text", "")
    passages = [Passage(1, Hit(1, 1.0, chunk), source)]
    found = Verifier().verify(answer, passages, is_quoted=is_quoted)
    for sentence in found:
        assert answer[sentence.start : sentence.end] == sentence.text
        assert 0 <= sentence.score <= 1
        assert sentence.is_supported != bool(sentence.reason)
        if span := sentence.span:
            assert span.first_line == 3 + source.count("\n", 0, span.start - 7)
            assert span.last_line == 3 + source.count("\n", 0, span.end - 7)
    left, kept = without_unsupported(answer, found)
    assert [left[one.start : one.end] for one in kept] == [
        one.text for one in found if one.is_supported
    ]
