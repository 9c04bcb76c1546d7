"""Lines are searched where a page has print, and nothing that is printed lies elsewhere."""

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageFilter

cv2 = pytest.importorskip("cv2")
np = pytest.importorskip("numpy")

from docrail.invoices.readers.ocr.parts import STRIDE, Part, printed_parts  # noqa: E402

WIDTH, HEIGHT = 28 * STRIDE, 40 * STRIDE
Box = tuple[int, int, int, int]
"""Left, top, right and bottom."""
WORDS: Sequence[Box] = ((100, 90, 300, 102), (600, 90, 640, 102), (100, 400, 110, 410), (500, 1200, 560, 1208))


def sheet(boxes: Sequence[Box], ink: int = 0, paper: int = 255, noise: float = 0.0) -> Any:
    """Return a page on which every third column of the boxes is inked, as letters are."""
    grey = np.full((HEIGHT, WIDTH), paper, np.uint8)
    for left, top, right, bottom in boxes:
        grey[top:bottom, left:right:3] = ink
    picture = Image.fromarray(grey)
    if noise:
        picture = ImageChops.add(picture, Image.effect_noise(picture.size, noise), offset=-128)
    return np.asarray(picture.filter(ImageFilter.GaussianBlur(0.5)).convert("RGB"))


def holds(part: Part, box: Box) -> bool:
    left, top, right, bottom = box
    return part.left < left and part.top < top and right < part.right and bottom < part.bottom


@pytest.mark.parametrize(
    ("ink", "paper", "noise"),
    [(0, 255, 0), (0, 255, 16), (200, 255, 0), (255, 30, 0), (90, 210, 8)],
    ids=["black", "a noisy scan", "pale", "white on black", "grey paper"],
)
def test_all_print_is_in_a_part_with_white_around_it(ink: int, paper: int, noise: float) -> None:
    parts = printed_parts(sheet(WORDS, ink, paper, noise))
    assert all(any(holds(part, word) for part in parts) for word in WORDS)
    assert sum((part.bottom - part.top) * (part.right - part.left) for part in parts) < WIDTH * HEIGHT / 3


def test_parts_have_whole_strides_and_do_not_overlap() -> None:
    chance = random.Random(7)
    for _ in range(20):
        corners = [(chance.randrange(1, WIDTH - 100), chance.randrange(1, HEIGHT - 30)) for _ in range(6)]
        boxes = [(left, top, left + 80, top + 12) for left, top in corners]
        parts = printed_parts(sheet(boxes))
        assert all(side % STRIDE == 0 for part in parts for side in part)
        assert all(0 <= part.top < part.bottom <= HEIGHT and 0 <= part.left < part.right <= WIDTH for part in parts)
        assert all(one.bottom <= other.top for one, other in pairwise(parts))
        assert all(any(holds(part, box) for part in parts) for box in boxes)


def test_a_full_page_is_one_part() -> None:
    rows = [(40, top, WIDTH - 40, top + 12) for top in range(40, HEIGHT - 40, 20)]
    assert printed_parts(sheet(rows)) == [Part(0, HEIGHT, 0, WIDTH)]


def test_plain_paper_has_no_part() -> None:
    assert printed_parts(sheet(())) == []
    assert printed_parts(sheet((), noise=8)) == []
