"""The page for editors and agents: its settings work, and its table says what the tools give."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from ragmachine.commands.table import find_command

MCP_PAGE = (Path(__file__).resolve().parent.parent / "docs" / "MCP.md").read_text(encoding="utf-8")
EXAMPLES = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", MCP_PAGE, re.M | re.S)]
ENTRIES = [row.get("mcpServers", row.get("servers"))["ragmachine"] for row in EXAMPLES]
STARTED = [entry for entry in ENTRIES if "command" in entry]


def test_the_page_has_settings_for_three_programs_and_for_http() -> None:
    """Three start it, the others ask a server where it serves MCP."""
    from ragmachine.server.mcp_mount import PATH

    assert len(STARTED) == 3
    asked = [entry for entry in ENTRIES if "url" in entry]
    assert len(asked) == len(ENTRIES) - 3 > 0
    assert all(entry["url"] == f"http://127.0.0.1:8000{PATH}" for entry in asked)
    assert all(entry["headers"]["Authorization"].startswith("Bearer ${") for entry in asked)
    for entry in STARTED:
        known = {option.name for option in find_command(entry["args"][0]).options}
        assert {word[2:] for word in entry["args"] if word.startswith("--")} <= known


def test_an_example_starts_a_server_with_the_tools_of_the_page(tmp_path: Path) -> None:
    """As an agent would start it, from another folder; fields and defaults are as told."""
    pytest.importorskip("mcp", reason="the extra mcp")
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    from ragmachine import RagPipeline

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "jam.md").write_text("# Jam\n\nMarmalade needs bitter oranges.\n")
    index = tmp_path / "index"
    RagPipeline(
        project_root=tmp_path, index_dir=str(index), llm="extractive", workers=1
    ).index(tmp_path / "docs")  # fmt: skip
    (entry,) = (row for row in STARTED if "extractive" in row["args"])
    words = [str(index) if word == "/path/to/index" else word for word in entry["args"]]
    code = "import sys; from ragmachine.cli import main; sys.exit(main())"
    target = StdioServerParameters(
        command=sys.executable, args=["-c", code, *words], cwd=tmp_path,
        env={"PATH": os.environ.get("PATH", ""), "HOME": str(tmp_path)},
    )  # fmt: skip

    async def talk() -> tuple[dict[str, Any], dict[str, Any]]:
        async with Client(stdio_client(target)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            found = await client.call_tool("search", {"query": "bitter oranges"})
            return tools, found.structured_content

    tools, found = asyncio.run(asyncio.wait_for(talk(), 120))
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", MCP_PAGE, re.MULTILINE)
    assert {name for name, _, _ in rows} == set(tools)
    for name, takes, _ in rows:
        properties = tools[name].input_schema["properties"]
        told = dict(re.findall(r"`(\w+)`(?: \((\d+)\))?", takes))
        assert set(told) == set(properties)
        for field, default in told.items():
            if default:
                assert properties[field]["default"] == int(default)
    gives = next(text for name, _, text in rows if name == "search")
    assert set(re.findall(r"`(\w+)`", gives)) == set(found["passages"][0])
    assert "bitter oranges" in found["passages"][0]["text"]
