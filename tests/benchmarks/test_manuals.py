"""The invented manuals: the same for the same seed, true to their key, and measured by page."""

from __future__ import annotations

import importlib
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pypdfium2 as pdfium
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The scripts as modules."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    found: dict[str, ModuleType] = {}
    for name in ("facts", "pdf", "questions", "ladder"):
        found[name] = importlib.import_module(f"manuals_{name}")
    found["main"] = importlib.import_module("manuals")
    for module in found.values():
        monkeypatch.delitem(sys.modules, module.__name__)
    return SimpleNamespace(**found)


def texts(path: Path) -> list[str]:
    """The text layer of each page, blanks evened out."""
    document = pdfium.PdfDocument(path)
    found = [" ".join(page.get_textpage().get_text_bounded().split()) for page in document]
    document.close()
    return found


def test_every_answer_stands_on_its_page_and_no_other(
    scripts: SimpleNamespace, tmp_path: Path
) -> None:
    """A key that pointed at the wrong page would count right answers as wrong."""
    questions = scripts.main.make_corpus(tmp_path, 6, 3)
    assert {asked.kind for asked in questions} >= {"warranty", "specification", "comparison"}
    pages = {path.name: texts(path) for path in tmp_path.glob("*.pdf")}
    numbers = {
        number: (part, manual.file)
        for manual in scripts.facts.make_manuals(6, 3)
        for part, number in manual.parts
    }
    for asked in questions:
        for (file, page), value in zip(asked.pages, asked.values, strict=True):
            assert value in pages[file][page - 1], asked
        if asked.kind == "part by number":
            number = next(number for number in numbers if number in asked.text)
            assert numbers[number] == (asked.values[0], asked.pages[0][0])
            holders = [
                (file, at) for file in pages for at, text in enumerate(pages[file], 1)
                if number in text
            ]  # fmt: skip
            assert holders == list(asked.pages)


def test_the_same_seed_makes_the_same_files(scripts: SimpleNamespace, tmp_path: Path) -> None:
    """Byte for byte, and a longer list begins with the shorter; another seed says other things."""
    facts, pdf = scripts.facts, scripts.pdf
    few, many, other = (facts.make_manuals(*one) for one in ((3, 5), (9, 5), (3, 6)))
    assert few == many[:3]
    assert few != other
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        pdf.write_manual(few[0], tmp_path / name)
    first, second = ((tmp_path / name / few[0].file).read_bytes() for name in ("a", "b"))
    assert first == second


def test_siblings_share_no_value_that_is_asked_for(scripts: SimpleNamespace) -> None:
    """The page of the wrong sibling never holds the right answer; part numbers are unique."""
    manuals = scripts.facts.make_manuals(100, 0)
    numbers = Counter(number for manual in manuals for _, number in manual.parts)
    assert max(numbers.values()) == 1
    assert len({manual.product for manual in manuals}) == len(manuals) == 100
    for first in range(0, 100, 4):
        siblings = manuals[first : first + 4]
        assert len({manual.warranty_months for manual in siblings}) == 4
        for row in range(len(siblings[0].properties)):
            assert len({manual.properties[row] for manual in siblings}) == 4


def test_one_in_twenty_is_a_scan(scripts: SimpleNamespace, tmp_path: Path) -> None:
    """Its pages are as many, and hold an image and no text."""
    manuals = scripts.facts.make_manuals(100, 0)
    assert sum(manual.is_scan for manual in manuals) == 5
    scan = next(manual for manual in manuals[:12] if manual.is_scan)
    pages = scripts.pdf.write_manual(scan, tmp_path)
    read = texts(tmp_path / scan.file)
    assert not any(read)
    assert len(read) >= max(pages.values())


def test_no_page_of_properties_names_the_product(scripts: SimpleNamespace, tmp_path: Path) -> None:
    """Whoever finds it has to know from elsewhere which manual this is."""
    for manual in scripts.facts.make_manuals(5, 0):
        page = scripts.pdf.write_manual(manual, tmp_path)["properties"]
        text = texts(tmp_path / manual.file)[page - 1]
        table = text.partition("Technical data")[2].partition("Warranty")[0]
        assert "Property" in table
        assert manual.product.split()[0] not in table


def test_a_hit_counts_for_the_pages_it_stands_on(scripts: SimpleNamespace, tmp_path: Path) -> None:
    """One page, several, or none; in plain text by where the pages begin."""

    def hit(path: str, start: int = 0, end: int = 1, place: str = "") -> Any:
        return SimpleNamespace(
            chunk=SimpleNamespace(file_path=path, start=start, end=end, place=place)
        )

    placed = scripts.ladder.placed
    assert placed(hit("m/a.pdf", place="p.2")) == {("a.pdf", 2)}
    assert placed(hit("a.pdf", place="p.2-3")) == {("a.pdf", 2), ("a.pdf", 3)}
    assert placed(hit("a.pdf")) == set()
    manual = scripts.facts.make_manuals(1, 0)[0]
    (tmp_path / "pdf").mkdir()
    scripts.pdf.write_manual(manual, tmp_path / "pdf")
    plain = scripts.ladder.Plain(tmp_path / "pdf", tmp_path / "plain")
    text = (tmp_path / "plain" / "manual-001.txt").read_text(encoding="utf-8")
    at = text.index("Safety")
    assert plain.pages(hit("plain/manual-001.txt", at, at + 6)) == {(manual.file, 2)}
    assert plain.pages(hit("manual-001.txt", 0, at + 6)) == {(manual.file, 1), (manual.file, 2)}


def test_a_comparison_needs_both_pages(scripts: SimpleNamespace) -> None:
    """One of two is half found, and not both."""
    asked = scripts.questions.Asked("?", "comparison", (("a", 1), ("b", 2)), ("1", "2"), False)
    found = [scripts.ladder.Found(asked, recall, 1.0) for recall in (1.0, 0.5)]
    row = scripts.ladder.summary(found)
    assert row["recall@5"] == 0.75
    assert row["comparisons with both"] == 0.5
    assert row["missed"] == ["?"]


def test_the_step_worth_most_is_one_up_to_the_default(scripts: SimpleNamespace) -> None:
    """What comes after the default is no part of it, however much it adds."""
    recalls = {"plain": 0.1, "tables": 0.3, "structure": 0.7, "ranking of the default": 0.7,
               "filter": 1.0}  # fmt: skip
    steps = {name: {"recall@5": recall} for name, recall in recalls.items()}
    assert scripts.main.worth_most(steps) == "structure"


def test_a_run_saves_steps_and_answers(
    scripts: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step with its recall; the default finds pages that plain slices do not."""
    saved: dict[str, Any] = {}

    def keep(name: str, document: dict[str, Any]) -> Path:
        saved.update(json.loads(json.dumps(document)))
        return tmp_path / name

    steps = [step for step in scripts.ladder.STEPS if "strategy" not in step.settings]
    monkeypatch.setattr(scripts.main, "STEPS", steps)
    monkeypatch.setattr(scripts.main, "save", keep)
    monkeypatch.setattr(sys, "argv", ["manuals.py", "--manuals", "4", "--folder", str(tmp_path)])
    assert scripts.main.main() == 0
    recalls = {name: row["recall@5"] for name, row in saved["steps"].items()}
    assert [*recalls] == [step.name for step in steps]
    assert recalls["ranking of the default"] >= 0.9 > recalls["plain text, 500 characters"]
    assert 0 <= saved["answers"]["key values"] <= 1
    assert "| step |" in "\n".join(scripts.main.table(saved))
