"""Word documents become text with headings, lists and tables; bombs are refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

import pytest

from ragmachine.corpus.loaders.limits import Limits
from ragmachine.corpus.loaders.loaded import Loaded, LoadError
from ragmachine.corpus.loaders.registry import Loaders

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STYLES = f"""<w:styles {W}>
<w:style w:styleId="Kop1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="Kop2"><w:name w:val="heading 2"/></w:style>
<w:style w:styleId="Eigen"><w:name w:val="Mine"/><w:basedOn w:val="Kop2"/></w:style>
</w:styles>"""


@pytest.fixture(scope="module")
def loaders() -> Iterator[Loaders]:
    """Loaders with one reading process for all tests of this module."""
    with Loaders() as opened:
        yield opened


def docx(body: str, **parts: str) -> bytes:
    """A Word document with this body; other parts by name, dots for slashes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>"
        )
        archive.writestr("word/styles.xml", STYLES)
        for name, content in parts.items():
            archive.writestr(name.replace(".", "/") + ".xml", content)
    return stream.getvalue()


def p(text: str, style: str = "", more: str = "") -> str:
    """A paragraph."""
    properties = (f'<w:pStyle w:val="{style}"/>' if style else "") + more
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def read(loaders: Loaders, data: bytes) -> Loaded:
    """The loaded document."""
    loaded = loaders.load("a.docx", data)
    assert loaded is not None
    return loaded


def test_headings_follow_their_styles(loaders: Loaders) -> None:
    """A style is a heading by its name in English, or by the style that it is based on."""
    body = p("Pump", "Kop1") + p("First text.") + p("Cleaning", "Eigen") + p("More text.")
    assert read(loaders, docx(body)).text == "# Pump\n\nFirst text.\n\n## Cleaning\n\nMore text.\n"


def test_lists_and_tables(loaders: Loaders) -> None:
    """Items are listed by depth, and cells stand in rows, merged ones with room after them."""
    number = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'
    items = p("one", more=number.format(0)) + p("inner", more=number.format(1))

    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{p(text)}</w:tc>"

    span = '<w:gridSpan w:val="2"/>'
    table = (
        f"<w:tbl><w:tr>{cell('Part')}{cell('Number')}{cell('Price')}</w:tr>"
        f"<w:tr>{cell('Seal')}{cell('AQ-1', span)}</w:tr></w:tbl>"
    )
    text = read(loaders, docx(items + table + p("After."))).text
    assert text == (
        "- one\n  - inner\n\n"
        "| Part | Number | Price |\n|---|---|---|\n| Seal | AQ-1 |  |\n\nAfter.\n"
    )


def test_what_was_deleted_is_gone(loaders: Loaders) -> None:
    """Tracked deletions and what is said twice for older programs are left out."""
    body = (
        "<w:p><w:r><w:t>kept</w:t></w:r><w:del><w:r><w:t>deleted</w:t></w:r></w:del>"
        "<w:ins><w:r><w:t> added</w:t></w:r></w:ins></w:p>"
    )
    assert read(loaders, docx(body)).text == "kept added\n"


def test_pages_as_word_laid_them_out(loaders: Loaders) -> None:
    """A paragraph that begins a page stands on it; without such marks there are no places."""
    mark = "<w:p><w:r><w:lastRenderedPageBreak/><w:t>Second page.</w:t></w:r></w:p>"
    loaded = read(loaders, docx(p("First page.") + mark))
    start = loaded.text.index("Second")
    assert loaded.places[0] == (0, "p.1")
    assert loaded.places[1][1] == "p.2"
    assert loaded.places[1][0] in (start - 1, start)
    assert read(loaders, docx(p("First page."))).places == ()


def test_the_title_comes_from_the_properties(loaders: Loaders) -> None:
    """The document's own title is known, and stands not in its text."""
    named = "<dc:title>Pump manual</dc:title><dc:creator>X</dc:creator>"
    core = f'<c:x xmlns:c="c" xmlns:dc="d">{named}</c:x>'
    loaded = read(loaders, docx(p("Text."), **{"docProps.core": core}))
    assert loaded.title == "Pump manual"
    assert loaded.text == "Text.\n"


def test_entities_are_refused(loaders: Loaders) -> None:
    """A document type, which only a bomb has, is refused before anything is expanded."""
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("word/document.xml", bomb)
    with pytest.raises(LoadError, match="refused"):
        loaders.load("a.docx", stream.getvalue())


def test_a_zip_bomb_is_refused() -> None:
    """A document may unpack to so much, and no more is unpacked."""
    data = docx(p("a" * 2_000_000))
    assert len(data) < 20_000
    with (
        Loaders(limits=Limits(max_unpacked_bytes=1_000_000)) as limited,
        pytest.raises(LoadError, match="unpacks to more"),
    ):
        limited.load("a.docx", data)


def test_depth_is_refused(loaders: Loaders) -> None:
    """A document nested ten thousand deep is refused, not a crash."""
    with pytest.raises(LoadError, match="nested too deeply"):
        loaders.load("a.docx", docx("<w:x>" * 10_000 + "</w:x>" * 10_000))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04 broken", "damaged"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "encrypted"),
        (docx("<w:p>")[:200], "damaged"),
        (docx("<w:p>"), "damaged"),
    ],
    ids=["empty", "broken", "old format", "cut off", "no XML"],
)
def test_what_is_no_document_is_refused(loaders: Loaders, data: bytes, words: str) -> None:
    """Damage is one file's trouble: refused with a reason."""
    with pytest.raises(LoadError, match=words):
        loaders.load("a.docx", data)
