"""Columns of records over HTTP: filtered by, shown, and refused where nobody has them."""

from __future__ import annotations

from pathlib import Path

from live import Asks, pipeline_of

LINE = "{n},{state},ticket {n} says that the pump stopped at night and would not start"


def test_columns_filter_and_are_shown(ask: Asks, tmp_path: Path) -> None:
    """`/search` has them as they are, `/query` as text; a wrong name is the asker's fault."""
    rows = [LINE.format(n=n, state="open" if n % 2 else "closed") for n in range(150)]
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "t.csv").write_text("\n".join(["id,state,body", *rows]) + "\n")
    pipeline_of(tmp_path).index("corpus")
    client = ask(tmp_path)
    asked = {"query": "pump at night", "filter": "state=closed id<10"}
    found = client.post("/search", json=asked).json()["retrieved_chunks"]
    assert {row["metadata"]["id"] for row in found} == {"0", "2", "4", "6", "8"}
    assert {row["metadata"]["state"] for row in found} == {"closed"}
    asked = {"question": "Which pump stopped?", "filter": "id=7", "generate": False}
    cited = client.post("/query", json=asked).json()["citations"]
    assert cited[0]["metadata"] == {
        "id": "7", "state": "open", "file_type": "csv", "place": "row 8",
    }  # fmt: skip
    refused = client.post("/search", json={"query": "pump", "filter": "status=open"})
    assert refused.status_code == 400
    assert "known columns: state, id" in refused.json()["remedy"]
