"""How an index and an installation are: fresh, whole, complete, and what to do where not."""
