"""Correct OCR confusions that the context or check digits resolve.

No code is invented: it is changed only if its check digits are wrong as read and valid after the change.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean

from stdnum.eu import vat as stdnum_vat

from docrail.invoices.readers.layout.geometry import around
from docrail.invoices.readers.layout.page import Page, Word, lay_out
from docrail.invoices.readers.parties.accounts import IBAN_LENGTHS
from docrail.invoices.values.folding import fold
from docrail.invoices.values.identifiers import compact, iban_valid

DIGITS = str.maketrans("ODQIL|SBZG", "0001115826")
"""Digits, by the capitals they are mistaken for."""
LETTERS = str.maketrans("01|58", "OIISB")
DASH_BETWEEN = re.compile(r"(?<=\d)[~_](?=\d\d?\b)")
ZERO_BETWEEN = re.compile(r"(?<=\d)[Oo](?=[\d.,])|(?<=\d[.,])[Oo](?=\d)")
ONE_BETWEEN = re.compile(r"(?<=\d)[Il|](?=[\d.,])|(?<=\d[.,])[Il|](?=\d)")
WORD = re.compile(r"[^\W_]{5,}")
SMALL_L = re.compile(r"(?<=[A-Z])l(?=[A-Z\d/-])|(?<![A-Za-z])l(?=[A-Z]{2})")
"""A lowercase L next to capitals is a capital I if no other letter is lowercase: "Sl-2024"."""
SMALL_L_OF_A_FORM = re.compile(r"(?<=\b[Ss]\.[rR]\.)[1I|](?=\W|$)")
"""The Italian or French `S.r.l.` does not end in a digit: "S.r.1."."""
ZEROS_OF_A_FORM = re.compile(r"^0\.0\.(?=\W*$)")
"""The Polish `Sp. z o.o.` does not end in zeros."""
CAPITAL_I = re.compile(r"(?<=[a-z]{2})I(?=[a-z])")
"""Within lowercase letters a capital I is a lowercase L: "WorId"."""
THOUSANDS = re.compile(r"(?<=\d):(?=\d{3}([.,])\d\d(?!\d))")
"""A colon before three digits and cents; times do not look like this."""
DOUBLED = re.compile(r"(?<=\d)(?:,(?=\.\d\d$)|\.(?=,\d\d$))")
"""The first of two separators before cents: `132,.76`; a range is `8..17`."""
CENTS = re.compile(r"(?<![\d.,])(\d{1,3}(?:([.,])\d{3})(?:\2\d{3})*)\2(?=\d\d(?![\d.,]))")
"""A number up to its cents: the decimal separator differs from the thousands separator."""
OTHER_SMALL = re.compile(r"[a-km-z]")
LABELS = frozenset(
    re.findall(
        r"\w+",
        "account amount balance betrag brutto conto datum facture factura factuur fattura fecha gesamtbetrag "
        "importe imponibile invoice konto montant netto nummer number payment rechnung rechnungsdatum "
        "rechnungsnummer steuer subtotal summe totaal total totale zahlbar zahlungsziel",
    )
)
"""Words of amount and field labels; one wrong letter in them would hide a value."""
GLUED = re.compile(
    rf"((?i:{'|'.join(sorted(LABELS, key=len, reverse=True))})|[Nn][°º])([A-Z]{{0,4}}[-/]?\d[\w/.-]*)"
    r"|(20\d\d-\d\d-\d\d)(\d\d:\d\d(?::\d\d)?)"
)
"""A label and its value, or a date and a time, without the space between them: `INVOICEJS-40918`."""
NUMBER = re.compile(r"^[Nn][acdesACDGQSU069]\.$")
"""Misreadings of a small "No."."""
PAIRED = ("SDN", "BHD")
"""A legal form; with so few and similar letters it is often misread."""
SURE = 0.99
"""A word with this score contains no guessed letter."""
IBAN_START = re.compile(r"^(?:[^\W\d_]*[.:])?([A-Z]{2}[\dODQIlL|SBZG]{2})")
VAT_START = re.compile(
    r"^(?:[^\W\d_]*[.:])?((?:AT|BE|BG|CZ|DE|DK|EE|EL|FI|HR|HU|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK)\S)"
)
"""VAT ids with only digits after the country, in Austria after a U, in the Netherlands around a B."""
DUTCH_B = re.compile(r"^(NL\d{9})\d(?=\d\d$)")
BANK_LETTERS = {"GB": 4, "NL": 4, "IE": 4, "BG": 4, "RO": 4, "LV": 4, "MT": 4, "IT": 1, "SM": 1}
"""Number of letters in the bank part of a country's IBANs; other IBANs are almost all digits."""
MOST_WORDS, MOST_LOST = 9, 4
"""Most groups of an IBAN, and most lost equal digits in a row: the model shortens long runs."""
GUESSED = 0.3
"""Score of a code with restored digits, which was not read whole and whose check digits are used up, and of an amount
with a corrected sign: candidates for a person."""
BROKEN_SIGN = re.compile(r"^[PBFK]M(?=\d[\d,]*\.\d\d$)")
"""Capitals that R may be read as, before M and an amount with cents: no currency is written so, `RM1.00` is."""
SHORTEST_VAT, LONGEST_VAT = 10, 14


