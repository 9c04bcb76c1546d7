"""Read the text layer of a PDF's pages as words with boxes."""

import ctypes
import math
from collections.abc import Container, Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import pairwise, repeat
from typing import Final

import pypdfium2
from pypdfium2 import raw

from docrail.invoices.readers.layout.geometry import Projection
from docrail.invoices.readers.layout.page import Page, Word
from docrail.invoices.readers.pdf.drawn import EDGES, View, unchecked
from docrail.invoices.readers.pdf.pages import PdfPages

QUARTER_TURN = math.pi / 2
WORD_GAP = 0.28
"""Characters further apart than this share of their height are in different words, whatever the file says."""
GUESSED_GAP = 0.15
"""The same within a word where pdfium generates a space that is not in the file: letters may be spaced widely."""
WIDER_GAP = 0.1
LAST_LETTERS = 20
"""The same, as the difference to the gaps between the letters before it: of one word they are alike."""
MAX_CHARACTERS = 50_000
"""Characters of a page; a page of fine print has 10,000."""
CONTROLS = frozenset(letter for letter in map(chr, (*range(0x20), *range(0x7F, 0xA0))) if not letter.isspace())
"""Control characters that a font may print and a terminal would obey. Pdfium's hyphen mark is one of them."""
INVISIBLE = frozenset("\u00ad\u200b\ufeff\ufffe") | CONTROLS
"""Control characters, soft hyphens, zero-width spaces, and pdfium's other mark for a hyphen at a line end."""
APOSTROPHES = dict.fromkeys("\u2032\u02b9\u00b4", "\u2019")
"""Primes and an accent that some print in place of an apostrophe, as between thousands: `4\u2032292.53`."""
SPACE = " "
SURROGATES = range(0xD800, 0xE000)
"""Halves of characters beyond the basic plane, as in icon fonts: not text, and invalid Unicode alone."""

LIES = {
    1: Projection(0, 1, 0, -1, 0, 1),
    2: Projection(-1, 0, 1, 0, -1, 1),
    3: Projection(0, -1, 1, 1, 0, 0),
}
"""Maps from a page to the page as sent, both in fractions, by the quarter turns of its text."""


_Character = tuple[str, float, float, float, float, int, bool]
"""A character, its left, top, right and bottom edges, its quarter turns counterclockwise (0 to 3, before the page's own
rotation), and whether pdfium generated a space before it. A plain tuple, since a page has thousands."""
QUARTER: Final = 5
"""Index of the quarter turns."""


def read_pages(pdf: PdfPages, numbers: Container[int] | None = None) -> list[Page]:
    """Return each page's words; pages that are broken or not among `numbers` are empty."""
    every = range(1, len(pdf) + 1)
    return [read_page(pdf, number) if numbers is None or number in numbers else _empty(number) for number in every]


def read_page(pdf: PdfPages, number: int) -> Page:
    """Return the words of page `number`, from 1; empty if it is broken."""
    try:
        with pdf.page(number) as page:
            return _read_page(page, number)
    except pypdfium2.PdfiumError:
        return _empty(number)  # skip a broken page; the others still count


def _empty(number: int) -> Page:
    return Page(number, 1.0, 1.0, ())


def _read_page(page: pypdfium2.PdfPage, number: int) -> Page:
    with closing(page.get_textpage()) as text_page:
        width, height = page.get_size()
        view, count = View.of(page), min(text_page.count_chars(), MAX_CHARACTERS)
        characters = list(_characters(text_page, view, count))
        quarter = _usual_quarter(characters, view)
        turns = (quarter - view.quarter) % 4
        if turns:  # the whole page is printed sideways or upside down
            characters = list(_characters(text_page, view.of_text(quarter), count))
        size = (height, width) if turns % 2 else (width, height)
        words = tuple(map(_word, _group(characters, quarter)))
        return Page(number, *size, words, LIES.get(turns))


UNICODE_OF, BOX_OF = unchecked(raw.FPDFText_GetUnicode), unchecked(raw.FPDFText_GetLooseCharBox)
"""Called for each character of a page."""


def _characters(text_page: pypdfium2.PdfTextPage, view: View, count: int) -> Iterator[_Character | None]:
    """Yield each printed character; None for whitespace that is in the file."""
    box = raw.FS_RECTF()
    letters, edges, seen = text_page.raw, ctypes.byref(box), view.seen
    after_guess, line, quarter = False, (math.nan, math.nan), 0
    for index, text in enumerate(map(_printed, map(UNICODE_OF, repeat(letters, count), range(count)))):
        if not text:
            continue
        if text == SPACE and raw.FPDFText_IsGenerated(letters, index) == 1:
            after_guess = True
        elif text == SPACE or not BOX_OF(letters, index, edges):
            yield None
        else:
            left, top, right, bottom = EDGES.unpack(box)  # cheaper than four attributes
            if (top, bottom) != line:  # a rotation also moves the letters off their line
                line = top, bottom
                quarter = round(-raw.FPDFText_GetCharAngle(letters, index) / QUARTER_TURN) % 4  # the angle is clockwise
            left, top, right, bottom = seen(left, top, right, bottom)
            yield text, left, top, right, bottom, quarter, after_guess
            after_guess = False


@cache
def _printed(code: int) -> str:
    """Return a character as text, SPACE for all whitespace; empty if it is no text."""
    text = chr(code)
    if not code or text in INVISIBLE or code in SURROGATES:
        return ""
    return SPACE if text.isspace() else APOSTROPHES.get(text, text)


def _usual_quarter(characters: Sequence[_Character | None], view: View) -> int:
    """Return the orientation of most characters; others, such as margin notes, are ignored."""
    turns = [character[QUARTER] for character in characters if character]
    return max(dict.fromkeys(turns), key=turns.count, default=view.quarter)


def _group(characters: Sequence[_Character | None], quarter: int) -> list[list[_Character]]:
    """Split the characters with these quarter turns at whitespace, gaps, line changes and other characters."""
    groups: list[list[_Character]] = []
    before: _Character | None = None
    for character in characters:
        if character is None or character[QUARTER] != quarter:
            before = None
            continue
        if before is None or _apart(before, character, groups[-1]):
            groups.append([])
        groups[-1].append(character)
        before = character
    return groups


def _apart(before: _Character, character: _Character, word: Sequence[_Character]) -> bool:
    letter, _, top, right, bottom, _, _ = before
    text, left, _, _, low, _, after_guess = character
    height = max(bottom - top, 1.0)
    gap = left - right
    if after_guess:
        inside = letter.isalpha() and text.islower()
        if not inside or gap > GUESSED_GAP * height or (len(word) > 1 and gap - _spacing(word) > WIDER_GAP * height):
            return True
    return gap > WORD_GAP * height or gap < -2 * height or abs(low - bottom) > height / 2


def _spacing(word: Sequence[_Character]) -> float:
    """Return the mean gap between the last letters of a word."""
    gaps = [left - right for (_, _, _, right, *_), (_, left, *_) in pairwise(word[-LAST_LETTERS:])]
    return sum(gaps) / len(gaps)


def _word(letters: Sequence[_Character]) -> Word:
    texts, lefts, tops, rights, bottoms, _, _ = zip(*letters, strict=True)
    return Word("".join(texts), min(lefts), min(tops), max(rights), max(bottoms))
