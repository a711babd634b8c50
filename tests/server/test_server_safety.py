"""Who may ask for what: hosts, origins, tokens, lengths, rates, paths, headers, logs."""

# ruff: noqa: S104, S105, S106  (addresses and tokens of tests)

from __future__ import annotations

import json
import logging
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from live import PATIENCE_S, Asks, Live, pipeline_of

from ragmachine.commands.serving import server_options
from ragmachine.errors import UsageError
from ragmachine.server import guard
from ragmachine.server.guard import RateLimit, host_name
from ragmachine.server.logs import JsonFormatter
from ragmachine.server.options import ServerOptions, is_loopback
from ragmachine.server.tracing import CONTENT_SECURITY_POLICY
from ragmachine.settings import load_settings

TOKEN = "s3cret-tøken"
SEARCH = {"query": "bitter oranges"}


# --- where it listens


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True),
        ("localhost", True), ("0.0.0.0", False), ("::", False), ("192.168.1.5", False),
        ("localhost.evil.example", False), ("", False), ("1", False),
    ],
)  # fmt: skip
def test_only_loopback_is_local(host: str, is_local: bool) -> None:
    """Whatever is not known to be is open to others."""
    assert is_loopback(host) == is_local


def test_an_open_address_needs_a_token_or_a_flag(tmp_path: Path) -> None:
    """Nobody opens an index to a network by one option alone."""

    def options(environment: dict[str, str], **flags: Any) -> ServerOptions:
        settings = load_settings({"project_root": str(tmp_path), **flags}, {})
        return server_options(settings, environment)

    assert options({}).token == ""
    for environment in ({}, {"RAG_API_TOKEN": "  "}):
        with pytest.raises(UsageError, match="RAG_API_TOKEN"):
            options(environment, host="0.0.0.0")
    assert options({"RAG_API_TOKEN": "x"}, host="0.0.0.0").token == "x"
    assert options({}, host="0.0.0.0", no_token=True).token == ""


def test_the_token_comes_from_the_environment_alone(tmp_path: Path) -> None:
    """It is no setting: no file holds it, no option shows it, no message prints it."""
    environment = {"RAG_API_TOKEN": "abc", "HOME": str(tmp_path)}
    settings = load_settings({"project_root": str(tmp_path)}, environment)
    assert "abc" not in repr(settings)
    assert "abc" not in repr(server_options(settings, environment))
    (tmp_path / "ragmachine.toml").write_text('api_token = "abc"\n')
    with pytest.raises(UsageError):
        load_settings({"project_root": str(tmp_path)}, {"HOME": str(tmp_path)})


# --- hosts


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "[::1]:8000", "192.168.1.5", "rag.lan:1"],
)
def test_addresses_and_own_names_are_answered(ask: Asks, host: str) -> None:
    """A page cannot make a browser believe that an address is its own."""
    client = ask(allowed_hosts=("rag.lan",))
    assert client.get("/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:8000@evil",
        "", "[::1", "localhost:", "localhost:8a", "a b", "127.1",
    ],
)  # fmt: skip
def test_other_names_are_refused(ask: Asks, host: str) -> None:
    """A name that was pointed here (DNS rebinding) gets nothing, on no path."""
    client = ask()
    for path in ("/health", "/", "/static/docs.css", "/mcp"):
        answer = client.get(path, headers={"host": host})
        assert (answer.status_code, answer.json()["code"]) == (421, "unknown_host")


def test_two_hosts_are_none(live: Any) -> None:
    """What stands before the server may have read the other one."""
    import socket

    server: Live = live()
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as wire:
        wire.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
        assert wire.recv(100).split()[1] in (b"421", b"400")


@pytest.mark.parametrize(
    ("host", "name"),
    [("A.b.:80", "a.b"), ("[::1]", "::1"), ("[::1]x", None), ("a:b:1", None), ("", None)],
)
def test_host_names_are_read(host: str, name: str | None) -> None:
    """Without port, case and the final dot."""
    assert host_name(host) == name


