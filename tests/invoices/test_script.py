"""Documents in a script or a language without a vocabulary are reported, and never confident."""

import datetime as dt

import pytest

from docrail.invoices.assessment.confidence import assess
from docrail.invoices.facts import Severity
from docrail.invoices.readers.header.language import language_of, unsupported_language
from docrail.invoices.readers.read import read_layout
from tests.invoices.languages import DOCS, FOREIGN
from tests.invoices.layouts import layout

TODAY = dt.date(2026, 11, 1)
SAMPLES = [
    "請求書 番号 合計金額 円",
    "发票 号码 金额合计",
    "فاتورة ضريبية رقم المبلغ",
    "Τιμολόγιο αριθμός σύνολο",
    "Счёт-фактура номер итого",
]
LATIN = ["Faktura č. 7 Žluťoučký kůň", "Fatura İŞLEM ığüşöç", "Hóa đơn số tổng cộng", "Invoice Ｔｏｔａｌ"]  # noqa: RUF001


@pytest.mark.parametrize("text", SAMPLES)
def test_a_document_in_another_script_is_reported_and_not_confident(text: str) -> None:
    read = assess(read_layout(layout([(50, 60, text), (50, 90, "INV-77"), (300, 300, "119.00 EUR")])), TODAY)
    assert "language_unsupported" in {problem.code for problem in read.problems}
    assert read.confidence <= 0.6


@pytest.mark.parametrize("text", [*LATIN, "Tax Invoice number 7 total amount 發票"])
def test_latin_and_bilingual_documents_are_not(text: str) -> None:
    read = read_layout(layout([(50, 60, text)]))
    assert "language_unsupported" not in {problem.code for problem in read.problems}


@pytest.mark.parametrize("code", FOREIGN)
def test_a_language_without_a_vocabulary_is_reported(code: str) -> None:
    page = layout([(50, 50 + 14 * row, line) for row, line in enumerate(FOREIGN[code])])
    (problem,) = unsupported_language(page)
    assert (problem.code, problem.severity) == ("language_unsupported", Severity.ERROR)
    assert language_of(page) is None


@pytest.mark.parametrize("code", DOCS)
def test_a_language_with_one_is_not(code: str) -> None:
    assert unsupported_language(layout(DOCS[code])) == ()
