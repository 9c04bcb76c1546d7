"""The text layer's characters become the words that a person sees, however the file spaces them."""

import pytest

from invoices.readers.pdf_words import read_pages
from tests.invoices.documents import make_pdf, pdf_bytes


def words_of(content: bytes) -> list[str]:
    pdf = make_pdf([])
    pdf.pages[0].Contents = pdf.make_stream(content)
    (page,) = read_pages(pdf_bytes(pdf))
    return [word.text for word in page.words]


def shown(*pieces: tuple[float, str]) -> bytes:
    """Show pieces of text in one line, each starting at its place."""
    return b"\n".join(f"BT /F1 10 Tf {x} 700 Td ({text}) Tj ET".encode("cp1252") for x, text in pieces)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (((50, "Ver"), (66.6, "kaufer")), ["Verkaufer"]),
        (((50, "Ver"), (69.0, "kaufer")), ["Ver", "kaufer"]),
        (((50, "btw\\):"), (60, "6184.85")), ["btw):", "6184.85"]),
        (((50, "two words"),), ["two", "words"]),
    ],
    ids=["set widely", "apart", "set over each other", "a space"],
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
    (page,) = read_pages(pdf_bytes(pdf))
    text = " ".join(word.text for word in page.words)
    assert text.encode().decode().endswith("123")