def repair(page: Page) -> Page:
    """Return the page with corrected words; a corrected code becomes one word."""
    words = tuple(_with_sign(replace(word, text=_label(_by_neighbours(word.text), word.score))) for word in page.words)
    rows = ([w for cell in row.cells for w in cell.words] for row in lay_out([replace(page, words=words)]).rows)
    words = tuple(word for row in rows for word in _codes(_legal_forms(row)))
    return replace(page, words=tuple(part for word in words for part in _parts(word)))


def _parts(word: Word) -> tuple[Word, ...]:
    """Return a word of GLUED as two; another word unchanged."""
    match = GLUED.fullmatch(word.text)
    if match is None:
        return (word,)
    label, value = filter(None, match.groups())
    gap = (word.right - word.left) / len(word.text) / 2
    middle = word.left + 2 * gap * len(label)
    return replace(word, text=label, right=middle - gap), replace(word, text=value, left=middle + gap)


def _with_sign(word: Word) -> Word:
    text = BROKEN_SIGN.sub("RM", word.text)
    return word if text == word.text else replace(word, text=text, score=GUESSED)


def _by_neighbours(text: str) -> str:
    text = ZEROS_OF_A_FORM.sub("o.o.", SMALL_L_OF_A_FORM.sub("l", text))
    text = DOUBLED.sub("", text)
    text = CAPITAL_I.sub("l", ONE_BETWEEN.sub("1", ZERO_BETWEEN.sub("0", DASH_BETWEEN.sub("-", text))))
    text = THOUSANDS.sub(lambda match: "." if match[1] == "," else ",", text)
    text = CENTS.sub(lambda match: match[1] + ("," if match[2] == "." else "."), text)
    return text if OTHER_SMALL.search(text) else SMALL_L.sub("I", text)


def _label(text: str, score: float | None) -> str:
    """Correct one letter of an uncertain word that is otherwise a label."""
    match = WORD.search(text)
    if score is None or score >= SURE:
        return text
    if match is None:
        return NUMBER.sub("No.", text)
    seen, folded = match.group(), fold(match.group())
    like = [label for label in LABELS if _wrong_letters(label, folded) <= 1]
    if len(like) != 1 or like[0] == folded:
        return text
    right = "".join(old if same == new else new for old, same, new in zip(seen, folded, like[0], strict=True))
    if seen.isupper():
        right = right.upper()
    elif folded[0] != like[0][0]:
        right = right.capitalize()
    return text[: match.start()] + right + text[match.end() :]


