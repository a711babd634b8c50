"""PDFs made for tests: drawn with reportlab, so that each test says what stands where."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

Draw = Callable[[Canvas], None]
HEIGHT = 842


def pdf(
    *pages: Draw, title: str = "", password: str = "", size: tuple[int, int] = (595, HEIGHT)
) -> bytes:
    """A PDF of the pages, each drawn by a function."""
    stream = io.BytesIO()
    encrypt = StandardEncryption(password, canPrint=0) if password else None
    canvas = Canvas(stream, pagesize=size, encrypt=encrypt, invariant=1)
    canvas.setTitle(title or "untitled")
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def lines(texts: Sequence[str], *, x: float = 72, top: float = 100, step: float = 14,
          font: str = "Helvetica", size: float = 10) -> Draw:  # fmt: skip
    """Draw lines one below the other; `top` is of the first, from the page's top."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, size)
        for number, text in enumerate(texts):
            canvas.drawString(x, HEIGHT - top - number * step, text)

    return draw


def heading(text: str, *, top: float, size: float = 18) -> Draw:
    """Draw a heading."""
    return lines([text], top=top, font="Helvetica-Bold", size=size)


def grid(rows: Sequence[Sequence[str]], *, top: float, widths: Sequence[float], x: float = 72,
         has_rules: bool = True, step: float = 18) -> Draw:  # fmt: skip
    """Draw a table, with or without its rules."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        for number, row in enumerate(rows):
            left = x
            for width, text in zip(widths, row, strict=True):
                below = HEIGHT - top - (number + 1) * step
                if has_rules:
                    canvas.rect(left, below, width, step)
                canvas.drawString(left + 4, below + 5, text)
                left += width

    return draw


def image(pixels: Any, *, width: float, height: float, page_height: float = HEIGHT) -> Draw:
    """Draw a picture (a PIL image) from the page's top left corner."""

    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(pixels), 0, page_height - height, width, height)

    return draw


def both(*draws: Draw) -> Draw:
    """Several drawings on one page."""

    def draw(canvas: Canvas) -> None:
        for one in draws:
            one(canvas)

    return draw


PROSE = [
    "The pump moves water from the tank to the boiler without any noise,",
    "needs a fuse of ten ampere, and wants to be cleaned every month by",
    "trained staff, who use a soft cloth and no solvents on its surface.",
]
