"""Open images of invoices: PNG, JPEG, every page of a TIFF, the first frame of GIF, WebP and BMP."""

import io
import struct
import warnings
import zlib
from collections.abc import Container, Iterator
from contextlib import contextmanager

from PIL import Image, TiffImagePlugin, UnidentifiedImageError

from docrail.invoices.problems import Unreadable, UnreadableDocument

FORMATS = ("PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP")
MAX_PIXELS = 40_000_000
"""Limit for an image as sent. A4 at 600 dpi has 35 million pixels."""
KEPT_PIXELS = 9_000_000
"""Size of an image as read. A4 at 300 dpi has 8.7 million pixels; more make no letter clearer."""
LEAST_SIDE = 8
"""Fewest pixels of a side: a narrower picture is only a line."""
BROKEN = (OSError, SyntaxError, ValueError, TypeError, LookupError, EOFError, ArithmeticError, struct.error, zlib.error)
"""Exceptions of Pillow's decoders for invalid files."""
ORIENTATION = 274
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""The inverse of each orientation in EXIF and TIFF."""
SUBFILE_TYPE, REDUCED = 254, 1
"""TIFF tag for the kind of an image in the file, and its bit for a small preview of another image."""


def open_pictures(data: bytes, max_pages: int, numbers: Container[int] | None = None) -> Iterator[Image.Image]:
    """Yield each page as upright RGB pixels, oriented by its EXIF data; with `numbers`, from 1, only those pages.

    Raises: UnreadableDocument for damaged files, too many pages, and images of more than MAX_PIXELS.
    """
    for number, picture in _found(data, max_pages):
        if numbers is None or number in numbers:
            with _own_words():
                page = _page(picture)
            yield page


def bounded(picture: Image.Image, most_pixels: int) -> Image.Image | None:
    """Return the picture, made smaller if it is larger than that; None if only a line would remain."""
    scale = min(1.0, (most_pixels / (picture.width * picture.height)) ** 0.5)
    size = int(picture.width * scale), int(picture.height * scale)
    if min(size) < LEAST_SIDE:
        return None
    return picture if size == picture.size else picture.resize(size, Image.Resampling.BOX, reducing_gap=2.0)


def count_pictures(data: bytes, max_pages: int) -> int:
    """Return the number of pages, without decoding them. Raises: UnreadableDocument."""
    return sum(1 for _ in _found(data, max_pages))


def _found(data: bytes, max_pages: int) -> Iterator[tuple[int, Image.Image]]:
    """Yield each page with its number, not decoded; valid until the next one."""
    with _own_words():
        picture = Image.open(io.BytesIO(data), formats=FORMATS)
    pages = 0
    for index in range(2 * max_pages + 1):  # each page may have a preview
        with _own_words():
            if index and not _has_page(picture, index):
                return
            if _is_preview(picture):
                continue
            pages += 1
            if pages > max_pages:
                raise _too_many(max_pages)
        yield pages, picture


def _has_page(picture: Image.Image, index: int) -> bool:
    """Seek to a TIFF's next page. Other formats are animations, of which only the first frame counts."""
    if not isinstance(picture, TiffImagePlugin.TiffImageFile):
        return False
    try:
        picture.seek(index)
    except EOFError:
        return False
    return True


def _is_preview(picture: Image.Image) -> bool:
    if not isinstance(picture, TiffImagePlugin.TiffImageFile):
        return False
    kind = picture.tag_v2.get(SUBFILE_TYPE, 0)
    return isinstance(kind, int) and bool(kind & REDUCED)


def _too_many(max_pages: int) -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.TOO_MANY_PAGES,
        f"The picture has more than {max_pages} pages, the most that are accepted. "
        "Send the invoice alone, without its attachments.",
    )


def _page(picture: Image.Image) -> Image.Image:
    width, height = picture.size
    if width * height > MAX_PIXELS:
        raise _too_large(f"{width * height / 1e6:.0f} megapixels")
    shrink = min(1.0, (KEPT_PIXELS / (width * height)) ** 0.5)
    size = max(1, round(width * shrink)), max(1, round(height * shrink))
    picture.draft(None, size)  # a JPEG is decoded at no more than this size
    picture.load()
    turn = TURNS.get(picture.getexif().get(ORIENTATION, 1))  # Pillow has already rotated a TIFF and reset this
    page = _on_white(picture).resize(size, reducing_gap=2.0)
    return page if turn is None else page.transpose(turn)


def _on_white(page: Image.Image) -> Image.Image:
    """Return the page in RGB; transparent areas become white."""
    if page.mode.startswith("I"):
        # scale the grey levels to the darkest and brightest; convert() would clip them
        low, high = (float(level) for level in page.getextrema())  # type: ignore[arg-type]  # one band: two numbers
        scale = 255 / max(1.0, high - low)
        page = page.convert("F").point(lambda grey: grey * scale - low * scale).convert("L")
    if not page.has_transparency_data:
        return page.convert("RGB")
    layer = page.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")


@contextmanager
def _own_words() -> Iterator[None]:
    """Translate Pillow's errors into UnreadableDocument."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except UnreadableDocument:
        raise
    except Image.DecompressionBombError as error:
        raise _too_large("hundreds of megapixels") from error
    except BROKEN as error:
        found = "its header is invalid" if isinstance(error, UnidentifiedImageError) else str(error)[:200]
        raise UnreadableDocument(
            Unreadable.DAMAGED,
            f"The file begins like a picture but is damaged ({found or type(error).__name__}). "
            "Send it again; if it opens on your screen, save it as a new PNG and send that.",
        ) from error


def _too_large(found: str) -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.TOO_LARGE,
        f"The picture has {found}; at most {MAX_PIXELS // 1_000_000} megapixels are read. "
        "Scan the invoice with 300 dots per inch.",
    )
