"""What a queue shows of a document in one line, whatever the document says."""

import pytest

from docrail.invoices.assessment.review_summary import document_title

SUMMARY = {"vendor": "Muster AG", "number": "RE-17", "date": "2026-11-01", "total": "119.00", "currency": "EUR"}


@pytest.mark.parametrize(
    ("change", "title"),
    [
        ({}, "Muster AG, RE-17, 119.00 EUR"),
        ({"vendor": None}, "RE-17, 119.00 EUR"),
        ({"currency": None}, "Muster AG, RE-17, 119.00"),
        ({"total": None}, "Muster AG, RE-17"),
        ({"vendor": None, "number": None, "total": None}, "doc_1"),
        ({"vendor": "Muster\x00\n\u202eGA  &co", "total": None}, "Muster GA &co, RE-17"),
        ({"vendor": "\u202e\ud800", "number": None, "total": None}, "doc_1"),
    ],
    ids=["all", "no vendor", "no currency", "no total", "nothing", "what is not printed", "nothing that is printed"],
)
def test_a_document_is_titled_by_what_is_known_of_it(change: dict[str, str | None], title: str) -> None:
    assert document_title({**SUMMARY, **change}, "doc_1") == title


def test_a_title_is_no_longer_than_a_line() -> None:
    title = document_title({"vendor": "A" * 10_000, "number": "9" * 10_000, "total": "1" * 500}, "doc_1")
    assert len(title) < 250
    assert [part[-1] for part in title.split(", ")] == ["…", "…", "…"]
