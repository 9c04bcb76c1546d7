"""What an OCR confuses is corrected where a checksum or the characters around decide, and nowhere else."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest

from docrail.invoices.assessment.confidence import assess
from docrail.invoices.readers.layout.page import Page, Word
from docrail.invoices.readers.ocr.repair import repair
from docrail.invoices.readers.read import read_text
from tests.invoices.layouts import page, table


def repaired(*texts: str) -> list[str]:
    """Return the words of one printed line, corrected."""
    words, left = [], 10.0
    for text in texts:
        words.append(Word(text, left, 100, left + 6 * len(text), 110, 0.9))
        left = words[-1].right + 3
    return [word.text for word in repair(Page(1, 595, 842, tuple(words))).words]


@pytest.mark.parametrize(
    ("read", "right"),
    [
        (["DE02120300000000202O51"], "DE02120300000000202051"),
        (["DEO2", "1203", "0000", "0000", "2O2O", "5l"], "DE02120300000000202051"),
        (["IBAN:DE02", "I203", "0000", "0000", "2020", "51"], "IBAN:DE02120300000000202051"),
        (["NL91", "A8NA", "0417", "1643", "00"], "NL91ABNA0417164300"),
        (["DE02120300000202051"], "DE02120300000000202051"),
    ],
    ids=["one letter", "in groups", "after its label", "a letter of the bank", "lost zeros"],
)
def test_an_iban_is_corrected_if_its_check_digits_say_so(read: list[str], right: str) -> None:
    assert repaired(*read) == [right]


@pytest.mark.parametrize(
    "read",
    [
        ["DE02120300000000202052"],
        ["DE03", "1203", "0000", "0000", "2020", "5O"],
        ["GB29", "NWBK", "6016", "1331", "9268", "19"],
        ["DE136695977"],
        ["FR83404833048"],
        ["BESO", "DE02", "Gesamt"],
        ["CH46", "0990", "7000", "1234", "7658", "1"],
    ],
    ids=["wrong digit", "still wrong", "right in groups", "wrong vat id", "right vat id", "no code", "its end apart"],
)
def test_no_code_is_made_up(read: list[str]) -> None:
    assert repaired(*read) == read


def test_an_iban_with_lost_digits_is_uncertain() -> None:
    """Its check digits found the lost ones: they cannot speak for it as well."""
    lost = ("DE02120300000202051", "DE0212030000000202051.")
    for read, sure in (("DE02120300000000202O51", True), *((text, False) for text in lost)):
        word = Word(read, 10, 100, 150, 110, 0.9)
        [right] = repair(Page(1, 595, 842, (word,))).words
        assert (right.text, (right.score or 0) > 0.5) == ("DE02120300000000202051", sure)


def test_a_vat_id_is_corrected_if_its_check_digit_says_so() -> None:
    assert repaired("USt-IdNr.:", "DE1366959T6", "DE13669597G") == ["USt-IdNr.:", "DE1366959T6", "DE136695976"]
    assert repaired("ATU1358S627") == ["ATU13585627"]
    assert repaired("NL809114744801") == ["NL809114744B01"]


@pytest.mark.parametrize(
    ("read", "right"),
    [
        ("Sl-2024-6168", "SI-2024-6168"),
        ("12,5O", "12,5O"),
        ("1O,00", "10,00"),
        ("2O26", "2026"),
        ("1.l19,00", "1.119,00"),
        ("lBAN", "IBAN"),
        ("Gl0bal", "Gl0bal"),
        ("Il", "Il"),
        ("S.r.1.", "S.r.l."),
        ("S.r.I", "S.r.l"),
        ("S.r.1x", "S.r.1x"),
        ("All", "All"),
        ("Ollie", "Ollie"),
        ("0.0.", "o.o."),
        ("10.0.", "10.0."),
        ("132,.76", "132.76"),
        ("1.,50", "1,50"),
        ("1...50", "1...50"),
        ("8..17", "8..17"),
    ],
)
def test_a_letter_among_digits_or_capitals_is_what_they_are(read: str, right: str) -> None:
    assert repaired(read) == [right]


@pytest.mark.parametrize(
    ("read", "right"),
    [
        ("Totel:", "Total:"),
        ("TOTEL", "TOTAL"),
        ("lnvoice", "Invoice"),
        ("Rechnungsnummor:", "Rechnungsnummer:"),
        ("lnvoioe", "lnvoioe"),
        ("Hotel", "Hotel"),
        ("NS.", "No."),
        ("Nr.", "Nr."),
        ("Hotels", "Hotels"),
        ("12345", "12345"),
        ("5umme", "Summe"),
    ],
)
def test_one_wrong_letter_hides_no_label(read: str, right: str) -> None:
    assert repaired(read) == [right]


def test_a_word_that_was_read_surely_is_left_alone() -> None:
    word = Word("Totel", 10, 100, 40, 110, 0.999)
    assert repair(Page(1, 595, 842, (word,))).words == (word,)


def test_a_corrected_code_covers_its_groups() -> None:
    words = (Word("DEO2", 10, 100, 40, 110, 0.8), Word("120300000000202051", 43, 99, 200, 111, 1.0))
    (code,) = repair(Page(1, 595, 842, words)).words
    assert (code.left, code.top, code.right, code.bottom, code.score) == (10, 99, 200, 111, 0.9)


@pytest.mark.parametrize(
    ("read", "right"),
    [
        ("WorId", "World"),
        ("McIntosh", "McIntosh"),
        ("4:759.20", "4,759.20"),
        ("1.240.78", "1.240,78"),
        ("1,001,240,78", "1,001,240.78"),
        ("1.240.780", "1.240.780"),
        ("01.240.78.1", "01.240.78.1"),
        ("1:250,00", "1.250,00"),
        ("10:45", "10:45"),
    ],
)
def test_a_letter_or_a_sign_that_cannot_be_is_corrected(read: str, right: str) -> None:
    assert repaired(read) == [right]


@pytest.mark.parametrize(
    ("read", "right"),
    [
        (["LEAF", "SBN", "BHD"], ["LEAF", "SDN", "BHD"]),
        (["LEAF", "SDN", "HD"], ["LEAF", "SDN", "BHD"]),
        (["Leaf", "Sdn.", "8hd"], ["Leaf", "Sdn.", "Bhd"]),
        (["LEAF", "(M)", "BHD"], ["LEAF", "(M)", "BHD"]),
        (["SBN", "BHB"], ["SBN", "BHB"]),
    ],
    ids=["wrong", "lost", "small", "something else", "both unsure"],
)
def test_a_legal_form_is_corrected_next_to_its_other_half(read: list[str], right: list[str]) -> None:
    assert repaired(*read) == right


def test_a_wavy_dash_between_figures_is_one() -> None:
    assert repaired("05~05-17", "a~b") == ["05-05-17", "a~b"]


@pytest.mark.parametrize(
    ("read", "right"),
    [
        ("INVOICEJS-40918", ["INVOICE", "JS-40918"]),
        ("Rechnung2026-7", ["Rechnung", "2026-7"]),
        ("Invoices2026", ["Invoices2026"]),
        ("invoice2026@muster.example", ["invoice2026@muster.example"]),
        ("N°SER26-IA-0482", ["N°", "SER26-IA-0482"]),
        ("N°TVA", ["N°TVA"]),
        ("2025-09-2311:42:08", ["2025-09-23", "11:42:08"]),
        ("2025-09-2311", ["2025-09-2311"]),
    ],
)
def test_a_label_and_the_number_that_touches_it_are_two_words(read: str, right: list[str]) -> None:
    assert repaired(read) == right


@pytest.mark.parametrize(("read", "score"), [("PM1.00", 0.3), ("BM1,234.50", 0.3), ("RM1.00", 0.9), ("PM100", 0.9)])
def test_an_amount_with_a_broken_sign_is_a_candidate_only(read: str, score: float) -> None:
    (word,) = repair(Page(1, 595, 842, (Word(read, 10, 100, 60, 110, 0.9),))).words
    assert (word.text, word.score) == (read if score > 0.3 else f"R{read[1:]}", score)


def test_a_total_with_a_broken_sign_is_not_confident() -> None:
    lines = [*table("Total|PM1.00", edges=(300, 480)), (50, 50, "Kedai Runcit")]
    seen = page(lines)
    read = repair(replace(seen, words=tuple(replace(word, score=0.99) for word in seen.words)))
    total = assess(read_text([read]), dt.date(2026, 11, 1)).total
    assert (total.value, total.confidence < 0.6) == (Decimal("1.00"), True)
