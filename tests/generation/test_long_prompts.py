"""A model that cannot read all passages is shown fewer, once."""

from __future__ import annotations

from fake_chat import FakeChat
from ragmachine.generation.answerer import Answerer
from ragmachine.llm.chat import PromptTooLongError
from ragmachine.models import SearchResult

LINE = "The default port of server {0} is 80{0:02}, as its page says in so many words.\n"


class ShortSighted(FakeChat):
    """Reads prompts of at most so many characters, four a token."""

    def __init__(self, limit_chars: int, *, knows_numbers: bool = True) -> None:
        super().__init__("The default port of server 1 is 8001 [1].")
        self.limit_chars = limit_chars
        self.knows_numbers = knows_numbers
        self.lengths: list[int] = []

    def chat(self, messages, **options):
        """Refuse what is longer."""
        self.lengths.append(sum(len(message.content) for message in messages))
        if self.lengths[-1] > self.limit_chars:
            needed = self.lengths[-1] // 4 if self.knows_numbers else 0
            limit = self.limit_chars // 4
            raise PromptTooLongError(self.name, needed_tokens=needed, limit_tokens=limit)
        return super().chat(messages, **options)


def answered(make_hit, client):
    """The answer from one page of forty lines."""
    hit = make_hit("".join(LINE.format(number) for number in range(1, 41)))
    result = SearchResult("What is the default port of server 1?", "lexical", (hit,), 9, 0.5)
    return Answerer(client, context_chars=8000, max_tokens=99).answer(result)


def test_the_passages_are_cut_by_what_was_too_much(make_hit):
    """The second prompt fits, and is not much shorter than it had to be."""
    client = ShortSighted(3000)
    answer = answered(make_hit, client)
    assert (answer.mode, answer.notice) == ("tiny:1b", "")
    first, second = client.lengths
    assert first > 3000 >= second > 2600


def test_half_is_shown_where_nothing_is_known(make_hit):
    """A server that gives no numbers."""
    client = ShortSighted(3000, knows_numbers=False)
    assert answered(make_hit, client).mode == "tiny:1b"
    assert len(client.lengths) == 2


def test_a_second_refusal_ends_it(make_hit):
    """The answer is then a quotation, and its notice says why."""
    client = ShortSighted(10)
    client.count_tokens = lambda text: 10 * len(text)
    answer = answered(make_hit, client)
    assert answer.mode == "extractive"
    assert answer.notice.startswith("the prompt is too long for the model tiny:1b")
    assert "--context_chars" in answer.notice
    assert len(client.lengths) == 2
