"""Codes are looked for where pictures and small boxes are, however the page is set, and nowhere else."""

import io
from collections.abc import Callable

import pikepdf
import pypdfium2
import pytest

from docrail.invoices.readers.codes import qr
from docrail.invoices.readers.codes.code_places import CodePlace, code_places
from docrail.invoices.readers.pdf.pages import PdfPages
from tests.invoices.codes import EPC, pdf_with_code, picture_of
from tests.invoices.documents import make_pdf, pdf_bytes

SIDE = 46 * 72 / 25.4
"""Points of the drawn code, which lies 40 points from the left and the bottom of an A4 page."""


def places(data: bytes) -> list[CodePlace]:
    """Return the places on the first page."""
    document = pypdfium2.PdfDocument(data)
    found = code_places(document[0])
    document.close()
    return found


def changed(data: bytes, change: Callable[[pikepdf.Pdf], None]) -> bytes:
    """Return the PDF after `change`."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        change(pdf)
        return pdf_bytes(pdf)


def drawing(data: bytes, instructions: bytes) -> bytes:
    """Return the PDF with more drawn on its first page."""

    def add(pdf: pikepdf.Pdf) -> None:
        page = pdf.pages[0]
        page.Contents = pdf.make_stream(bytes(page.Contents.read_bytes()) + b"\n" + instructions)

    return changed(data, add)


def turned(degrees: int) -> Callable[[pikepdf.Pdf], None]:
    def turn(pdf: pikepdf.Pdf) -> None:
        pdf.pages[0].Rotate = degrees

    return turn


def cropped(pdf: pikepdf.Pdf) -> None:
    pdf.pages[0].CropBox = pikepdf.Array([20, 20, 400, 500])


def within_forms(pdf: pikepdf.Pdf) -> None:
    """Draw the page's content in a form of half its size, within another one that moves it."""
    page = pdf.pages[0]
    inner = pdf.make_stream(bytes(page.Contents.read_bytes()))
    inner.update({"/Type": pikepdf.Name.XObject, "/Subtype": pikepdf.Name.Form, "/BBox": [0, 0, 600, 850]})
    inner.Matrix, inner.Resources = pikepdf.Array([0.5, 0, 0, 0.5, 0, 0]), page.Resources
    outer = pdf.make_stream(b"q 1.6 0 0 1.6 100 200 cm /In Do Q")
    outer.update({"/Type": pikepdf.Name.XObject, "/Subtype": pikepdf.Name.Form, "/BBox": [0, 0, 600, 850]})
    outer.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(In=inner))
    page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Out=outer))
    page.Contents = pdf.make_stream(b"/Out Do")


def in_stripes(pdf: pikepdf.Pdf) -> None:
    """Draw the code as pictures of a few rows of pixels each, as some printers' drivers do."""
    picture = picture_of(EPC, module=1, margin=0)
    stripes = [picture.crop((0, top, picture.width, top + 1)) for top in range(picture.height)]
    size, drawn = SIDE / picture.height, []
    pdf.pages[0].Resources.XObject = pikepdf.Dictionary()
    for number, stripe in enumerate(stripes):
        image = pikepdf.Stream(pdf, stripe.tobytes(), Width=stripe.width, Height=1, BitsPerComponent=8)
        image.update({"/Type": pikepdf.Name.XObject, "/Subtype": pikepdf.Name.Image})
        image.ColorSpace = pikepdf.Name.DeviceGray
        pdf.pages[0].Resources.XObject[f"/S{number}"] = image
        drawn.append(f"q {SIDE} 0 0 {size} 40 {40 + SIDE - (number + 1) * size} cm /S{number} Do Q")
    pdf.pages[0].Contents = pdf.make_stream("\n".join(drawn).encode())


@pytest.mark.parametrize("as_picture", [False, True], ids=["drawn", "picture"])
def test_the_place_is_around_the_code_alone(as_picture: bool) -> None:
    (place,) = places(pdf_with_code([(50, 60, "Muster GmbH")], EPC, as_picture=as_picture))
    assert place == pytest.approx((28, 842 - 40 - SIDE - 12, 40 + SIDE + 12, 842 - 28), abs=1)


