"""Names of files and folders that nobody wants to search, by convention; read by `discover`."""

from __future__ import annotations

# Suffixes whose files are never text; anything unknown is decided by its bytes.
BINARY_SUFFIXES = frozenset(
    """
    7z a avi bmp bz2 class dll doc dylib eot exe flac gguf gif gz h5 ico jar jpeg jpg mkv mov mp3
    mp4 npy npz o odt ogg onnx otf parquet pickle pkl png ppt pptx pt pth pyc pyd rar safetensors so
    sqlite svgz tar tgz tif tiff ttf wasm wav webm webp whl woff woff2 xls xlsx xz zip zst
    """.split()
)
LOCK_FILES = frozenset(
    """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
    poetry.lock uv.lock pdm.lock pixi.lock Pipfile.lock conda-lock.yml Cargo.lock Gemfile.lock
    Podfile.lock composer.lock go.sum flake.lock mix.lock pubspec.lock packages.lock.json
    """.split()
)
# Folders that tools fill; a dot folder is skipped anyway, bar the two that people write in.
NOISE_FOLDERS = frozenset(
    """
    __pycache__ node_modules bower_components venv site-packages dist-packages htmlcov
    __pypackages__
    """.split()
)
# Dot folders that no person writes in: left out also where hidden names are wanted.
NOISE_DOT_FOLDERS = frozenset(
    """
    .git .hg .svn .bzr .venv .tox .nox .eggs .cache .mypy_cache .ruff_cache .pytest_cache
    .hypothesis .ipynb_checkpoints .import_linter_cache .ragmachine .terraform .gradle .Trash
    """.split()
)
KEPT_DOT_FOLDERS = frozenset({".github", ".buildkite", ".gitlab", ".circleci"})
KEPT_DOT_FILES = frozenset({".env.example", ".pre-commit-config.yaml"})
GENERATED_SUFFIXES = (
    ".min.js", ".min.mjs", ".min.css", ".js.map", ".mjs.map", ".css.map", ".ts.map", ".egg-info",
    ".pb.go", "_pb2.py", "_pb2.pyi", "_pb2_grpc.py",
)  # fmt: skip
GENERATED_NAMES = frozenset({"PKG-INFO"})
