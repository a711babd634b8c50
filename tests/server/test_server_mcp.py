"""The tools and resources for agents, asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from live import Live

pytest.importorskip("mcp", reason="the extra mcp")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

CHECKOUT = Path(__file__).resolve().parents[2]


def asked(target: Any, talk: Callable[[Client], Awaitable[Any]]) -> Any:
    """What comes of a talk with a server."""

    async def run() -> Any:
        async with Client(target) as client:
            return await talk(client)

    return asyncio.run(asyncio.wait_for(run(), 200))


async def whole_talk(client: Client) -> dict[str, Any]:
    """Everything that an agent does."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    search = await client.call_tool("search", {"query": "bitter oranges", "k": 1})
    (passage,) = search.structured_content["passages"]
    place = {"file_path": passage["file_path"], "first_line": 3, "last_line": 3}
    read = await client.call_tool("read_lines", place)
    answer = await client.call_tool("answer", {"question": "What does marmalade need?"})
    files = {file.name: file.uri for file in (await client.list_resources()).resources}
    file = await client.read_resource(files["corpus/notes/jam.md"])
    missing = await client.call_tool("read_lines", {"file_path": "../../etc/passwd"})
    wrong = await client.call_tool("search", {"query": "x", "k": 0})
    odd = await client.call_tool("search", {"query": "x", "filter": "colour:red"})
    with pytest.raises(MCPError):
        await client.read_resource("source:///../../etc/passwd")
    return {
        "tools": tools,
        "passage": passage,
        "read": read.structured_content,
        "answer": answer.structured_content,
        "file": file.contents[0].text,
        "errors": [missing, wrong, odd],
    }


def check(found: dict[str, Any]) -> None:
    """The talk went as it should."""
    assert found["tools"].keys() == {"search", "read_lines", "answer"}
    assert all(tool.description and tool.annotations for tool in found["tools"].values())
    assert found["passage"]["location"] == "corpus/notes/jam.md:1-4"
    assert found["read"]["text"] == "Marmalade needs bitter oranges.\n"
    assert "bitter oranges" in found["answer"]["answer"]
    assert found["answer"]["citations"][0]["source"] == "corpus/notes/jam.md"
    assert found["file"].startswith("# Jam\n")
    assert all(error.is_error for error in found["errors"])
    told = [error.content[0].text for error in found["errors"]]
    assert "no indexed file" in told[0]
    assert "colour" in told[2]


def test_an_agent_talks_over_http(live: Any) -> None:
    """At /mcp, beside the API."""
    server: Live = live()
    check(asked(f"{server.url}/mcp", whole_talk))


def test_an_agent_talks_over_stdin_and_stdout(indexed: Path) -> None:
    """As `python -m src mcp` is started by an editor; stdout holds the protocol alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "src", "mcp", "--index_dir", str(indexed / "index"), "--llm", "extractive"],
        env={**kept, "RAG_PROJECT_ROOT": str(indexed), "XDG_CONFIG_HOME": str(indexed)},
        cwd=str(CHECKOUT),
    )
    with Path(os.devnull).open("w") as nowhere:
        check(asked(stdio_client(parameters, errlog=nowhere), whole_talk))


def test_an_agent_needs_the_token_too(live: Any) -> None:
    """/mcp is behind the same guard."""
    server: Live = live(token="abc")  # noqa: S106
    with server.client() as client:
        answer = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert answer.status_code == 401
        answer = client.post("/mcp", json={}, headers={"origin": "http://evil.example"})
        assert answer.status_code == 403


def test_without_the_sdk_the_rest_works(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """501 with what to install."""
    monkeypatch.setitem(sys.modules, "mcp.server.transport_security", None)
    client = ask(is_fresh=True)
    answer = client.post("/mcp", json={})
    assert (answer.status_code, answer.json()["code"]) == (501, "no_mcp")
    assert "ragmachine[mcp]" in answer.json()["remedy"]
    assert client.post("/search", json={"query": "x"}).status_code == 200
