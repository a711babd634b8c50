"""Answers by quotation."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmachine.generation.extractive import extract_answers
from ragmachine.generation.stitch import Passage
from ragmachine.generation.verify import Verifier
from ragmachine.models import Chunk, Hit

GUIDE = textwrap.dedent("""\
    # Relay guide

    The relay forwards packets between two ports. It was written for small boards.

    ## Limits

    | Option | Default | Meaning |
    |--------|---------|---------|
    | `queue_len` | 64 | packets held |
    | `idle_s` | 30 | seconds before sleep |

    A relay raises `QueueFullError` when no packet can be held.

    ## Starting

    To start the relay, run:

    ```bash
    relayd --board mini
    ```

    Three modes exist:

    - **echo** sends packets back.
    - **drop** forgets packets.
    - **mirror** sends packets to both ports.
    """)

CODE = textwrap.dedent('''\
    class Relay:
        """Forwards packets."""

        retries = 4

        def __init__(self, port: int = 7070, host: str = "localhost"):
            self.port = port

        def push(self, packet):
            """Queue a packet.

            Raises: QueueFullError: the queue is full.
            """
            if len(self.queue) >= self.limit:
                raise QueueFullError(f"{self.limit} packets are waiting")
            self.queue.append(packet)
            return len(self.queue)
    ''')


def ask(question, *passages, **options):
    """The answer's text and the numbers it cites."""
    answer = extract_answers([question], passages, **options)
    return answer.text, answer.cited


def test_table_row_with_its_header(make_passage):
    """A value in a table is quoted as its row below the header."""
    text, cited = ask("What is the default of idle_s?", make_passage(GUIDE), max_sentences=1)
    assert text == ("| Option | Default | Meaning |\n| `idle_s` | 30 | seconds before sleep | [1]")
    assert cited == (1,)


def test_header_of_two_rows_is_shown_once(make_passage):
    """Two rows of one table share their header."""
    text, _ = ask("default queue_len idle_s", make_passage(GUIDE), max_sentences=2)
    assert text.count("| Option | Default | Meaning |") == 1
    assert "64" in text
    assert "30" in text


def test_error_in_prose(make_passage):
    """Asking "which error" finds the sentence that names it."""
    text, _ = ask("Which error does a relay raise?", make_passage(GUIDE), max_sentences=1)
    assert text == "A relay raises `QueueFullError` when no packet can be held. [1]"


def test_command_below_its_sentence(make_passage):
    """Asking "how do I start" finds the command with the sentence that announces it."""
    text, _ = ask("How do I start the relay?", make_passage(GUIDE), max_sentences=1)
    assert text == "To start the relay, run:\nrelayd --board mini [1]"


def test_list_below_its_introduction(make_passage):
    """Asking "what are the modes" finds the whole list."""
    text, _ = ask("What are the three modes?", make_passage(GUIDE), max_sentences=1)
    assert text.startswith("Three modes exist:\n- **echo**")
    assert "**mirror**" in text


@pytest.mark.parametrize(
    ("question", "line"),
    [
        pytest.param("What is the default value of retries?", "retries = 4", id="assignment"),
        pytest.param("What is the default port of Relay?", "port: int = 7070", id="parameter"),
        pytest.param("Which error does push raise?", "raise QueueFullError", id="raise"),
        pytest.param("What does push return?", "return len(self.queue)", id="return"),
        pytest.param("What does Relay do?", "Forwards packets.", id="docstring"),
    ],
)
def test_lines_of_code(make_passage, question, line):
    """Questions about code quote the line that holds the answer."""
    assert line in ask(question, make_passage(CODE, path="src/relay.py"))[0]


