"""Measures of answers against reference answers and true sources, one small module each."""
