"""`python -m moulinette`."""

import sys

from .cli import main

sys.exit(main())
