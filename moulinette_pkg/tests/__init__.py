"""Tests of the evaluator: its functions by relative import, its commands as a process."""
