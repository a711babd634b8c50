"""The page while a model writes, and when something is missing, busy or gone."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from live import SlowChat, pipeline_of

QUESTION = "How many years does a squid live?"
STATIC = Path(__file__).resolve().parents[2] / "src" / "ragmachine" / "server" / "static"
Serves = Callable[..., str]


class Gate(threading.Event):
    """Lets as many words pass as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self._left = threading.Semaphore(0)

    def let(self, words: int) -> None:
        """Let some more pass."""
        self._left.release(words)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for one word's turn."""
        return self._left.acquire(timeout=timeout)


def test_passages_come_before_the_words_and_words_before_the_end(
    visit: Any, app: Serves, model: SlowChat
) -> None:
    """While the model holds its tongue the passages are there; each word is shown as it comes."""
    model.words = ("A squid lives ", "for 3 years [1]. ", "It plays the trombone.")
    at = visit(app())
    at.ask(QUESTION)
    at.see(".hit")
    assert model.begun.wait(20)
    assert at.page.get_attribute("#words", "aria-busy") == "true"
    assert at.page.get_attribute("#words", "aria-live") == "polite"
    at.shoot("waiting")
    model.go.set()
    words = at.answered()
    assert "A squid lives for 3 years" in words.inner_text()
    assert at.page.get_attribute("#words", "aria-busy") == "false"
    assert "slow:1b" in at.page.inner_text("#badges")


def test_words_are_shown_as_they_come(visit: Any, app: Serves, model: SlowChat) -> None:
    """Half an answer is on the page before the other half is written; Stop ends it."""
    gate = Gate()
    model.go = gate
    model.words = ("A squid lives ", "for 3 years, ", "they say [1].")
    at = visit(app())
    at.ask(QUESTION)
    gate.let(2)
    assert at.see("#words .growing", "for 3").inner_text() == "A squid lives for 3 years, "
    at.shoot("streaming")
    at.page.click("#stop")
    at.see("#words", "Stopped.")
    assert at.page.locator("#words .growing").inner_text().startswith("A squid lives for 3")
    assert not at.page.locator("#stop").is_visible()
    gate.let(2)


def test_an_unsupported_sentence_is_marked(visit: Any, app: Serves, model: SlowChat) -> None:
    """The sentence, a word beside it, the count and the reason; the others are left alone."""
    model.words = ("A squid lives for 3 years [1]. It owns 77 trombones in Ulm.",)
    model.go.set()
    at = visit(app())
    at.ask(QUESTION)
    at.answered()
    doubts = at.page.locator(".doubt")
    assert doubts.count() == 1
    assert doubts.inner_text().startswith("It owns 77 trombones in Ulm.")
    assert "not supported" in doubts.inner_text()
    assert "1 of 2 sentences" in at.page.inner_text("#answer-notes")
    at.shoot("unsupported")


def test_markdown_of_a_model_is_drawn_and_never_parsed_as_markup(
    visit: Any, app: Serves, model: SlowChat
) -> None:
    """Lists, code and bold become elements; tags stay text."""
    model.words = (
        "**Squid** facts <b>x</b> [1]:\n\n- lives `3 years` [1]\n- a script\n\n"
        "```py\nx = squid[1]\n<img src=x>\n```\n",
    )
    model.go.set()
    at = visit(app())
    at.ask(QUESTION)
    words = at.answered()
    assert words.locator("strong").inner_text() == "Squid"
    assert words.locator("li").count() == 2
    assert "x = squid[1]\n<img src=x>" in words.locator("pre").inner_text()
    assert words.locator("b, img, pre .chip").count() == 0
    assert "<b>x</b>" in words.inner_text()


def test_a_busy_model_is_asked_again(visit: Any, app: Serves, model: SlowChat) -> None:
    """The passages stay, the wait is shown, and the answer comes when the model is free."""
    url = app(answers_waiting=0)
    body = {"query": "squid lives years"}
    other = threading.Thread(target=lambda: httpx.post(f"{url}/answer", json=body, timeout=60))
    other.start()
    assert model.begun.wait(20)
    model.words = ("A squid lives for 3 years [1].",)
    at = visit(url, refused=True)
    at.ask(QUESTION)
    at.see(".notice", "busy")
    at.see(".hit")
    at.shoot("busy")
    model.go.set()
    other.join(30)
    at.page.get_by_role("button", name="Try now").click()
    assert "3 years" in at.answered().inner_text()
    assert not at.page.locator(".notice h2").count()


def test_retry_after_is_waited_for(visit: Any, app: Serves, model: SlowChat) -> None:
    """A refusal with Retry-After is followed by the same question, without a click."""
    model.go.set()
    at = visit(app(), refused=True)
    problem = {"status": 503, "code": "timeout", "detail": "too slow", "remedy": ""}
    refused: list[str] = []

    def refuse(route: Any) -> None:
        if refused:
            route.continue_()
            return
        refused.append(route.request.url)
        route.fulfill(status=503, headers={"retry-after": "1"}, json=problem)

    at.page.route("**/search", refuse)
    at.ask(QUESTION)
    at.see(".hit")
    assert len(refused) == 1


def test_a_refusal_inside_a_stream_says_when_to_ask_again(
    visit: Any, app: Serves, model: SlowChat
) -> None:
    """The queue filled up after the stream had begun; the passages stay, the answer comes."""
    model.go.set()
    model.words = ("A squid lives for 3 years [1].",)
    at = visit(app())
    problem = {"status": 503, "code": "queue_full", "detail": "full", "retry_after": 33}
    body = f"event: error\ndata: {json.dumps(problem)}\n\n"
    headers = {"content-type": "text/event-stream"}
    at.page.route(
        "**/answer", lambda route: route.fulfill(status=200, headers=headers, body=body), times=1
    )
    at.ask(QUESTION)
    assert int(at.see(".notice .badge").inner_text().split()[0]) > 20
    at.see(".hit")
    at.page.get_by_role("button", name="Try now").click()
    assert "3 years" in at.answered().inner_text()


