"""``doctor``: every fault with the command that mends it, and an exit code for scripts."""

from __future__ import annotations

import shutil
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from house import Program

from ragmachine.health import models, packages, places
from ragmachine.health.checks import ABSENT, BROKEN, OK
from ragmachine.index.hashes import write_hash
from ragmachine.index.store import IndexStore
from ragmachine.llm.endpoint import Endpoint


def checks(document: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The findings by name."""
    return {check["name"]: check for check in document["checks"]}


def test_a_sound_installation_is_healthy(program: Program) -> None:
    """Exit code 0, although there is no model: answers are quotations then."""
    outcome = program.run("doctor", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    document = outcome.document()
    assert document["healthy"] is True
    found = checks(document)
    assert {found[name]["state"] for name in ("python", "packages", "index", "disk")} == {OK}
    assert (found["ollama"]["state"], found["ollama"]["remedy"]) == (ABSENT, "ollama serve")


def test_settings_are_told_with_their_sources(program: Program, tmp_path: Path) -> None:
    """The strongest source of each: flag over variable over file."""
    program.house.save("doctored/ragmachine.toml", 'model = "file:1b"\nk = 5\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAG_PROJECT_ROOT", str(program.house.root / "doctored"))
        patch.setenv("RAG_K", "7")
        document = program.run("doctor", "--json", "--model", "flag:1b").document()
    sources = {one["name"]: (one["value"], one["source"]) for one in document["settings"]}
    assert sources["k"] == ("7", "RAG_K")
    assert sources["model"] == ("flag:1b", "--model")
    assert "max_chunk_size" not in sources


def test_a_vision_model_is_looked_for_where_one_is_set(program: Program) -> None:
    """It is no fault where it is not there: pages are read by OCR then."""
    assert "ocr model" not in checks(program.run("doctor", "--json").document())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAG_OCR_MODEL", "tiny-vision:1b")
        outcome = program.run("doctor", "--json")
    found = checks(outcome.document())["ocr model"]
    assert (outcome.code, found["state"], found["remedy"]) == (0, ABSENT, "ollama serve")
    assert "pages without text are read by OCR" in found["detail"]


def test_a_damaged_index_is_a_fault(program: Program, tmp_path: Path) -> None:
    """Exit code 1, the file by name, the command that builds it again; the report is whole."""
    shutil.copytree(program.house.index_dir, tmp_path / "index")
    (matrix,) = (tmp_path / "index").glob("gen-*/documents.bin")
    matrix.write_bytes(matrix.read_bytes()[:-1] + b"!")
    outcome = program.run("doctor", "--index_dir", str(tmp_path / "index"))
    assert outcome.code == 1
    assert outcome.err == "error: needed and broken: index\n"
    assert "documents.bin does not match" in outcome.out
    assert "mend it: ragmachine index" in outcome.out
    assert "1 fault" in outcome.out


def test_a_missing_index_is_no_fault(program: Program, tmp_path: Path) -> None:
    """Somebody who has just installed it is told what comes next."""
    outcome = program.run("doctor", "--json", "--index_dir", str(tmp_path / "none"))
    assert outcome.code == 0
    found = checks(outcome.document())["index"]
    assert found["state"] == ABSENT
    assert found["remedy"].startswith("ragmachine index")


def test_a_model_that_is_asked_for_by_name_is_needed(program: Program) -> None:
    """Without it there would be no answer at all."""
    outcome = program.run("doctor", "--quiet", "--llm", "ollama")
    assert outcome.code == 1
    assert "mend it: ollama serve" in outcome.out
    assert program.run("doctor", "--quiet", "--llm", "ollama,extractive").code == 0


@pytest.mark.parametrize(
    ("model", "reply", "state", "remedy"),
    [
        ("tiny:1b", {"models": [{"name": "tiny:1b"}, {"name": "plain:latest"}]}, OK, ""),
        ("plain", {"models": [{"name": "tiny:1b"}, {"name": "plain:latest"}]}, OK, ""),
        ("tiny:1b", {"models": [{"name": "other:1b"}]}, ABSENT, "ragmachine pull tiny:1b"),
        ("tiny:1b", ["not Ollama"], ABSENT, "name Ollama's address: --ollama_host HOST:PORT"),
    ],
    ids=["present", "without a tag", "not pulled", "another server"],
)
def test_ollama_is_asked_for_its_models(
    monkeypatch: pytest.MonkeyPatch, model: str, reply: Any, state: str, remedy: str
) -> None:
    """Which models it has is all that is asked, with a short patience, and of no proxy."""
    import httpx

    asked: list[tuple[str, float]] = []

    def get(url: str, *, timeout: float, trust_env: bool) -> httpx.Response:
        assert not trust_env
        asked.append((url, timeout))
        return httpx.Response(200, json=reply, request=httpx.Request("GET", url))

    monkeypatch.setattr(models, "probe", lambda endpoint, timeout_s: isinstance(endpoint, Endpoint))
    monkeypatch.setattr(httpx, "get", get)
    check = models.ollama_check("127.0.0.1:9", model, is_required=False)
    assert (check.state, check.remedy) == (state, remedy)
    assert asked[0][0].endswith(":9/api/tags")
    assert asked[0][1] <= 2


DECLARED = [
    "numpy>=2",
    "httpx",
    'faiss-cpu>=1.9; extra == "ann"',
    "watchfiles>=1 ; extra == 'watch'",
    'colorama>=1; sys_platform == "beos"',
]


def with_versions(**known: str) -> Any:
    """Stands in for `importlib.metadata.version`."""

    def version(name: str) -> str:
        if name not in known:
            raise PackageNotFoundError(name)
        return known[name]

    return version


def test_packages_and_extras_are_told_apart() -> None:
    """What is needed is one finding; an extra that is absent says what it is for and how to add."""
    installed = with_versions(numpy="2.4.6", httpx="0.28", watchfiles="1.3.0")
    needed, ann, watch = packages.package_checks(False, DECLARED, installed)
    assert (needed.state, needed.detail) == (OK, "all 2 packages that are needed")
    assert (ann.name, ann.state) == ("extra ann", ABSENT)
    assert ann.detail == "approximate search in large sets of vectors (faiss-cpu is not installed)"
    assert ann.remedy == "pip install 'ragmachine[ann]'"
    assert (watch.name, watch.state, watch.remedy) == ("extra watch", OK, "")
    assert packages.package_checks(True, DECLARED, installed)[1].remedy == (
        "uv sync --inexact --extra ann"
    )


@pytest.mark.parametrize(
    ("found", "fault"),
    [("1.26", "numpy 1.26 is older than 2"), ("2.0.0", ""), ("2", ""), ("10.1", "")],
)
def test_an_old_package_is_a_fault(found: str, fault: str) -> None:
    """Versions are compared as numbers: 10 is more than 2, and 2 is 2.0.0."""
    check = packages.package_checks(True, ["numpy>=2.0"], with_versions(numpy=found))[0]
    assert (check.state, check.remedy) == ((BROKEN, "uv sync") if fault else (OK, ""))
    assert fault.replace("than 2", "than 2.0") in check.detail


def test_an_old_python_is_a_fault() -> None:
    """With the command that installs one that will do."""
    assert packages.python_check((3, 11, 0)).state == OK
    check = packages.python_check((3, 9, 18))
    assert (check.state, check.remedy) == (BROKEN, "uv python install 3.11")


def test_a_full_disk_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build writes a second generation before the first one goes."""
    store = IndexStore(str(tmp_path / "not" / "yet"))
    assert places.room_check(store).state == OK
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(9, 9, 10**6))
    check = places.room_check(store)
    assert (check.state, str(tmp_path) in check.detail) == (BROKEN, True)


