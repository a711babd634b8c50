"""A conversation: what was asked before, and what a follow-up question means by it."""
