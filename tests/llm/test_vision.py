"""A vision model is asked about images over Ollama's wire, and its troubles have names."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from fake_vision import MODEL, FakeVision, seeing
from ragmachine.errors import ModelError
from ragmachine.llm.chat import ModelUnavailableError
from ragmachine.llm.vision import OllamaVision

IMAGE = b"\x89PNG\r\n\x1a\n, or what a test takes for it"


@pytest.fixture
def server() -> Iterator[FakeVision]:
    """A server that sees."""
    with seeing("Warranty: 36 months") as fake:
        yield fake


def vision(server: FakeVision, **options: float) -> OllamaVision:
    """A client of that server."""
    return OllamaVision(MODEL, server.host, connect_timeout_s=1.0, **options)


def test_the_image_goes_over_the_wire(server: FakeVision) -> None:
    """The file itself arrives beside the prompt; words are the likeliest, and not without end."""
    assert vision(server).transcribe("Transcribe.", IMAGE) == "Warranty: 36 months"
    (body,) = server.requests
    assert server.images == [IMAGE]
    assert body["model"] == MODEL
    assert body["messages"][0]["content"] == "Transcribe."
    assert body["options"]["temperature"] == 0
    assert body["options"]["num_predict"] == 4096
    assert body["options"]["num_ctx"] >= 8192


def test_it_asks_once_whether_the_model_sees(server: FakeVision) -> None:
    """A model without eyes is asked about no image: it might make one up."""
    client = vision(server)
    client.transcribe("x", IMAGE)
    shows = server.shows
    client.transcribe("x", IMAGE)
    assert server.shows == shows
    server.capabilities = ["completion"]
    blind = vision(server)
    with pytest.raises(ModelUnavailableError, match="does not read images") as caught:
        blind.transcribe("x", IMAGE)
    assert "--ocr_model" in caught.value.remedy
    assert not blind.is_available
    assert len(server.requests) == 2


def test_a_server_that_does_not_tell_is_asked_all_the_same(server: FakeVision) -> None:
    """Older servers say nothing of what a model can do."""
    server.capabilities = None
    assert vision(server).transcribe("x", IMAGE) == "Warranty: 36 months"


@pytest.mark.parametrize("mode", ["missing", "hang"])
def test_what_will_not_come_is_not_waited_for_again(server: FakeVision, mode: str) -> None:
    """A missing model, or silence, ends the asking."""
    client = vision(server, timeout_s=0.2)
    server.mode = mode
    with pytest.raises(ModelUnavailableError):
        client.transcribe("x", IMAGE)
    assert not client.is_available


def test_no_server_is_no_use() -> None:
    """Nothing listens there."""
    client = OllamaVision(MODEL, "127.0.0.1:9", connect_timeout_s=1.0)
    with pytest.raises(ModelUnavailableError, match="no Ollama server answers"):
        client.transcribe("x", IMAGE)
    assert not client.is_available


@pytest.mark.parametrize("mode", ["refuse", "endless"])
def test_trouble_with_one_image_is_that(server: FakeVision, mode: str) -> None:
    """An error, or a model that goes on and on, concerns one image; the next may be read."""
    client = vision(server)
    server.mode = mode
    with pytest.raises(ModelError):
        client.transcribe("x", IMAGE)
    assert client.is_available
    server.mode = "answer"
    assert client.transcribe("x", IMAGE) == "Warranty: 36 months"


def test_an_image_that_does_not_fit_gets_a_larger_window(server: FakeVision) -> None:
    """What was cut to the window is asked for again with more room."""
    server.counts = [20_000]
    assert vision(server).transcribe("x", IMAGE) == "Warranty: 36 months"
    small, large = (body["options"]["num_ctx"] for body in server.requests)
    assert large >= 2 * small
    server.counts = [10**9] * 3
    with pytest.raises(ModelError, match="cannot read images of pages"):
        vision(server).transcribe("x", IMAGE)


def test_an_answer_takes_only_so_long(server: FakeVision) -> None:
    """The time of an answer counts from its first word."""
    with pytest.raises(ModelError, match="came to no end"):
        vision(server, max_answer_s=-1.0).transcribe("x", IMAGE)


def test_it_can_be_handed_to_another_process(server: FakeVision) -> None:
    """Worker processes that are not forked get it by pickle."""
    copy = pickle.loads(pickle.dumps(vision(server)))  # noqa: S301 - our own bytes
    assert copy.transcribe("x", IMAGE) == "Warranty: 36 months"