DEFAULTS = {
    "argument": ("a.py", "def serve(host: str = 'x', port: int = 7070) -> None:\n    bind(port)\n"),
    "field": ("a.py", "class Relay:\n    retries: int = 3\n    port: int = 7070\n    limit = 9\n"),
    "constant": ("a.py", "LIMIT = 3\n\nPORT = 7070\n\nbind(PORT, LIMIT)\n"),
    "pydantic": ("a.py", "class A(Model):\n    limit: int = Field(default=3)\n"
                         "    port: int = Field(default=7070)\n"),
    "argparse": ("a.py", "parser.add_argument('--limit', default=3)\n"
                         "parser.add_argument('--port', type=int, default=7070)\n"),
    "environment": ("a.py", "limit = os.environ.get('LIMIT', '3')\n"
                            "port = int(os.getenv('port', '7070'))\n"),
    "getattr": ("a.py", "limit = getattr(c, 'limit', 3)\nset(getattr(c, 'port', 7070))\n"),
    "table": ("a.md", "| Option | Default |\n|---|---|\n| `limit` | 3 |\n| `port` | 7070 |\n"),
    "list": ("a.md", "- `--limit`: most packets. Default: 3\n- `--port`: to bind. Default: 7070\n"),
    "prose": ("a.md", "The port is bound at the start. If not set, port defaults to 7070.\n"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DEFAULTS)
def test_the_line_with_the_default_is_quoted(make_passage, kind):
    """First of all, whatever other passages say about the name."""
    path, text = DEFAULTS[kind]
    talk = "The port of a relay is the port to which a relay is bound, such as port 22.\n"
    answer, _ = ask(
        "What is the default value of port?",
        make_passage(text, 1, path=path),
        make_passage(talk, 2, path="b.md"),
        max_sentences=1,
    )
    assert "7070" in answer
    assert "9\n" not in answer


def test_a_value_is_quoted_without_much_else(make_passage):
    """Where the value is found, weaker lines of its passage are left out."""
    code = "port = 7070\n\nlog.info('a relay was bound', port)\n\nrelay.wait()\n"
    text, _ = ask("What is the default of port?", make_passage(code, path="a.py"))
    assert text == "port = 7070 [1]"


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("zebra crossing", id="no common word"),
        pytest.param("what is the of", id="stopwords"),
        pytest.param("", id="empty"),
        pytest.param("?!", id="punctuation"),
    ],
)
def test_nothing_bears_on_the_question(make_passage, question):
    """Without a common content word the answer is empty."""
    assert ask(question, make_passage(GUIDE)) == ("", ())


def test_no_passages():
    """Nothing to quote from gives nothing."""
    assert ask("What is it?") == ("", ())


def test_each_quote_names_its_passage(make_passage):
    """Quotes of two passages carry their own numbers, and both are cited."""
    text, cited = ask(
        "Where do red kites and blue tits nest?",
        make_passage("Red kites nest in oaks.\n", 1),
        make_passage("Blue tits nest in boxes.\n", 2, path="b.md"),
    )
    assert text == "Red kites nest in oaks. [1]\nBlue tits nest in boxes. [2]"
    assert cited == (1, 2)


def test_repeats_are_not_quoted_twice(make_passage):
    """Of two passages that say the same, one is quoted."""
    text, cited = ask(
        "Which port does the relay use?",
        make_passage("The relay uses port 7070.\n", 1),
        make_passage("The relay uses port 7070.\n", 2, path="b.md"),
    )
    assert text.count("7070") == 1
    assert cited == (1,)


@pytest.mark.parametrize(
    ("question", "cited"),
    [
        pytest.param("How fast is the relay?", (1,), id="holds nothing new"),
        pytest.param("How fast is the relay in winter storms?", (1, 2), id="brings words"),
    ],
)
def test_another_passage_is_quoted_for_news_only(make_passage, question, cited):
    """Every quote of a further passage must bring words that the ones before it lack."""
    passages = [
        make_passage("The relay is fast: 40 packets a second.\n", 1),
        make_passage("In winter storms 12 packets pass.\n", 2, path="b.md"),
    ]
    assert ask(question, *passages)[1] == cited


def test_a_line_of_a_signature_is_not_repeated_by_the_signature(make_passage):
    """One parameter below "def …(", or the whole signature, never both."""
    code = (
        "def load(\n    name: str,\n    port: int = 7070,\n    host='x',\n    safe=True,\n):\n"
        '    """Load the port of a name."""\n    return open_port(name, port)\n'
    )
    text, _ = ask("What is the default of port in load?", make_passage(code, path="a.py"))
    assert text.count("port: int = 7070") == text.count("def load(") == 1


def test_quotes_of_a_passage_stand_in_text_order(make_passage):
    """Within a passage the reader meets the quotes as the author wrote them."""
    text = "First the oven heats up.\n\nOther things.\n\nThen the oven holds its heat.\n"
    found, _ = ask("How does the oven hold heat?", make_passage(text))
    assert found.index("First") < found.index("Then")


