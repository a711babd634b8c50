"""How good retrieval is, measured against true sources. Not for the path of a question."""

from __future__ import annotations

from .report import EvaluationReport, Mean, QuestionRow, evaluate

__all__ = ["EvaluationReport", "Mean", "QuestionRow", "evaluate"]
