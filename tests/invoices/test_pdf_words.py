"""The text layer's characters become the words that a person sees, however the file spaces them."""

import datetime as dt
import io

import pikepdf
import pypdfium2
import pytest

from docrail.invoices.model import FIELD_NAMES
from docrail.invoices.readers.pdf.pages import KEPT_PAGES, PdfPages
from docrail.invoices.readers.pdf.words import read_pages
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import SAMPLES, make_pdf, pdf_bytes

SAMPLE = SAMPLES / "i2d_coolblue1.pdf"
TODAY = dt.date(2026, 11, 1)


def words_of(content: bytes) -> list[str]:
    pdf = make_pdf([])
    pdf.pages[0].Contents = pdf.make_stream(content)
    (page,) = read_pages(PdfPages(pdf_bytes(pdf)))
    return [word.text for word in page.words]


def shown(*pieces: tuple[float, str]) -> bytes:
    """Show pieces of text in one line, each starting at its place."""
    return b"\n".join(f"BT /F1 10 Tf {x} 700 Td ({text}) Tj ET".encode("cp1252") for x, text in pieces)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (((50, "Ver"), (66.6, "kaufer")), ["Verkaufer"]),
        (((50, "Ver"), (67.0, "kaufer")), ["Ver", "kaufer"]),
        (((50, "Ver"), (69.0, "kaufer")), ["Ver", "kaufer"]),
        (((50, "btw\\):"), (60, "6184.85")), ["btw):", "6184.85"]),
        (((50, "two words"),), ["two", "words"]),
    ],
    ids=["set widely", "wider than its letters", "apart", "set over each other", "a space"],
)
def test_a_space_that_the_file_does_not_have_splits_no_word(
    pieces: tuple[tuple[float, str], ...], words: list[str]
) -> None:
    assert words_of(shown(*pieces)) == words


def test_halves_of_a_character_are_left_out() -> None:
    """Icon fonts map their pictures beyond the first plane; half of such a character cannot be stored as text."""
    pdf = make_pdf([(50, 100, "A 123")])
    font = pdf.pages[0].Resources.Font.F1
    font.ToUnicode = pdf.make_stream(
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n"
        b"1 beginbfchar <41> <D83DDCDE> endbfchar endcmap end end"
    )
    (page,) = read_pages(PdfPages(pdf_bytes(pdf)))
    text = " ".join(word.text for word in page.words)
    assert text.encode().decode().endswith("123")


def set_across(data: bytes, quarter: int, rotation: int) -> bytes:
    """Return the PDF with its first page's content turned counterclockwise on paper of that shape, and `/Rotate`."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        page = pdf.pages[0]
        left, bottom, right, top = (float(edge) for edge in page.mediabox)
        width, height = right - left, top - bottom
        matrix = {1: (0, 1, -1, 0, top, -left), 2: (-1, 0, 0, -1, right, top), 3: (0, -1, 1, 0, -bottom, right)}[
            quarter
        ]
        page.contents_add(f"q {' '.join(map(str, matrix))} cm".encode(), prepend=True)
        page.contents_add(b"Q")
        page.MediaBox = pikepdf.Array([0, 0, *((height, width) if quarter % 2 else (width, height))])
        for name in ("/CropBox", "/TrimBox", "/BleedBox", "/ArtBox"):
            if name in page:
                del page[name]
        page.Rotate = rotation
        return pdf_bytes(pdf)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("quarter", [1, 2, 3])
def test_a_page_that_is_set_across_the_paper_is_read_as_if_it_were_upright(quarter: int, rotation: int) -> None:
    data = SAMPLE.read_bytes()
    upright, turned = (read_document(d, today=TODAY) for d in (data, set_across(data, quarter, rotation)))
    seen = (quarter - rotation // 90) % 4
    for name in FIELD_NAMES:
        one, other = getattr(upright, name), getattr(turned, name)
        assert other.value == one.value
        if one.box is not None:
            assert other.box == pytest.approx(across(one.box, seen), abs=0.002), "boxes refer to the page as sent"


def across(box: tuple[float, float, float, float], quarter: int) -> tuple[float, float, float, float]:
    """Return where a box lies on a page that is turned counterclockwise, in fractions from the top left."""
    for _ in range(quarter):
        left, top, right, bottom = box
        box = (top, 1 - right, bottom, 1 - left)
    return box


def test_the_first_pages_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words, codes and scans are looked for on the same pages; parsing a page takes milliseconds."""
    parsed: list[int] = []
    get_page = pypdfium2.PdfDocument.get_page

    def counted(document: pypdfium2.PdfDocument, index: int) -> pypdfium2.PdfPage:
        parsed.append(index)
        return get_page(document, index)

    monkeypatch.setattr(pypdfium2.PdfDocument, "get_page", counted)
    read_document(pdf_bytes(make_pdf(*[[(60, 200, "Invoice 1")]] * KEPT_PAGES)), today=TODAY)
    assert parsed == [*range(KEPT_PAGES)]
