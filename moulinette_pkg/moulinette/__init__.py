"""Independent evaluator of retrieval results and answers; its only input is JSON files."""

__version__ = "0.1.0"
