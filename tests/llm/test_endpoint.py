"""Reading OLLAMA_HOST and OPENAI_BASE_URL."""

from __future__ import annotations

import pytest

from ragmachine.llm.chat import ModelUnavailableError
from ragmachine.llm.endpoint import parse_base_url, parse_host


@pytest.mark.parametrize(
    ("written", "url"),
    [
        pytest.param(None, "http://127.0.0.1:11434", id="unset"),
        pytest.param("", "http://127.0.0.1:11434", id="empty"),
        pytest.param("box", "http://box:11434", id="name only"),
        pytest.param("box:99", "http://box:99", id="name and port"),
        pytest.param(":99", "http://127.0.0.1:99", id="port only"),
        pytest.param("0.0.0.0", "http://127.0.0.1:11434", id="any address"),  # noqa: S104 - parsed only
        pytest.param("http://0.0.0.0:99/", "http://127.0.0.1:99", id="any address with scheme"),
        pytest.param("http://box", "http://box:80", id="http has its own port"),
        pytest.param("https://box", "https://box:443", id="https has its own port"),
        pytest.param("HTTPS://box:1/api/x/", "https://box:1/api/x", id="path behind a proxy"),
        pytest.param("::1", "http://[::1]:11434", id="bare IPv6"),
        pytest.param("::", "http://[::1]:11434", id="any IPv6 address"),
        pytest.param("[::1]:99", "http://[::1]:99", id="IPv6 with port"),
        pytest.param("http://[fe80::2]:99", "http://[fe80::2]:99", id="IPv6 with scheme"),
        pytest.param(" box:99\n", "http://box:99", id="blanks around"),
    ],
)
def test_parse_host(written, url):
    """Scheme, port and brackets are optional; bind addresses become loopback."""
    assert parse_host(written).url == url


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("box:port", id="port is a word"),
        pytest.param("box:99999", id="port out of range"),
        pytest.param("ftp://box", id="unknown scheme"),
        pytest.param("my box", id="blank within"),
        pytest.param("http://[::1", id="open bracket"),
    ],
)
def test_not_a_host(written):
    """What names no host is a model error with an example, not a traceback."""
    with pytest.raises(ModelUnavailableError) as caught:
        parse_host(written)
    assert "127.0.0.1:11434" in caught.value.remedy


@pytest.mark.parametrize(
    ("written", "expected"),
    [("localhost", True), ("127.0.0.2", True), ("::1", True), ("10.0.0.1", False), ("box", False)],
)
def test_loopback(written, expected):
    """Only this machine counts as loopback."""
    assert parse_host(written).is_loopback is expected


@pytest.mark.parametrize(
    ("written", "url"),
    [
        pytest.param("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1", id="usual"),
        pytest.param("https://host/api/v1", "https://host:443/api/v1", id="port of its scheme"),
        pytest.param("0.0.0.0:8080", "http://127.0.0.1:8080", id="bind address"),
        pytest.param("box", "http://box:80", id="name only"),
    ],
)
def test_parse_base_url(written, url):
    """As people write OPENAI_BASE_URL."""
    assert parse_base_url(written).url == url


@pytest.mark.parametrize("written", [None, "", "http://box:x", "ftp://box", "http://me:secret@box"])
def test_not_a_base_url(written):
    """Refused without being shown, since a password may stand in it."""
    with pytest.raises(ModelUnavailableError) as caught:
        parse_base_url(written)
    assert "OPENAI_BASE_URL" in str(caught.value)
    assert "secret" not in str(caught.value)
