"""Picture files of every kind become upright pages in colour, and broken ones a clear refusal."""

from collections.abc import Sequence

import pytest
from PIL import Image

from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.pdf.images import KEPT_PIXELS, open_pictures
from tests.invoices.pictures import image_bytes, oriented, png_that_claims

WHITE = (255, 255, 255)
CORNER = Image.new("RGB", (60, 30), "white")
CORNER.paste("black", (0, 0, 30, 10))
"""Black in its upper left corner."""


def pages(data: bytes, max_pages: int = 5) -> list[Image.Image]:
    return list(open_pictures(data, max_pages))


def corners(page: Image.Image) -> Sequence[bool]:
    """Return which corners are black: upper left, upper right, lower left, lower right."""
    right, bottom = page.width - 2, page.height - 2
    return [sum(page.getpixel(at)) < 200 for at in ((2, 2), (right, 2), (2, bottom), (right, bottom))]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP"])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "I;16"])
def test_every_kind_and_colour_is_seen_as_it_looks(kind: str, mode: str) -> None:
    grey = CORNER.convert("I").point(lambda level: level * 128)
    try:
        data = image_bytes(grey.convert("I;16") if mode == "I;16" else CORNER.convert(mode), kind)
    except (OSError, ValueError):
        pytest.skip(f"{kind} cannot hold {mode}")
    (page,) = pages(data)
    assert (page.mode, page.size) == ("RGB", (60, 30))
    assert corners(page) == [True, False, False, False]


@pytest.mark.parametrize(
    ("orientation", "black"), [(1, 0), (2, 1), (3, 3), (4, 2), (5, 0), (6, 1), (7, 3), (8, 2)], ids=str
)
def test_exif_says_where_the_top_is(orientation: int, black: int) -> None:
    (page,) = pages(oriented(CORNER, orientation))
    assert corners(page).index(True) == black
    assert page.size == ((30, 60) if orientation > 4 else (60, 30))


def test_a_tiff_is_turned_once() -> None:
    exif = Image.Exif()
    exif[274] = 6
    (page,) = pages(image_bytes(CORNER, "TIFF", exif=exif))
    assert (page.size, corners(page)) == ((30, 60), [False, True, False, False])


def test_transparent_pixels_are_paper() -> None:
    (page,) = pages(image_bytes(Image.new("RGBA", (20, 20), (0, 0, 0, 0))))
    assert page.getpixel((10, 10)) == WHITE


def test_a_moving_picture_has_one_page() -> None:
    moving = image_bytes(CORNER, "GIF", save_all=True, append_images=[CORNER.rotate(180)])
    assert len(pages(moving)) == 1


def test_a_preview_in_a_tiff_is_no_page() -> None:
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    preview = CORNER.resize((6, 3))
    tags = ImageFileDirectory_v2()
    tags[254] = 1
    preview.encoderinfo = {"tiffinfo": tags}
    data = image_bytes(CORNER, "TIFF", save_all=True, append_images=[preview, CORNER])
    assert [page.size for page in pages(data)] == [(60, 30), (60, 30)]


def test_a_large_scan_is_read_with_fewer_dots() -> None:
    (page,) = pages(image_bytes(Image.new("1", (4960, 7016), 1), "TIFF", compression="group4"))
    assert page.width * page.height == pytest.approx(KEPT_PIXELS, rel=0.01)


@pytest.mark.parametrize("size", [(8_000, 5_100), (30_000, 30_000), (2_000_000_000, 2)])
def test_a_bomb_is_not_unpacked(size: tuple[int, int]) -> None:
    with pytest.raises(UnreadableDocument, match="300 dots per inch") as caught:
        pages(png_that_claims(*size))
    assert caught.value.code == "too_large"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_half_a_file_is_damaged_or_has_a_page(kind: str, share: float) -> None:
    noise = Image.effect_noise((90, 60), 80)
    data = image_bytes(noise, kind)
    assert outcome(data[: int(len(data) * share)]) in ("damaged", (90, 60))


def outcome(data: bytes) -> object:
    try:
        return pages(data)[0].size
    except UnreadableDocument as error:
        return error.code if "Send it again" in error.message else error.message