def test_better_passage_wins_a_tie(make_passage):
    """Of equal quotes the better ranked passage's comes first."""
    text, _ = ask(
        "Who feeds cats?",
        make_passage("Cats get fed by Ann.\n", 1),
        make_passage("Cats get fed by Bob.\n", 2, path="b.md"),
        max_sentences=1,
    )
    assert text == "Cats get fed by Ann. [1]"


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_most_quotes(make_passage, limit):
    """No more quotes than asked for."""
    lines = "".join(f"Cats like thing {n} and {'x' * n} most.\n\n" for n in range(9))
    assert (
        ask("What do cats like?", make_passage(lines), max_sentences=limit)[0].count("[1]") <= limit
    )


def test_licence_notices_are_not_quoted(make_passage):
    """The words of a licence header answer nothing."""
    code = "# Copyright the relay project\n# SPDX-License-Identifier: MIT\n\nrelay = 1\n"
    text, _ = ask("relay project", make_passage(code, path="a.py"))
    assert text == "relay = 1 [1]"


def test_imports_come_last(make_passage):
    """An import that holds the same words as a statement gives way to it."""
    code = "from relay import retries\n\nretries = relay\n"
    text, _ = ask("relay retries", make_passage(code, path="a.py"), max_sentences=1)
    assert text == "retries = relay [1]"


def test_tokenizer_decides_what_meets(make_passage):
    """A tokenizer handed in replaces the built-in one."""
    passage = make_passage("Eins. Zwei.\n")
    assert ask("one", passage)[0] == ""
    terms = {"one": ["1"], "Eins.": ["1"]}
    text, _ = ask("one", passage, terms=lambda text: terms.get(text, []))
    assert text == "Eins. [1]"


QUESTIONS = ["default port", "what does push return?", "which modes exist", "`queue_len`", "(["]


@given(
    st.lists(st.sampled_from((GUIDE + CODE).splitlines(keepends=True)), max_size=30),
    st.sampled_from(QUESTIONS),
    st.sampled_from(["markdown", "python", "text", "cuda"]),
)
def test_every_quote_is_source_text(lines, question, file_type):
    """However lines are shuffled, what is quoted stands in the passage letter by letter."""
    text = "".join(lines)
    chunk = Chunk(0, "a", 0, len(text), 1, max(1, len(lines)), text, file_type, "")
    answer = extract_answers([question], [Passage(1, Hit(1, 1.0, chunk), text)])
    source = {line.strip() for line in text.splitlines()}
    for line in answer.text.splitlines():
        quoted = line.removesuffix(" [1]").strip()
        assert any(quoted in line for line in source)
    assert answer.cited == ((1,) if answer.text else ())


@given(
    st.lists(st.sampled_from((GUIDE + CODE).splitlines(keepends=True)), max_size=30),
    st.sampled_from(QUESTIONS),
    st.sampled_from(["markdown", "python", "cuda"]),
)
def test_no_quotation_is_called_unsupported(lines, question, file_type):
    """The check of sentences raises no false alarm about what is quoted."""
    text = "".join(lines)
    chunk = Chunk(0, "a", 0, len(text), 1, max(1, len(lines)), text, file_type, "")
    passages = [Passage(1, Hit(1, 1.0, chunk), text)]
    answer = extract_answers([question], passages)
    found = Verifier().verify(answer.text, passages, is_quoted=True)
    assert [sentence for sentence in found if not sentence.is_supported] == []


def test_each_of_several_questions_is_quoted_for() -> None:
    """Whatever the order of the passages; a line that answers both is shown once."""
    texts = [
        "The pump starts. The pump stops. The pump hums. The pump rests. The pump waits.",
        "The lamp has a price of 9 euro.",
    ]
    passages = [
        Passage(number, Hit(number, 1.0, Chunk(number, f"{number}.md", 0, len(text), 1, 1, text,
                                               "markdown", "")), text)
        for number, text in enumerate(texts, 1)
    ]  # fmt: skip
    questions = ["when does the pump stop", "what is the price of the lamp"]
    answer = extract_answers(questions, passages, max_sentences=2)
    assert answer.cited == (1, 2)
    assert "The pump stops." in answer.text
    assert "9 euro" in answer.text
    again = extract_answers([questions[1], questions[1]], passages)
    assert again.text.count("9 euro") == 1
