"""The tools and resources for agents, asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from live import Live, pipeline_of

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
    assert found["tools"].keys() == {"search", "read_lines", "answer", "collections"}
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


def test_files_are_listed_page_by_page(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, the last page without a cursor; every one can be read by its address."""
    from ragmachine.server import mcp_server

    monkeypatch.setattr(mcp_server, "_PAGE", 7)
    server: Live = live()

    async def talk(client: Client) -> tuple[list[Any], str]:
        pages, cursor = [], None
        while cursor or not pages:
            page = await client.list_resources(cursor=cursor)
            pages.append(page.resources)
            cursor = page.next_cursor
        odd = next(row for page in pages for row in page if "script" in row.name)
        return pages, (await client.read_resource(odd.uri)).contents[0].text

    pages, text = asked(f"{server.url}/mcp", talk)
    listed = [row.name for page in pages for row in page]
    assert [len(page) for page in pages[:-1]] == [7] * (len(pages) - 1)
    assert listed == sorted(listed)
    index = server.service.pipeline.opened_index()
    assert set(listed) == {index.file_path(number) for number in range(len(index.files))}
    assert len(listed) == len(index.files)
    assert text.startswith("# Odd")


def test_a_page_goes_on_where_the_last_one_ended(
    live: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although the index changed between the two; a cursor of nobody's making is refused."""
    from ragmachine.server import mcp_server

    monkeypatch.setattr(mcp_server, "_PAGE", 2)
    (tmp_path / "corpus").mkdir()
    files = ["b", "c", "d", "e%20 é?#"]
    for name in files:
        (tmp_path / "corpus" / f"{name}.md").write_text("The tide is high.")
    pipeline_of(tmp_path).index("corpus")
    server: Live = live(tmp_path)

    async def talk(client: Client) -> list[str]:
        first = await client.list_resources()
        (tmp_path / "corpus" / "a.md").write_text("The ebb is low.")
        (tmp_path / "corpus" / "c.md").unlink()
        pipeline_of(tmp_path).index("corpus")
        server.service.pipeline.refresh()
        second = await client.list_resources(cursor=first.next_cursor)
        assert second.next_cursor is None
        odd = await client.read_resource(second.resources[-1].uri)
        assert odd.contents[0].text == "The tide is high."
        for cursor in ("x", "é", "Y*Q==", "_w=="):
            with pytest.raises(MCPError, match="cursor"):
                await client.list_resources(cursor=cursor)
        return [row.name for row in (*first.resources, *second.resources)]

    listed = asked(f"{server.url}/mcp", talk)
    assert listed == [f"corpus/{name}.md" for name in files]


def test_an_agent_asks_the_collection_that_it_names(live: Any, tmp_path: Path) -> None:
    """With each tool, and in the address of a file; an unknown one is told with the known ones."""
    for name, text in (("", "The tide is high."), ("Docs", "The tide is low.")):
        folder = tmp_path / (name or "corpus")
        folder.mkdir()
        (folder / "a.md").write_text(text)
        pipeline_of(tmp_path, collection=name).index(folder)
    server: Live = live(tmp_path)

    async def talk(client: Client) -> dict[str, Any]:
        named = {"collection": "Docs"}
        told = {
            "search": await client.call_tool("search", {"query": "tide", **named}),
            "read": await client.call_tool("read_lines", {"file_path": "Docs/a.md", **named}),
            "answer": await client.call_tool("answer", {"question": "What is the tide?", **named}),
            "usual": await client.call_tool("search", {"query": "tide"}),
            "all": await client.call_tool("collections", {}),
            "none": await client.call_tool("search", {"query": "tide", "collection": "dox"}),
        }
        for name, uri in (("file", "source://Docs/Docs/a.md"), ("own", "source:///corpus/a.md")):
            told[name] = (await client.read_resource(uri)).contents[0]
        with pytest.raises(MCPError, match="'Docs'"):
            await client.read_resource("source://dox/Docs/a.md")
        return told

    told = asked(f"{server.url}/mcp", talk)
    for name in ("search", "read", "answer", "file"):
        assert "is low" in str(told[name]), name
    for name in ("usual", "own"):
        assert "is high" in str(told[name]), name
    rows = told["all"].structured_content["collections"]
    assert [row["collection"] for row in rows] == ["", "Docs"]
    assert told["none"].is_error
    assert "'Docs'" in told["none"].content[0].text


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