# --- origins


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
        {"origin": "file://"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
        {
            "sec-fetch-site": "cross-site",
            "sec-fetch-mode": "navigate",
            "sec-fetch-dest": "document",
        },
    ],
    ids=str,
)
def test_pages_of_other_sites_cannot_ask(ask: Asks, headers: dict[str, str]) -> None:
    """Neither read nor write, and a form that is sent is no followed link."""
    answer = ask().post("/search", json=SEARCH, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site")
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://localhost"},
        {"origin": "https://LOCALHOST:443"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
        {},
    ],
    ids=str,
)
def test_the_own_page_and_programs_can_ask(ask: Asks, headers: dict[str, str]) -> None:
    """A proxy that speaks https for it makes no difference."""
    assert ask().post("/search", json=SEARCH, headers=headers).status_code == 200


def test_a_link_from_elsewhere_can_be_followed(ask: Asks) -> None:
    """A person who clicks one sees the page."""
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate",
            "sec-fetch-dest": "document"}  # fmt: skip
    assert ask().get("/", headers=link).status_code == 200


def test_cors_is_off_unless_an_origin_is_named(ask: Asks) -> None:
    """That origin alone gets the headers, its preflights as well."""
    client = ask(cors_origins=("https://wiki.example",), token=TOKEN)
    asked = {"origin": "https://wiki.example", "access-control-request-method": "POST"}
    preflight = client.options("/search", headers=asked)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "https://wiki.example"
    refused = client.post("/search", json=SEARCH, headers={"origin": "https://wiki.example"})
    assert refused.status_code == 401  # the token is needed all the same
    asked_for = client.post(
        "/search", json=SEARCH, headers={**bearer(TOKEN), "origin": "https://wiki.example"}
    )
    assert asked_for.status_code == 200
    for answer in (preflight, refused, asked_for):
        assert answer.headers["access-control-allow-origin"] == "https://wiki.example"
        assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
        assert "origin" in answer.headers["vary"].lower()  # no cache gives it to another origin
    other = client.options("/search", headers={**asked, "origin": "https://evil.example"})
    assert other.status_code == 403
    assert "access-control-allow-origin" not in other.headers


# --- tokens


def bearer(token: str) -> dict[str, bytes]:
    """The header, as bytes, since a token may hold any character."""
    return {"authorization": f"Bearer {token}".encode()}


@pytest.mark.parametrize(
    "headers",
    [
        {}, bearer(""), bearer("s3cret"), bearer(TOKEN + "x"), bearer(TOKEN.upper()),
        {"authorization": TOKEN.encode()}, {"authorization": f"Basic {TOKEN}".encode()},
    ],
    ids=str,
)  # fmt: skip
def test_nothing_is_told_without_the_token(ask: Asks, headers: dict[str, bytes]) -> None:
    """Missing, wrong, in part, or in another scheme: 401, and how to send it."""
    client = ask(token=TOKEN)
    for method, path in (
        ("POST", "/search"), ("GET", "/stats"), ("GET", "/metrics"), ("GET", "/openapi.json"),
        ("GET", "/source/corpus/notes/jam.md"), ("POST", "/v1/chat/completions"), ("POST", "/mcp"),
        ("GET", "/static/../stats"), ("GET", "/static/%2e%2e/stats"), ("GET", "/ready/"),
    ):  # fmt: skip
        answer = client.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "token_required")
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_with_the_token_all_is_told(ask: Asks) -> None:
    """As UTF-8; the scheme's case does not matter."""
    client = ask(token=TOKEN)
    assert client.post("/search", json=SEARCH, headers=bearer(TOKEN)).status_code == 200
    lower = {"authorization": b"bearer " + TOKEN.encode()}
    assert client.get("/stats", headers=lower).status_code == 200


def test_the_page_and_health_need_no_token(ask: Asks) -> None:
    """Somebody has to show where it is typed, and a supervisor has none."""
    client = ask(token=TOKEN)
    for path in ("/", "/static/docs.css", "/health", "/ready"):
        assert client.get(path).status_code == 200


