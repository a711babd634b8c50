"""Pages of prose become Markdown; templates and fragments stay the text that they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragmachine.corpus.loaders.registry import Loaders

PROSE = (
    "The pump moves water from the tank to the boiler without any noise. It needs a fuse of ten "
    "ampere, and wants to be cleaned every month by trained staff, who use a soft cloth only. "
) * 2


@pytest.fixture(scope="module")
def loaders() -> Iterator[Loaders]:
    """Loaders with one reading process for all tests of this module."""
    with Loaders() as opened:
        yield opened


def text_of(loaders: Loaders, html: str | bytes) -> str:
    """The page's text."""
    loaded = loaders.load("a.html", html if isinstance(html, bytes) else html.encode())
    assert loaded is not None
    return loaded.text


def test_headings_paragraphs_and_lists(loaders: Loaders) -> None:
    """Structure becomes Markdown, whether or not the author closed the tags."""
    html = (
        f"<h1>Pump <em>manual</em></h1><p>{PROSE}<ul><li>one<li>two<ul><li>inner</ul></ul><p>End."
    )
    expected = f"# Pump manual\n\n{PROSE.strip()}\n\n- one\n- two\n  - inner\n\nEnd.\n"
    assert text_of(loaders, html) == expected


def test_what_surrounds_the_text_is_left_out(loaders: Loaders) -> None:
    """Scripts, styles, navigation and what is hidden say nothing."""
    html = (
        "<html><head><title>Pump</title><style>p{color:red}</style></head><body>"
        "<nav><a href='/'>Home of all</a></nav><script>var secret = '<p>no</p>'</script>"
        f"<p>{PROSE}</p><div style='display:none'>unseen</div><footer>Imprint</footer></body>"
    )
    assert text_of(loaders, html) == f"{PROSE.strip()}\n"
    loaded = loaders.load("a.html", html.encode())
    assert loaded is not None
    assert loaded.title == "Pump"


def test_the_main_part_is_the_page(loaders: Loaders) -> None:
    """Where a page says which part is its main one, the rest is left out."""
    html = (
        f"<body><div>Menu of things</div><main><h2>Use</h2><p>{PROSE}</p></main><p>Ads</p></body>"
    )
    assert text_of(loaders, html) == f"## Use\n\n{PROSE.strip()}\n"


def test_tables_and_code(loaders: Loaders) -> None:
    """Tables become pipe tables, and code keeps its lines."""
    html = (
        f"<p>{PROSE}</p><table><tr><th>Part<th>Number<tr><td>Seal<td>A|1</table>"
        "<pre>def f():\n    pass &lt;x&gt;</pre>"
    )
    expected = (
        "| Part | Number |\n|---|---|\n| Seal | A\\|1 |\n\n```\ndef f():\n    pass <x>\n```\n"
    )
    assert text_of(loaders, html).endswith(expected)


def test_a_table_that_lays_out_the_page_is_none(loaders: Loaders) -> None:
    """Cells that hold headings and paragraphs are parts of the page."""
    html = f"<table><tr><td>Menu</td><td><h1>Pump</h1><p>{PROSE}</p></td></tr></table>"
    assert text_of(loaders, html) == f"Menu\n\n# Pump\n\n{PROSE.strip()}\n"


@pytest.mark.parametrize(
    "html",
    [
        "<div>short</div>",
        f"<p>{{% if user %}}{{{{ user }}}}{{% endif %}}{{{{ x }}}}</p><p>{PROSE}</p>",
        "<script>" + PROSE + "</script>",
        "",
    ],
    ids=["fragment", "template", "script", "empty"],
)
def test_what_is_no_page_of_prose_stays_as_it_is(loaders: Loaders, html: str) -> None:
    """Its bytes are its text, so that offsets count in the file."""
    assert loaders.load("a.html", html.encode()) is None


def test_a_declared_encoding_is_used(loaders: Loaders) -> None:
    """A page that is not UTF-8 is read as it says."""
    html = f"<meta charset='windows-1251'><p>Насос {PROSE}</p>".encode("windows-1251")
    assert text_of(loaders, html).startswith("Насос")


def test_text_that_looks_like_markup_is_text(loaders: Loaders) -> None:
    """A paragraph that begins with a hash is no heading."""
    assert text_of(loaders, f"<p># not a heading</p><p>{PROSE}</p>").startswith("\\# not")


def test_deep_nesting_is_read(loaders: Loaders) -> None:
    """Thousands of open tags are no reason to crash."""
    text = text_of(loaders, "<div><ul><li>" * 5_000 + f"<p>{PROSE * 9}")
    assert PROSE.strip() in text
