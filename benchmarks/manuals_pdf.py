"""Manuals as PDF files, and the page on which each of their facts stands."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    KeepTogether,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

from manuals_facts import Manual

rl_config.invariant = 1  # no times or random ids: the same manual is the same file

WARRANTY, PROPERTIES, MAINTENANCE, PARTS = "warranty", "properties", "maintenance", "parts"
_SCAN_DPI = 150
_MARGIN = 25 * mm
_BASE = getSampleStyleSheet()["BodyText"]
_TEXT = ParagraphStyle("text", _BASE, fontSize=10, leading=13, spaceAfter=6)
_HEADING = ParagraphStyle(
    "heading", _BASE, fontName="Helvetica-Bold", fontSize=15, leading=19, spaceBefore=10,
    spaceAfter=6,
)  # fmt: skip
_COVER = ParagraphStyle("cover", _HEADING, fontSize=30, leading=38, spaceBefore=60)
_SUBTITLE = ParagraphStyle("subtitle", _BASE, fontSize=14, leading=20, spaceAfter=24)

_SAFETY = (
    "Read these instructions completely before the first use and keep them where everybody who"
    " uses the appliance can find them. Pass them on with the appliance.",
    "Pull the mains plug before cleaning, before maintenance and whenever a fault shows. Never pull"
    " at the cord. A damaged power cord may be replaced by a qualified electrician only.",
    "Children under eight years, and people who have not been instructed, must not operate the"
    " appliance. Packaging material is no toy: there is a danger of suffocation.",
    "Repairs may be done by authorised workshops only. Other spare parts than original ones make"
    " the warranty void and may be dangerous.",
)
_INSTALLATION = (
    "Unpack all parts and check them for damage in transit. Report missing or damaged parts to the"
    " dealer within eight days.",
    "Place the appliance on a level, dry and firm surface. Leave at least 20 cm on every side so"
    " that air can circulate, and keep it away from heat and direct sunlight.",
    "Compare the voltage on the rating plate with that of the mains before you connect it. Use a"
    " socket with a protective conductor and a residual current device of 30 mA.",
)
_TROUBLE = (
    ("Symptom", "Possible cause", "Remedy"),
    ("Does not start", "No voltage", "Check plug and fuse"),
    ("Is louder than usual", "Worn bearing or loose part", "Ask an authorised workshop"),
    ("Stops after a while", "Thermal protection", "Let it cool for 30 minutes"),
    ("Performance drops", "Dirty filter", "See the maintenance plan"),
)
_UPKEEP = (
    "Regular maintenance keeps the appliance safe and its consumption low. Intervals hold for"
    " normal use; halve them in dusty surroundings. Write every piece of work into the log."
)
_ORDERING = (
    "Order spare parts from your dealer. Please give the part number, the quantity and the serial"
    " number on the rating plate."
)
_WARRANTIES = (
    "We guarantee the {product} against defects of material and workmanship for {months} months"
    " from the date of purchase. The receipt counts as proof.",
    "The warranty period is {months} months and begins on the day of purchase, which the receipt"
    " has to prove. Defects within that time are mended free of charge.",
)
_EXCLUDED = (
    "Parts that wear in normal use, damage by frost, lime or improper use, and appliances opened"
    " by others than authorised workshops are excluded. Rights by law are not affected. The time"
    " of a repair does not extend the warranty."
)
_DISPOSAL = (
    "Old electrical appliances must not be put into household waste. Take them to a collection"
    " point of your municipality, where they are accepted free of charge."
)


class _Mark(Flowable):  # type: ignore[misc]
    """Takes no room; notes the page that it comes to stand on."""

    def __init__(self, name: str, pages: dict[str, int]) -> None:
        super().__init__()
        self.width = self.height = 0
        self._name, self._pages = name, pages

    def draw(self) -> None:
        """Note the page."""
        self._pages[self._name] = self.canv.getPageNumber()


def write_manual(manual: Manual, folder: Path) -> dict[str, int]:
    """Write a manual as a PDF.

    Args:
        manual: what it says.
        folder: where its file goes.
    Returns: the page, from 1, of its warranty, properties, maintenance and parts.
    """
    pages: dict[str, int] = {}
    buffer = io.BytesIO()
    document = SimpleDocTemplate(
        buffer, pagesize=A4, leftMargin=_MARGIN, rightMargin=_MARGIN, topMargin=_MARGIN,
        bottomMargin=_MARGIN, title=manual.title or None, author=None,
    )  # fmt: skip
    document.build(_story(manual, pages), onFirstPage=_foot, onLaterPages=_foot)
    data = buffer.getvalue()
    (folder / manual.file).write_bytes(_scanned(data) if manual.is_scan else data)
    return pages


def _foot(canvas: Canvas, document: Any) -> None:
    """What every page of every manual has: it names no product."""
    canvas.setFont("Helvetica", 8)
    canvas.drawString(_MARGIN, 12 * mm, "Translation of the original operating manual")
    canvas.drawRightString(A4[0] - _MARGIN, 12 * mm, str(document.page))


def _story(manual: Manual, pages: dict[str, int]) -> list[Flowable]:
    """Cover and safety first; what follows is in an order of its own in each manual."""
    sections: dict[str, list[Flowable]] = {
        "Installation": [_paragraph(text) for text in _INSTALLATION],
        "Technical data": _properties(manual, pages),
        "Maintenance": _maintenance(manual, pages),
        "Spare parts": _parts(manual, pages),
        "Troubleshooting": [_table(_TROUBLE, is_ruled=True)],
        "Warranty": _warranty(manual, pages),
        "Disposal": [_paragraph(_DISPOSAL)],
    }
    order = list(sections)
    random.Random(manual.file).shuffle(order)  # noqa: S311
    story: list[Flowable] = [
        Paragraph(manual.product, _COVER),
        Paragraph(manual.kind.name.capitalize(), _SUBTITLE),
        _paragraph(
            f"Thank you for choosing the {manual.product}. This {manual.kind.name} has been made"
            " and tested with care. These pages tell how to use it safely and for a long time."
        ),
        PageBreak(),
        Paragraph("Safety", _HEADING),
        *map(_paragraph, _SAFETY),
    ]
    for number, name in enumerate(order):
        if number % 2:
            story.append(PageBreak())
        story.append(KeepTogether([Paragraph(name, _HEADING), *sections[name]]))
    return story


def _paragraph(text: str) -> Flowable:
    return Paragraph(text, _TEXT)


def _properties(manual: Manual, pages: dict[str, int]) -> list[Flowable]:
    rows = [("Property", "Value"), *((name, value) for name, _, value in manual.properties)]
    return [_Mark(PROPERTIES, pages), _table(rows, is_ruled=manual.style % 2 == 0)]


def _maintenance(manual: Manual, pages: dict[str, int]) -> list[Flowable]:
    if manual.style < 2:
        rows = [("Part", "Work", "Interval")]
        rows += [(part.capitalize(), verb, interval) for verb, part, interval in manual.tasks]
        body = [_table(rows, is_ruled=manual.style % 2 == 0)]
    else:
        body = [
            _paragraph(f"• {verb} the {part} {interval}.") for verb, part, interval in manual.tasks
        ]
    return [_Mark(MAINTENANCE, pages), _paragraph(_UPKEEP), *body]


def _parts(manual: Manual, pages: dict[str, int]) -> list[Flowable]:
    rows = [("Pos.", "Part", "Part number")]
    rows += [(str(at), part, number) for at, (part, number) in enumerate(manual.parts, 1)]
    body = [_paragraph(_ORDERING), _table(rows, is_ruled=manual.style % 2 == 0)]
    return [_Mark(PARTS, pages), *body]


def _warranty(manual: Manual, pages: dict[str, int]) -> list[Flowable]:
    text = _WARRANTIES[manual.style % 2]
    said = text.format(product=manual.product, months=manual.warranty_months)
    return [_Mark(WARRANTY, pages), _paragraph(said), _paragraph(_EXCLUDED)]


def _table(rows: Any, *, is_ruled: bool) -> Flowable:
    rules = [("GRID", (0, 0), (-1, -1), 0.5, colors.grey)] if is_ruled else []
    style = TableStyle(
        [
            ("FONT", (0, 0), (-1, -1), "Helvetica", 10),
            ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 10),
            *rules,
        ]
    )
    width = (A4[0] - 2 * _MARGIN) / len(rows[0])
    return KeepTogether([Table(rows, colWidths=width, style=style), Spacer(1, 8)])


def _scanned(data: bytes) -> bytes:
    """The same pages as grey images, without a letter of text."""
    source = pdfium.PdfDocument(data)
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    for number in range(len(source)):
        bitmap = source[number].render(scale=_SCAN_DPI / 72, grayscale=True)
        image = io.BytesIO()
        bitmap.to_pil().save(image, "JPEG", quality=80)
        canvas.drawImage(ImageReader(image), 0, 0, *A4)
        canvas.showPage()
    source.close()
    canvas.save()
    return buffer.getvalue()