def test_tokens_are_compared_in_constant_time(ask: Asks, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the function made for it."""
    seen = []

    def compare(given: bytes, expected: bytes) -> bool:
        seen.append((given, expected))
        return False

    monkeypatch.setattr(guard.hmac, "compare_digest", compare)
    assert ask(token="abc").get("/stats", headers=bearer("xyz")).status_code == 401
    assert seen == [(b"xyz", b"abc")]


# --- lengths, times and rates


def test_a_long_body_is_refused_whether_it_says_so_or_not(ask: Asks) -> None:
    """By its header, or once too much has come."""
    client = ask(max_body_bytes=2000)
    headers = {"content-type": "application/json"}
    told = client.post("/search", json={"query": "x" * 3000})
    untold = client.post(
        "/search", content=iter([b'{"query": "', b"x" * 3000, b'"}']), headers=headers
    )
    for answer in (told, untold):
        assert (answer.status_code, answer.json()["code"]) == (413, "too_long")
    odd = client.post("/search", content=b"{}", headers={**headers, "content-length": "-1"})
    assert odd.status_code == 413


def test_a_sender_that_stops_is_given_up(live: Any) -> None:
    """A body that never ends holds nothing for long."""
    import socket

    server: Live = live(request_timeout_s=0.3)
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=20) as wire:
        wire.sendall(
            b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 50\r\n\r\n{"
        )
        assert wire.recv(100).split()[1] == b"408"


def test_a_search_that_takes_too_long_is_given_up(
    ask: Asks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 with Retry-After, rather than a client that waits for ever."""
    client = ask(request_timeout_s=0.05)
    client.get("/ready")
    pipeline = client.app.state.service.pipeline
    given_up = threading.Event()
    monkeypatch.setattr(pipeline, "search", lambda *_, **__: given_up.wait(PATIENCE_S))
    answer = client.post("/search", json=SEARCH)
    given_up.set()
    assert (answer.status_code, answer.json()["code"]) == (503, "timeout")
    assert answer.headers["retry-after"]


def test_one_address_may_ask_only_so_often(ask: Asks) -> None:
    """429 with Retry-After once its requests are used up."""
    client = ask(requests_per_minute=3)
    statuses = [client.get("/health").status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    assert 1 <= int(client.get("/health").headers["retry-after"]) <= 20


def test_requests_come_back_evenly_and_to_each_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty a minute is one a second; another address has its own; few are remembered."""
    now = 100.0
    monkeypatch.setattr(guard.time, "monotonic", lambda: now)
    monkeypatch.setattr(guard, "_MOST_CLIENTS", 2)
    rate = RateLimit(60)
    assert [rate.wait_s("a") for _ in range(61)] == [0] * 60 + [1]
    assert rate.wait_s("b") == 0
    now += 1.0
    assert [rate.wait_s("a"), rate.wait_s("a")] == [0, 1]
    rate.wait_s("c")
    assert len(rate._buckets) == 2


# --- paths


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt", "corpus/../../secret.txt", "corpus/notes/../../../secret.txt",
        "%2e%2e/secret.txt", "..%2fsecret.txt", "%2e%2e%2fsecret.txt", "..%5csecret.txt",
        "%252e%252e%252fsecret.txt", "/etc/passwd", "//etc/passwd", "%2fetc%2fpasswd",
        "corpus/notes/jam.md%00.txt", "corpus/notes/jam.md%00", "C:%5cWindows%5cwin.ini",
        "C:/Windows/win.ini", "file:///etc/passwd", "~/.ssh/id_rsa", "corpus/%2e/notes/jam.md",
        "corpus//notes/jam.md", "corpus/notes/jam.md/", "CORPUS/notes/jam.md", "corpus", "",
        "corpus/notes/jam.md::$DATA", "%ff%fe", "index/CURRENT", "corpus/link.md",
    ],
)  # fmt: skip
def test_a_name_that_was_not_indexed_leads_nowhere(ask: Asks, indexed: Path, path: str) -> None:
    """Names are looked up and never resolved: 404, and nothing of the file."""
    (indexed / "secret.txt").write_text("SECRET")
    client = ask()
    for form in ("json", "text", "file"):
        answer = client.get(f"/source/{path}", params={"format": form})
        assert answer.status_code == 404
        assert "SECRET" not in answer.text
        assert "root:" not in answer.text


def test_a_file_that_became_a_link_is_not_followed(
    ask: Asks, indexed: Path, tmp_path: Path
) -> None:
    """Its text is the indexed one, and the file itself is gone."""
    root = tmp_path / "copy"
    shutil.copytree(indexed, root)
    pipeline_of(root).index("corpus", force=True)
    (root / "secret.txt").write_text("SECRET")
    jam = root / "corpus" / "notes" / "jam.md"
    jam.unlink()
    jam.symlink_to(root / "secret.txt")
    client = ask(root)
    assert "Marmalade" in client.get("/source/corpus/notes/jam.md").json()["text"]
    answer = client.get("/source/corpus/notes/jam.md", params={"format": "file"})
    assert (answer.status_code, answer.json()["code"]) == (404, "source_gone")


def test_static_files_are_those_of_their_folder(ask: Asks) -> None:
    """Neither the code beside them nor anything above."""
    client = ask()
    for path in ("../app.py", "%2e%2e/app.py", "..%2fapp.py", "/etc/passwd", "%00", "docs.css%00"):
        assert client.get(f"/static/{path}").status_code in (400, 404, 405)


# --- headers, markup and logs


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/health", "/nothing", "/static/docs.css", "/search"]
)
def test_every_answer_has_the_security_headers(ask: Asks, path: str) -> None:
    """Errors too; the policy allows no inline script and no other server."""
    headers = ask().get(path).headers
    assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "*" not in CONTENT_SECURITY_POLICY


def test_markup_of_documents_comes_as_data(ask: Asks) -> None:
    """A planted <script> in a name and in a text arrives in JSON, never as HTML."""
    answer = ask().post("/search", json={"query": "odd text alert", "k": 1})
    hit = answer.json()["retrieved_chunks"][0]
    assert "<script>" in hit["text"]
    assert "<script>" in hit["file_path"]
    assert answer.headers["content-type"] == "application/json"
    unknown = ask().get("/source/<script>alert(1)</script>")
    assert unknown.headers["content-type"] == "application/problem+json"


def test_logs_are_json_with_ids_and_without_secrets(
    ask: Asks, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the token nor the query, nor a line that a request made up."""
    caplog.set_level(logging.INFO, logger="ragmachine.server")
    client = ask(token="t0ken-value")
    client.post(
        "/search?key=url-secret",
        json={"query": "typed-secret"},
        headers={**bearer("t0ken-value"), "x-request-id": "id-1", "cookie": "c=cookie-secret"},
    )
    client.get("/x%0a%7b%22event%22:%22forged%22%7d", headers=bearer("wrong-secret"))
    records = [record for record in caplog.records if record.name == "ragmachine.server"]
    lines = [JsonFormatter().format(record) for record in records]
    for secret in ("t0ken-value", "secret"):
        assert not any(secret in line for line in lines)
    assert all("\n" not in line for line in lines)
    told = [json.loads(line) for line in lines]
    (search,) = [line for line in told if line.get("path") == "/search"]
    assert (search["method"], search["status"]) == ("POST", 200)
    assert not any(line["event"] == "forged" for line in told)


def test_an_error_nobody_expected_is_told_to_the_log_alone(
    ask: Asks, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The client gets a 500 with an id and no word of it."""
    client = ask(is_fresh=True)
    pipeline = client.app.state.service.pipeline

    def fail(*args: Any, **kwargs: Any) -> None:
        raise ZeroDivisionError("inner workings")

    monkeypatch.setattr(pipeline, "search", fail)
    answer = client.post("/search", json=SEARCH)
    assert (answer.status_code, answer.json()["code"]) == (500, "unexpected")
    assert "inner workings" not in answer.text
    assert answer.json()["request_id"]
    assert "inner workings" in caplog.text


def test_the_working_folder_does_not_matter(
    ask: Asks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names lead into the project wherever the server was started."""
    monkeypatch.chdir(tmp_path)
    os.makedirs("corpus/notes")
    Path("corpus/notes/jam.md").write_text("SECRET")
    answer = ask().get("/source/corpus/notes/jam.md", params={"format": "file"})
    assert "Marmalade" in answer.text
