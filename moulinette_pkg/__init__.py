"""Anchor of the test suite's relative imports; the program is the folder `moulinette` beside it."""