def test_a_server_that_is_gone_is_waited_for(visit: Any, app: Serves, model: SlowChat) -> None:
    """The page says so, and asks again once it is back."""
    model.go.set()
    at = visit(app(), refused=True)
    at.see("#start h2")
    at.context.set_offline(True)
    at.ask(QUESTION)
    at.see(".notice", "does not answer")
    at.shoot("gone")
    at.context.set_offline(False)
    at.answered()
    assert not at.page.locator(".notice h2").count()


def test_no_model_is_told_and_quotations_stand_in(visit: Any, app: Serves) -> None:
    """An answer there is all the same, with the way to get a model."""
    at = visit(app(llm="ollama,extractive"))
    at.ask(QUESTION)
    at.answered()
    assert "quoted, no model" in at.page.inner_text("#badges")
    assert "ollama serve" in at.page.inner_text("#answer-notes")
    at.shoot("no-model")


def test_a_model_that_alone_may_answer_is_missed_and_passages_stay(visit: Any, app: Serves) -> None:
    """What to start, and the passages all the same."""
    at = visit(app())
    at.ask(QUESTION)
    at.see(".notice", "The model cannot be asked")
    at.see(".notice code", "ollama serve")
    at.see(".hit")
    assert not at.page.locator("#answer").is_visible()


def test_trying_again_takes_the_notice_away(visit: Any, app: Serves, model: SlowChat) -> None:
    """An answer does not stand below the word that there can be none."""
    model.go.set()
    at = visit(app(), refused=True)
    problem = {"status": 503, "code": "model_unavailable", "detail": "it is gone", "remedy": ""}
    at.page.route("**/answer", lambda route: route.fulfill(status=503, json=problem), times=1)
    at.ask(QUESTION)
    at.see(".notice", "The model cannot be asked")
    at.page.get_by_role("button", name="Try again").click()
    at.answered()
    assert not at.page.locator(".notice h2").count()


def test_no_index_is_a_beginning(visit: Any, app: Serves, tmp_path: Path) -> None:
    """The page gives the command, and begins by itself once there is an index."""
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.md").write_text("# Jam\n\nMarmalade needs oranges.\n", "utf-8")
    at = visit(app(tmp_path), refused=True)
    at.see("#start h2", "Nothing is indexed yet")
    at.see("#start code", "ragmachine index")
    at.shoot("no-index")
    pipeline_of(tmp_path).index("corpus")
    at.see("#start h2", "Where does it say so?")
    assert "1 file" in at.page.inner_text("#corpus")


def test_a_token_is_asked_for_and_kept_for_the_tab(
    visit: Any, app: Serves, model: SlowChat
) -> None:
    """A wrong one is asked for again; the right one opens text and PDF pages too."""
    model.go.set()
    model.words = ("The mooring chain of a buoy is 14 metres long [1].",)
    at = visit(app(token="open sesame"), refused=True)  # noqa: S106
    for token in ("wrong", "open sesame"):
        at.see("#token")
        at.page.fill("#token-value", token)
        at.page.press("#token-value", "Enter")
    at.see("#start h2", "Where")
    at.ask("How long is the mooring chain?")
    at.answered()
    at.page.locator("#words .chip").first.click()
    assert at.see("iframe.page").get_attribute("src").startswith("blob:")
    assert at.page.evaluate("Object.values(localStorage).join()").count("sesame") == 0


@pytest.mark.parametrize("size", [100, 20_000_000], ids=["small", "large"])
def test_an_upload_without_a_token_asks_for_it_and_is_sent_again(
    visit: Any, app: Serves, tmp_path: Path, size: int
) -> None:
    """Missing, then wrong, then right; whoever does not give one is told, and can try again."""
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.md").write_text("The tide is high.")
    pipeline_of(tmp_path).index("corpus")
    note = tmp_path / "note.txt"
    note.write_text("The lantern burns whale oil.\n" + "x" * size)
    at = visit(app(tmp_path, llm="extractive", token="open sesame"), refused=True)  # noqa: S106
    at.see("#token")
    at.page.click("#token [data-close]")
    at.page.click("#open-upload")
    at.page.set_input_files("#files", note)
    at.page.click("#send")
    at.see("#token")
    at.page.click("#token [data-close]")
    at.see("#job.fault", "token")
    at.page.click("#send")
    for token in ("wrong", "open sesame"):
        at.see("#token")
        at.page.fill("#token-value", token)
        at.page.press("#token-value", "Enter")
    at.see("#job", "Indexed:")
    assert (tmp_path / "corpus" / "uploads" / "note.txt").stat().st_size > size


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_no_script_of_the_page_parses_markup_or_code(path: Path) -> None:
    """What would turn data into elements or programs is not used at all."""
    text = path.read_text("utf-8")
    for name in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                 "new Function", "DOMParser", "srcdoc", "createContextualFragment"):  # fmt: skip
        assert name not in text


def test_the_page_asks_nothing_of_others_and_holds_nothing_inline() -> None:
    """No address outside, no inline script, style or handler, so that the policy can be strict."""
    page = (STATIC / "index.html").read_text("utf-8")
    assert "http://" not in page
    assert "https://" not in page
    for name in ("style=", "<style", " onclick", " onload", "javascript:"):
        assert name not in page
    assert page.count("<script") == page.count("<script src=") + page.count('type="module" src=')
