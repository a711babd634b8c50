"""Pairs the questions of a dataset with the entries of a results file."""

from collections import defaultdict, deque

from .datasets import Dataset, Entry, Results
from .errors import DataError


def match_entries(dataset: Dataset, results: Results) -> list[Entry | None]:
    """The entry of each question, in the dataset's order; None where there is none.

    The n-th question with an id takes the n-th entry with that id. A question without an id takes
    the first entry left over that has its text and an id the dataset does not know.

    Raises: DataError: no question has an entry: the files do not belong together.
    """
    known = {question.question_id for question in dataset.questions}
    by_id: defaultdict[str, deque[Entry]] = defaultdict(deque)
    by_text: defaultdict[str, deque[Entry]] = defaultdict(deque)
    for entry in results.entries:
        if entry.question_id in known:
            by_id[entry.question_id].append(entry)
        else:
            by_text[entry.text].append(entry)
    matched: list[Entry | None] = []
    for question in dataset.questions:
        if question.question_id is None:
            queue = by_text.get(question.text)
        else:
            queue = by_id.get(question.question_id)
        matched.append(queue.popleft() if queue else None)
    if not any(matched):
        raise DataError(_foreign_message(dataset, results))
    return matched


def _foreign_message(dataset: Dataset, results: Results) -> str:
    texts = {question.text.strip() for question in dataset.questions}
    same = sum(entry.text.strip() in texts for entry in results.entries)
    opening = (
        f"{results.path}: these results belong to another dataset: "
        f"none of their {len(results.entries)} question ids is in {dataset.path}"
    )
    if not same:
        return f"{opening}, give the dataset the search was run on"
    return (
        f"{opening}, yet {same} of them ask a question of that dataset word for word: "
        "the ids were changed, write each question_id as the dataset does"
    )
