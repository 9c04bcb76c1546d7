"""Documents in a script without a vocabulary are reported, and never confident."""

import datetime as dt

import pytest

from docrail.invoices.assessment.confidence import assess
from docrail.invoices.readers.read import read_layout
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
