"""The indexed project that the command line's tests share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from house import CACHE_PAGE, CONFIGS, ENTRY, SCHEDULER, House, Program, steer

from ragmachine import cli


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """The project, indexed and searched once."""
    house = House(tmp_path_factory.mktemp("house"))
    root = house.root
    house.save("corpus/docs/cache.md", CACHE_PAGE)
    house.save("corpus/docs/ledger.md", "\n\n".join(ENTRY.format(number) for number in range(40)))
    house.save("corpus/lib/scheduler.py", SCHEDULER)
    (root / "empty").mkdir()
    page, module = "corpus/docs/cache.md", "corpus/lib/scheduler.py"
    docs = house.answered(
        "docs",
        ("How is the KV cache sized?", page, "The KV cache is sized by gpu_memory_utilization"),
        ("", page, "The scheduler evicts the oldest block"),
    )
    code = house.answered("code", ("What does evict do?", module, "def evict(block)"))
    for name, text in CONFIGS.items():
        house.save(f"configured/{name}/ragmachine.toml", text)
    house.save("sets/docs.json", docs)
    house.save("sets/code.json", code)
    house.save("sets/bom.json", b"\xef\xbb\xbf" + json.dumps(docs).encode())
    house.save("sets/blank.json", b"")
    house.save("sets/broken.json", '{"rag_questions": [')
    house.save("sets/latin.json", '{"rag_questions": "Grüße"}'.encode("latin-1"))
    house.save("sets/list.json", [1, 2])
    house.save("sets/null.json", b"null")
    house.save("sets/other.json", {"questions": []})
    house.save("sets/number.json", {"rag_questions": [{"question_id": "a", "question": 5}]})
    house.save("sets/empty.json", {"rag_questions": []})
    source = {
        "file_path": "corpus/docs/cache.md",
        "first_character_index": 9,
        "last_character_index": 3,
    }
    backwards = {"question_id": "a", "question": "Why?", "sources": [source]}
    house.save("sets/backwards.json", {"rag_questions": [backwards]})
    unnamed = {"question": "Why?", "difficulty": "hard", "is_valid": True}
    house.save("sets/unnamed.json", {"rag_questions": [unnamed, unnamed]})
    with pytest.MonkeyPatch.context() as patch:
        steer(patch, house)
        assert cli.main(["index", "--target_dir", f"{root}/corpus", "--quiet"]) == 0
        for name in ("docs", "code"):
            words = [f"{root}/sets/{name}.json", "--save_directory", f"{root}/results", "--quiet"]
            assert cli.main(["search_dataset", *words]) == 0
    return house


@pytest.fixture
def program(
    house: House,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Program:
    """The program on the house, run from an empty folder."""
    steer(monkeypatch, house)
    monkeypatch.chdir(tmp_path)
    return Program(house, capsys)
