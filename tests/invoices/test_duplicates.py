"""The same invoice again is an error, one like it a warning, and a credit note is neither."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.invoices.assessment.duplicates import Seen, find_duplicates, number_key, one_edit_apart, seen_of
from docrail.invoices.facts import DocumentType, Severity
from tests.invoices.judged import IBAN, OTHER_IBAN, OTHER_VAT_ID, VAT_ID, sound

OWN = Seen(
    "own", "1", DocumentType.INVOICE, "re20260017", VAT_ID, IBAN, "mustergmbh", Decimal("119.00"), dt.date(2026, 10, 1)
)
ELSE: dict[str, Any] = {
    "document_id": "other",
    "sha256": "2",
    "number_key": "x9999",
    "vat_id": OTHER_VAT_ID,
    "iban": OTHER_IBAN,
    "name_key": "other",
    "total": Decimal(1),
    "issued_on": dt.date(2020, 1, 1),
}
"""Nothing is the same."""


def codes(own: Seen, *others: Seen) -> dict[str, Severity]:
    return {problem.code: problem.severity for problem in find_duplicates(own, others)}


def but(**same: Any) -> Seen:
    """Return a document that is like ours only in what is given."""
    return replace(OWN, **ELSE | same)


NUMBER, TOTAL, DAY = {"number_key": OWN.number_key}, {"total": OWN.total}, {"issued_on": dt.date(2026, 10, 6)}
VENDOR, ACCOUNT, NAME = {"vat_id": VAT_ID}, {"vat_id": None, "iban": IBAN}, {"vat_id": None, "name_key": "mustergmbh"}
EDITED = {"number_key": "re20260018"}
AGAIN, ALIKE = {"duplicate": Severity.ERROR}, {"near_duplicate": Severity.WARNING}


@pytest.mark.parametrize(
    ("same", "found"),
    [
        ({"sha256": "1"}, AGAIN),
        (NUMBER | VENDOR, AGAIN),
        (NUMBER | ACCOUNT, AGAIN),
        (NUMBER | NAME, AGAIN),
        (NUMBER | {"iban": IBAN, "name_key": "mustergmbh"}, {}),
        (NUMBER | VENDOR | {"document_type": DocumentType.CREDIT_NOTE}, {}),
        ({"sha256": "1", "came_later": True}, ALIKE),
        (NUMBER | VENDOR | {"came_later": True}, ALIKE),
        (NUMBER | TOTAL, ALIKE),
        (NUMBER, {}),
        (VENDOR | TOTAL | DAY, ALIKE),
        (ACCOUNT | TOTAL | DAY, ALIKE),
        (VENDOR | TOTAL | {"issued_on": dt.date(2026, 10, 7)}, {}),
        (VENDOR | TOTAL | {"issued_on": None}, {}),
        (TOTAL | DAY, {}),
        (VENDOR | DAY, {}),
        (EDITED | TOTAL, ALIKE),
        (EDITED | TOTAL | {"document_type": DocumentType.CREDIT_NOTE}, {}),
        (NUMBER | VENDOR | {"document_type": DocumentType.RECEIPT}, AGAIN),
        (EDITED, {}),
        ({"number_key": "re20260028", "total": OWN.total}, {}),
        ({"total": None, "number_key": None}, {}),
        ({}, {}),
    ],
)
def test_likeness(same: dict[str, Any], found: dict[str, Severity]) -> None:
    assert codes(OWN, but(**same)) == found


def test_missing_values_are_not_equal() -> None:
    nothing = Seen("own")
    assert codes(nothing, Seen("other")) == {}


def test_a_document_is_no_duplicate_of_itself() -> None:
    assert codes(OWN, OWN) == {}


def test_short_numbers_are_not_compared_by_edits() -> None:
    assert codes(replace(OWN, number_key="17"), but(number_key="18", **TOTAL)) == {}


def test_messages_name_the_documents_but_not_all_of_many() -> None:
    [problem] = find_duplicates(OWN, [but(document_id=f"doc_{n}", **NUMBER | VENDOR) for n in range(5)])
    assert problem.message == (
        "The same invoice is already here as documents doc_0, doc_1, doc_2 and 2 more. Pay one of them only."
    )
    [problem] = find_duplicates(OWN, [but(**NUMBER | TOTAL)])
    assert problem.message.startswith("An invoice like this one is here as document other. ")


@pytest.mark.parametrize(
    ("number", "key"), [("RE-2026/0017", "re20260017"), (" 000 42", "42"), ("É1", "e1"), ("---", None), (None, None)]
)
def test_numbers_are_compared_by_letters_and_digits(number: str | None, key: str | None) -> None:
    assert number_key(number) == key


def test_long_texts_are_cut_to_what_an_index_takes() -> None:
    seen = seen_of(sound(invoice_number="x" * 9999, vendor_name="y" * 9999, iban="z" * 9999))
    assert {len(key or "") for key in (seen.number_key, seen.name_key, seen.iban)} == {200}


TEXT = st.text("ab1", min_size=1, max_size=8)


@given(TEXT, st.integers(0, 8), st.sampled_from("xyz"))
def test_one_edit_is_seen_either_way(text: str, at: int, letter: str) -> None:
    at = min(at, len(text) - 1)
    for edited in (text[:at] + letter + text[at:], text[:at] + letter + text[at + 1 :]):
        assert one_edit_apart(text, edited)
        assert one_edit_apart(edited, text)


@given(TEXT, TEXT)
def test_two_texts_are_one_edit_apart_if_a_slow_search_says_so(one: str, other: str) -> None:
    letters = set("ab1")
    edits = {one[:i] + one[i + 1 :] for i in range(len(one))}
    edits |= {one[:i] + c + one[i + d :] for i in range(len(one) + 1) for c in letters for d in (0, 1)}
    assert one_edit_apart(one, other) == (other in edits - {one})