@pytest.mark.parametrize(("free", "state"), [(1.9e9, BROKEN), (2.1e9, OK)])
def test_room_is_wanted_for_a_second_generation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, state: str
) -> None:
    """Twice the bytes of the index that is there."""
    monkeypatch.setattr(places, "sizes_on_disk", lambda store: {"index": 10**9, "caches": 10**9})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 9, int(free)))
    assert places.room_check(IndexStore(str(tmp_path))).state == state


def test_damaged_vectors_are_a_fault(tmp_path: Path) -> None:
    """Their hash tells; none at all are no finding."""
    store = IndexStore(str(tmp_path))
    assert places.vectors_check(store) is None
    folder = tmp_path / "dense-vectors"
    folder.mkdir()
    (folder / "current.json").write_text('{"name": "v.bin", "encoder": "toy"}')
    (folder / "v.bin").write_bytes(b"vectors")
    write_hash(str(folder / "v.bin"))
    sound = places.vectors_check(store)
    (folder / "v.bin").write_bytes(b"vectorz")
    damaged = places.vectors_check(store)
    assert sound is not None
    assert damaged is not None
    assert (sound.state, damaged.state) == (OK, BROKEN)
    assert "v.bin does not match" in damaged.detail


def test_a_folder_that_refuses_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tried by writing, which an administrator's rights do not hide."""
    store = IndexStore(str(tmp_path))
    assert places.permission_check(store).state == OK
    assert list(tmp_path.iterdir()) == []

    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(places.tempfile, "TemporaryFile", refuse)
    check = places.permission_check(store)
    assert (check.state, "Permission denied" in check.detail) == (BROKEN, True)


def test_every_extra_is_explained() -> None:
    """Whoever reads that one is absent learns what it would be good for."""
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    extras = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert packages.PURPOSES.keys() == extras.keys()