def _legal_forms(words: Sequence[Word]) -> list[Word]:
    """Correct the legal form of two words if one is right."""
    right = list(words)
    for index, (one, other) in enumerate(pairwise(words)):
        read = [re.sub(r"\W", "", word.text).upper() for word in (one, other)]
        if sum(a == b for a, b in zip(read, PAIRED, strict=True)) == 1:
            for place, word, seen, form in zip((index, index + 1), (one, other), read, PAIRED, strict=True):
                if word.score is not None and word.score < SURE and _one_letter_off(seen, form):
                    right[place] = replace(word, text=form if word.text.isupper() else form.capitalize())
    return right


def _one_letter_off(seen: str, form: str) -> bool:
    """Return whether one letter is wrong or missing."""
    lost = {form[:place] + form[place + 1 :] for place in range(len(form))}
    return seen in lost or (len(seen) == len(form) and _wrong_letters(seen, form) == 1)


def _wrong_letters(one: str, other: str) -> int:
    """Return the number of differing letters of two words with the same length; a large number for others."""
    return sum(a != b for a, b in zip(one, other, strict=True)) if len(one) == len(other) else len(one)


def _codes(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the row's words, with each correctable code as one word."""
    index = 0
    while index < len(words):
        count, text = _iban(words[index:]) or _vat_id(words[index:]) or (1, words[index].text)
        read = words[index : index + count]
        word = read[0] if count == 1 else Word("", *around(read), round(fmean(each.score or 0.0 for each in read), 4))
        word = replace(word, text=text)
        added = _signs(text) > sum(_signs(each.text) for each in read)
        yield replace(word, score=GUESSED) if added else word
        index += count


def _signs(text: str) -> int:
    """Return the number of letters and digits; punctuation is not part of a code."""
    return sum(map(str.isalnum, text))


def _iban(words: Sequence[Word]) -> tuple[int, str] | None:
    start = IBAN_START.match(words[0].text)
    length = IBAN_LENGTHS.get(start.group(1)[:2]) if start else None
    if start is None or length is None:
        return None
    head = words[0].text[: start.start(1)]
    readings = [(count, read) for count, read in _beginnings(words, start.start(1)) if len(read) <= length]
    if any(iban_valid(read) for _, read in readings):
        return None
    whole = [(count, read) for count, read in readings if len(read) == length]
    for count, read in whole or reversed(readings):  # digits are lost only if no following word completes it
        if len(read) >= length - MOST_LOST and (right := _right_iban(read, length)):
            return count, head + right
    return None


def _right_iban(read: str, length: int) -> str | None:
    """Return the only IBAN consistent with `read` and its check digits; None if there is none or more than one."""
    bank = 4 + BANK_LETTERS.get(read[:2], 0)
    code = read[:2] + read[2:4].translate(DIGITS) + read[4:bank].translate(LETTERS) + read[bank:].translate(DIGITS)
    lost = length - len(code)
    runs = [match.end() for match in re.finditer(r"(\d)\1", code[bank:])] if lost else [0]
    tries = {code[: bank + end] + code[bank + end - 1] * lost + code[bank + end :] for end in runs}
    right = [attempt for attempt in sorted(tries) if iban_valid(attempt)]
    return right[0] if len(right) == 1 else None


def _vat_id(words: Sequence[Word]) -> tuple[int, str] | None:
    start = VAT_START.match(words[0].text)
    if start is None:
        return None
    head = words[0].text[: start.start(1)]
    for count, read in _beginnings(words, start.start(1)):
        if stdnum_vat.is_valid(read) or len(read) > LONGEST_VAT:
            return None
        digits = 3 if read.startswith("ATU") else 2
        right = DUTCH_B.sub(r"\1B", read[:digits] + read[digits:].translate(DIGITS))
        if len(read) >= SHORTEST_VAT and stdnum_vat.is_valid(right):
            return count, head + right
    return None


def _beginnings(words: Sequence[Word], start: int) -> Iterator[tuple[int, str]]:
    """Yield the number of words taken and their text from `start` on, without spaces."""
    for count in range(1, min(len(words), MOST_WORDS) + 1):
        text = " ".join(word.text for word in words[:count])[start:].rstrip(".,;")
        yield count, compact(text) or ""
