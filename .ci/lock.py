"""Renew `[tool.uv] constraint-dependencies`: the exact version of every package, however deep.

uv.lock itself is not kept, since it spells out where packages were downloaded from.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
BLOCK = re.compile(r"^constraint-dependencies = \[\n.*?^\]\n", re.MULTILINE | re.DOTALL)
EMPTY = "constraint-dependencies = [\n]\n"


def main() -> int:
    """Resolve without the old pins, then write the new ones; 1 when uv cannot resolve."""
    uv = sys.argv[1] if len(sys.argv) > 1 else "uv"
    before = PYPROJECT.read_text(encoding="utf-8")
    PYPROJECT.write_text(BLOCK.sub(EMPTY, before), encoding="utf-8")
    try:
        options = ["--all-extras", "--all-groups", "--no-emit-project", "--no-hashes"]
        options += ["--no-annotate", "--no-header", "--format", "requirements-txt"]
        subprocess.run([uv, "lock", "--upgrade"], check=True, cwd=PYPROJECT.parent)
        export = [uv, "export", "--frozen", *options]
        done = subprocess.run(
            export, check=True, cwd=PYPROJECT.parent, capture_output=True, text=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        PYPROJECT.write_text(before, encoding="utf-8")
        print(f"error: nothing was changed: {error}", file=sys.stderr)
        return 1
    pins = [" ".join(line.split()) for line in done.stdout.splitlines() if "==" in line]
    rows = "".join(f'    "{pin}",\n' for pin in sorted(pins, key=str.lower))
    PYPROJECT.write_text(
        BLOCK.sub(lambda _: f"constraint-dependencies = [\n{rows}]\n", before), encoding="utf-8"
    )
    print(f"{len(pins)} versions pinned")
    return 0


if __name__ == "__main__":
    sys.exit(main())
