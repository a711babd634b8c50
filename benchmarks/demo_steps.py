"""The steps of the demonstration: each asks a server, prints what it shows, and checks it."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import httpx

WARRANTY = "How long is the warranty of a Limpet 3?"
NOBODY_KNOWS = "How long is the warranty of a Limpet 9?"
PARTS = (
    "What does the repair of a Winkle 8 cost",
    "what does a red blinking light of a Cairn mean",
)
VALUES = ("EUR 145", "watchdog tripped")
NEW_FACT = "\nThe spare kelp comb is kept behind the blue door.\n"
_JOB_S = 120.0


class BrokenPromiseError(Exception):
    """A step does not hold."""


class Walk:
    """The steps, over one server.

    Args:
        client: of the server.
        corpus: the folder that it may index.
        has_model: whether a model writes the answers.
    """

    def __init__(self, client: httpx.Client, corpus: Path, *, has_model: bool) -> None:
        self._client = client
        self._corpus = corpus
        self._has_model = has_model

    def ingest(self) -> None:
        """An empty server says what to do; a job indexes the folder."""
        title("1. Ingestion")
        problem = self._client.get("/ready").json()
        holds("remedy" in problem, f"without an index it says what to do: {problem.get('detail')}")
        report = self._job()
        files = sum(path.is_file() for path in self._corpus.rglob("*"))
        counted = report["files"] + sum(report["skipped"].values())
        holds(
            counted == files and not report["problems"],
            f"{report['files']} files, {report['chunks']} chunks, {report['terms']:,} terms in"
            f" {report['seconds']:.2f} s; each of the folder's {files} files is accounted for",
        )
        holds(self._client.get("/ready").status_code == 200, "a job that is done can be searched")

    def ingest_again(self) -> None:
        """The same twice changes nothing; one changed file is one file's work."""
        title("2. The same again, and one file changed")
        before, generation = self._chunk_ids(), self._generation()
        report = self._job()
        is_same = report["unchanged"] and self._generation() == generation
        holds(
            is_same and self._chunk_ids() == before,
            f"the same folder again, {report['seconds']:.2f} s: the same generation"
            f" ({generation}) and the same chunk ids",
        )
        with (self._corpus / "field-notes.txt").open("a", encoding="utf-8") as file:
            file.write(NEW_FACT)
        report = self._job()
        holds(
            report["files"] - report["reused"] == 1 and self._chunk_ids() == before,
            f"one file changed, {report['seconds']:.2f} s: {report['reused']} of"
            f" {report['files']} files were not read again; other chunks keep their ids",
        )
        first = self._search("where is the spare kelp comb kept?")["retrieved_chunks"][0]
        holds("kelp comb" in first["text"], f"its new line is found: {spot(first)}")

    def answer(self) -> None:
        """Every citation can be looked up, and nothing is made up."""
        title("3. A cited answer")
        found = self._post("/answer", query=WARRANTY)
        print(f'     "{WARRANTY}"')
        for line in found["answer"].strip().splitlines():
            print(f"     | {line}")
        texts = [self._cited_text(row) for row in found["citations"]]
        holds(
            bool(texts) and any("30 months" in text for text in texts),
            f"the lines cited hold the value, by {found['answer_mode']}:"
            f" {', '.join(map(spot, found['citations']))}",
        )
        supported = sum(row["supported"] for row in found["sentences"])
        holds(
            0 < supported == len(found["sentences"]),
            f"{supported} of {len(found['sentences'])} sentences are supported by them",
        )
        refused = self._post("/answer", query=NOBODY_KNOWS)
        holds(refused["refused"], f'"{NOBODY_KNOWS}" is refused: there is no such probe')

    def two_parts(self) -> None:
        """A question of two parts is searched as two, and the rankings are merged."""
        title("4. A question of two parts")
        question = f"{PARTS[0]}, and {PARTS[1]}?"
        fused = self._post("/query", question=question, top_k=4, generate=False)
        for part in fused["sub_queries"]:
            print(f'     part: "{part}"')
        holds(fused["sub_queries"] == list(PARTS), f'cut in two: "{question}"')
        best = [self._search(part)["retrieved_chunks"][0] for part in PARTS]
        ranks = [rank_of(row, fused["citations"]) for row in best]
        holds(
            all(ranks) and best[0]["file_path"] != best[1]["file_path"],
            f"the best passage of each part alone ({spot(best[0])}, {spot(best[1])}) is among the"
            f" 4 merged ones, at ranks {ranks}",
        )
        answer = self._post("/query", question=question, top_k=4)
        sources = {Path(row["source"]).name for row in answer["citations"]}
        holds(
            all(value in answer["answer"] for value in VALUES) and len(sources) > 1,
            f"one answer holds {' and '.join(VALUES)}, from {' and '.join(sorted(sources))}",
        )

    def stages(self, questions: list[str]) -> list[dict[str, Any]]:
        """Where the time goes, by the server's own count.

        Returns: the searches that no cache knew; one knows a question by its words that count.
        """
        title("5. Where the time goes")
        before = self._counted()
        cold = [self._search(question) for question in questions]
        for question in questions[:10]:
            self._post("/answer", query=question)
        searches = self._counted() - before
        asked = len(questions) + 10
        holds(searches == asked, f"{asked} questions asked, {searches} searches in /metrics")
        timings = self._client.get("/timings").json()["timings"]
        print(f"     {'':<20}{'count':>7}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}")
        for name, row in timings.items():
            figures = "".join(f"{row[f'p{percent}_ms']:>9.2f}" for percent in (50, 95, 99))
            print(f"     {name:<20}{row['count']:>7}{figures}")
        parts = [sum(row["metrics"]["stage_ms"].values()) for row in cold]
        totals = [row["metrics"]["search_time_ms"] for row in cold]
        holds(
            all(part <= total + 0.01 for part, total in zip(parts, totals, strict=True)),
            f"the stages of no search add up to more than the search; together they are"
            f" {sum(parts) / sum(totals):.0%} of it",
        )
        return [row for row in cold if not row["metrics"]["cached"]]

    def caches(self, cold: list[dict[str, Any]], when: str) -> None:
        """The same questions again: the same passages, sooner."""
        warm = [self._search(row["query"]) for row in cold]
        pairs = list(zip(cold, warm, strict=True))
        hits = sum(row["metrics"]["cached"] for row in warm)
        holds(hits == len(cold) > 0, f"{when}: {hits} of {len(cold)} searches come from the cache")
        same = sum(a["retrieved_chunks"] == b["retrieved_chunks"] for a, b in pairs)
        holds(same == len(pairs), f"{same} of {len(pairs)} give the same passages, scores and all")
        was, now = (
            statistics.median(row["metrics"]["search_time_ms"] for row in rows)
            for rows in (cold, warm)
        )
        holds(now < was, f"a search takes {now:.2f} ms instead of {was:.2f} ms (median)")

    def answer_cache(self) -> None:
        """A model's answer is given again without asking it."""
        if not self._has_model:
            print("     no model writes here, so no answer is kept; --llm ollama shows that")
            return
        first, again = (self._post("/answer", query=PARTS[1] + "?") for _ in range(2))
        was, now = (row["metrics"]["timings"] for row in (first, again))
        holds(
            (was["answer_cache"], now["answer_cache"]) == ("miss", "hit")
            and first["answer"] == again["answer"],
            f"the model's answer again: {now['total_ms']:.0f} ms instead of"
            f" {was['total_ms']:.0f} ms, and {was['answer_tokens']} tokens not written",
        )

    def _job(self) -> dict[str, Any]:
        """Bring the index up to date, and wait for it; the job's report."""
        job = self._post("/ingest")
        end = time.monotonic() + _JOB_S
        while job["state"] in ("queued", "running"):
            if time.monotonic() > end:
                raise BrokenPromiseError(f"the job is not done after {_JOB_S:.0f} s")
            time.sleep(0.05)
            job = self._client.get(f"/jobs/{job['job_id']}").json()
        if job["state"] != "done":
            raise BrokenPromiseError(f"the job failed: {job['error']}")
        return dict(job["report"])

    def _post(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self._client.post(path, json=body)
        if not answer.is_success:
            raise BrokenPromiseError(f"{path} answers {answer.status_code}: {answer.text}")
        return dict(answer.json())

    def _search(self, query: str) -> dict[str, Any]:
        return self._post("/search", query=query, k=10)

    def _generation(self) -> str:
        return str(self._client.get("/ready").json()["generation"])

    def _chunk_ids(self) -> list[str]:
        """Of the passages for a question whose file nobody changes."""
        found = self._post("/query", question=WARRANTY, generate=False, filter="path:**/docs/**")
        return [row["chunk_id"] for row in found["citations"]]

    def _cited_text(self, row: dict[str, Any]) -> str:
        """The characters cited, from the file on disk; they must stand in the lines cited."""
        path = self._corpus.parents[1] / str(row["file_path"])
        text: str = path.read_bytes().decode()[row["first_character_index"] :]
        text = text[: int(row["last_character_index"]) - row["first_character_index"]]
        lines = {"start_line": row["first_line"], "end_line": row["last_line"]}
        shown = self._client.get(f"/source/{row['file_path']}", params=lines).json()["text"]
        if not text.strip() or text.strip() not in shown:
            raise BrokenPromiseError(f"{spot(row)} does not hold what is cited: {text!r}")
        return text

    def _counted(self) -> int:
        """Searches so far, as Prometheus would read them."""
        name = 'ragmachine_stage_seconds_count{stage="search"} '
        rows = self._client.get("/metrics").text.splitlines()
        return sum(int(float(row.removeprefix(name))) for row in rows if row.startswith(name))


def title(text: str) -> None:
    """Print a step's head."""
    print(f"\n{text}")


def holds(is_so: bool, text: str) -> None:
    """Print what was shown.

    Raises: BrokenPromiseError: it is not so.
    """
    if not is_so:
        raise BrokenPromiseError(text)
    print(f"  holds: {text}", flush=True)


def spot(row: dict[str, Any]) -> str:
    """File and lines of a passage or citation."""
    name = Path(str(row["file_path"])).name
    return f"{name}:{row['first_line']}-{row['last_line']}"


def rank_of(passage: dict[str, Any], citations: list[dict[str, Any]]) -> int:
    """Where a passage stands among citations, from 1; 0 where it does not."""
    wanted = (passage["file_path"], [passage["first_line"], passage["last_line"]])
    found = [row["number"] for row in citations if (row["source"], row["lines"]) == wanted]
    return int(found[0]) if found else 0