@pytest.mark.parametrize("as_picture", [False, True], ids=["drawn", "picture"])
@pytest.mark.parametrize(
    "change",
    [turned(90), turned(180), turned(270), cropped, within_forms],
    ids=["90", "180", "270", "cropped", "in forms"],
)
def test_a_code_is_found_however_the_page_is_set(change: Callable[[pikepdf.Pdf], None], as_picture: bool) -> None:
    data = changed(pdf_with_code([], EPC, as_picture=as_picture), change)
    ((code,), _) = qr.codes_of_pdf(PdfPages(data))
    assert code.text == EPC
    (place,) = places(data)
    document = pypdfium2.PdfDocument(data)
    width, height = document[0].get_size()
    document.close()
    left, top, right, bottom = code.box
    assert (left * width, top * height, right * width, bottom * height) == pytest.approx(
        (place.left + 12, place.top + 12, place.right - 12, place.bottom - 12), abs=4
    )


def test_a_code_in_stripes_is_found() -> None:
    assert [code.text for code in qr.codes_of_pdf(PdfPages(changed(pdf_bytes(make_pdf([])), in_stripes)))[0]] == [EPC]


def test_a_code_with_a_picture_on_it_is_looked_at_as_one() -> None:
    def add_logo(pdf: pikepdf.Pdf) -> None:
        page = pdf.pages[0]
        page.Resources.XObject["/Logo"] = page.Resources.XObject["/Q0"]
        drawn = bytes(page.Contents.read_bytes()) + b"\nq 12 0 0 12 100 100 cm /Logo Do Q"
        page.Contents = pdf.make_stream(drawn)

    assert len(places(changed(pdf_with_code([], EPC, as_picture=True), add_logo))) == 1


def test_the_lines_and_cells_of_a_table_are_not_searched() -> None:
    rows = "\n".join(
        f"40 {100 + row * 4} 500 2 re f 40 {100 + row * 4} m 540 {100 + row * 4} l S" for row in range(150)
    )
    assert places(drawing(pdf_bytes(make_pdf([])), rows.encode())) == []


def test_hair_lines_around_many_cells_are_not_searched() -> None:
    lines = [f"{40 + column * 60} {100 + row * 20} 0.2 20 re f" for row in range(30) for column in range(9)]
    assert places(drawing(pdf_bytes(make_pdf([])), "\n".join(lines).encode())) == []


def test_small_boxes_far_from_each_other_are_not_searched() -> None:
    ticks = [f"{40 + column * 50} {100 + row * 20} 9 9 re f" for row in range(30) for column in range(10)]
    assert places(drawing(pdf_bytes(make_pdf([])), "\n".join(ticks).encode())) == []


def test_a_drawn_code_among_small_boxes_is_found_in_its_own_place() -> None:
    ticks = "\n".join(f"{40 + column * 50} {400 + row * 20} 9 9 re f" for row in range(20) for column in range(10))
    data = drawing(pdf_with_code([], EPC), ticks.encode())
    (place,) = places(data)
    assert place.top > 842 - 300
    assert [code.text for code in qr.codes_of_pdf(PdfPages(data))[0]] == [EPC]


@pytest.mark.parametrize("modules", [1.0, 6.0], ids=["dense", "coarse"])
def test_a_drawn_code_is_found_in_any_size(modules: float) -> None:
    code = picture_of(EPC, module=1, margin=0)
    dark = [(x, y) for y in range(code.height) for x in range(code.width) if not code.getpixel((x, y))]
    boxes = (f"{60 + x * modules} {760 - y * modules} {modules} {modules} re f" for x, y in dark)
    data = drawing(pdf_bytes(make_pdf([])), "\n".join(boxes).encode())
    assert [found.text for found in qr.codes_of_pdf(PdfPages(data))[0]] == [EPC]


def test_a_code_drawn_in_slices_of_its_modules_is_found() -> None:
    code, side = picture_of(EPC, module=1, margin=0), 2.0
    dark = [(x, y) for y in range(code.height) for x in range(code.width) if not code.getpixel((x, y))]
    slices = (
        f"{60 + x * side} {760 - y * side + part * side / 6} {side} {side / 6} re f"
        for x, y in dark
        for part in range(6)
    )
    data = drawing(pdf_bytes(make_pdf([])), "\n".join(slices).encode())
    assert [found.text for found in qr.codes_of_pdf(PdfPages(data))[0]] == [EPC]


def test_a_picture_outside_the_page_is_not_searched() -> None:
    data = pdf_with_code([], EPC, as_picture=True)
    assert places(changed(data, lambda pdf: pdf.pages[0].__setattr__("MediaBox", [300, 300, 595, 842]))) == []


def test_many_pictures_are_looked_at_as_a_page() -> None:
    stamps = "\n".join(f"q 2 0 0 2 {10 + number * 8} 500 cm /Q0 Do Q" for number in range(60))
    assert places(drawing(pdf_with_code([], EPC, as_picture=True), stamps.encode())) == [(0, 0, 595, 842)]
