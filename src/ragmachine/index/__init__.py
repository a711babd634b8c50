"""From chunks to searchable files and back: tokens, postings, BM25 scores, storage."""
