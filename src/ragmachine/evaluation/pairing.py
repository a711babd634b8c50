"""Which entry of a results file belongs to which question of a dataset."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from ragmachine.errors import DatasetError

if TYPE_CHECKING:
    from ragmachine.exchange import Dataset, SearchEntry, SearchResults


def pair_entries(results: SearchResults, dataset: Dataset) -> list[SearchEntry | None]:
    """The entry of each question, in the dataset's order, each entry given out once.

    Where an id repeats, its n-th entry answers its n-th question.

    Raises: DatasetError: either file is empty, or they share no question id.
    """
    if not dataset.rag_questions:
        raise DatasetError("the dataset holds no question", remedy="choose another dataset")
    waiting: defaultdict[str, deque[SearchEntry]] = defaultdict(deque)
    for entry in results.search_results:
        waiting[entry.question_id].append(entry)
    if not waiting:
        raise DatasetError("the results hold no entry", remedy="run search_dataset again")
    ids = {question.question_id for question in dataset.rag_questions}
    if ids.isdisjoint(waiting):
        raise DatasetError(
            f"the results belong to another dataset: none of their {len(waiting)} question ids "
            f"is among the {len(ids)} of this dataset",
            remedy="name the dataset these results were made from",
        )
    return [
        waiting[question.question_id].popleft() if waiting[question.question_id] else None
        for question in dataset.rag_questions
    ]
