"""A picture file as a PDF shows what the readers see, and never more than a request can take."""

import io
from collections.abc import Callable
from functools import partial

import pypdfium2
import pytest
from PIL import Image, ImageChops, ImageStat

from docrail.invoices.problems import Unreadable, UnreadableDocument
from docrail.invoices.readers.pdf.from_pictures import MOST_PIXELS, pictures_as_pdf
from tests.invoices.pictures import draw


def tiff(*pages: Image.Image) -> bytes:
    written = io.BytesIO()
    pages[0].save(written, "TIFF", save_all=True, append_images=pages[1:], compression="tiff_lzw")
    return written.getvalue()


def test_it_shows_every_page_as_it_is() -> None:
    upright = draw(dots_per_inch=100).convert("RGB")
    pages = [upright, upright.rotate(90, expand=True)]
    shown = pypdfium2.PdfDocument(pictures_as_pdf(tiff(*pages), 50))
    assert len(shown) == 2
    for number, page in enumerate(pages):
        drawn = shown[number].render(scale=200 / 72).to_pil().convert("RGB").resize(page.size)
        assert ImageStat.Stat(ImageChops.difference(page, drawn).convert("L")).mean[0] < 2


def test_a_page_is_drawn_no_finer_than_it_helps() -> None:
    shown = pypdfium2.PdfDocument(pictures_as_pdf(tiff(Image.new("L", (3000, 3000), "white")), 50))
    width, height = (side * 200 / 72 for side in shown[0].get_size())
    assert 0.99 * MOST_PIXELS < width * height <= MOST_PIXELS


@pytest.mark.parametrize(
    ("page", "count", "problem"),
    [
        (partial(Image.effect_noise, (2000, 2000), 90), 12, "more than 12 MB"),
        (partial(Image.new, "L", (1, 24_000_000)), 1, "Page 1 is too narrow"),
    ],
)
def test_invalid_or_too_many_pages_are_refused(page: Callable[[], Image.Image], count: int, problem: str) -> None:
    data = tiff(*[page()] * count)
    with pytest.raises(UnreadableDocument, match=problem) as refused:
        pictures_as_pdf(data, 50)
    assert refused.value.code == Unreadable.TOO_LARGE
