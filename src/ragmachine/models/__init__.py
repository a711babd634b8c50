"""The values that travel between the rooms: chunks, hits, citations and answers.

Plain frozen dataclasses, since importing pydantic costs a one-shot search a fifth of its time;
files that come from outside are validated with pydantic in `ragmachine.exchange`.
"""

from ragmachine.models.answers import Answer, Citation, Grounds, Support
from ragmachine.models.chunks import Chunk, Metadata, location_of
from ragmachine.models.hits import CHANGED, GONE, MOVED, UNMOVED, Hit, SearchResult, Staleness
from ragmachine.models.reports import IndexReport

__all__ = [
    "CHANGED",
    "GONE",
    "MOVED",
    "UNMOVED",
    "Answer",
    "Chunk",
    "Citation",
    "Grounds",
    "Hit",
    "IndexReport",
    "Metadata",
    "SearchResult",
    "Staleness",
    "Support",
    "location_of",
]
