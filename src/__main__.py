"""`python -m src` from a checkout: the same program as the `ragmachine` console script."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from ragmachine.cli import main

if __name__ == "__main__":
    sys.exit(main())
