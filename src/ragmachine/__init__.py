"""ragmachine: ask a folder of code and documents a question.

from ragmachine import RagPipeline

pipeline = RagPipeline()
pipeline.index("docs")
for hit in pipeline.search("how is the cache sized?", k=5).hits:
    print(hit.chunk.location, hit.score)
"""

from ragmachine.errors import RagError
from ragmachine.models import Answer, Chunk, Citation, Hit, IndexReport, SearchResult
from ragmachine.pipeline import RagPipeline
from ragmachine.settings import Settings

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Chunk",
    "Citation",
    "Hit",
    "IndexReport",
    "RagError",
    "RagPipeline",
    "SearchResult",
    "Settings",
    "__version__",
]
