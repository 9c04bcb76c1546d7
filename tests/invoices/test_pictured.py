"""Receipts and invoices as photographs and scans are read at least as well as they have been once."""

from collections import Counter
from collections.abc import Sequence

import pytest

from bench.extraction import PICTURED_FOLDER, is_receipt
from bench.extraction_scores import CONFIDENT, Truth, judge, scores
from docrail.invoices.assessment.straight_through import WITHOUT_HISTORY, decide
from tests.invoices.scored import MOST_ERROR, Scored

pytestmark = pytest.mark.slow

PICTURED = Scored(PICTURED_FOLDER)
RECEIPTS = [truth for truth in PICTURED.truths if is_receipt(truth)]
INVOICES = [truth for truth in PICTURED.truths if not is_receipt(truth)]
LEAST_RIGHT, MOST_WRONG = {"receipts": 0.95, "invoices": 0.98}, {"receipts": 0.025, "invoices": 0.006}
MOST_UNKNOWN_RECEIPTS = 0.5
"""Share of the receipts that pass for invoices: some call themselves so, or have no mark of a till."""


@pytest.mark.parametrize(("part", "truths"), [("receipts", RECEIPTS), ("invoices", INVOICES)])
def test_fields_are_right_and_hardly_any_is_wrong(part: str, truths: Sequence[Truth]) -> None:
    outcomes = Counter(outcome for truth in truths for _, outcome in judge(truth, PICTURED.reading(truth.file)))
    assert outcomes["right"] >= LEAST_RIGHT[part] * outcomes.total()
    assert outcomes["wrong"] <= MOST_WRONG[part] * outcomes.total()


@pytest.mark.parametrize("truths", [RECEIPTS, INVOICES], ids=["receipts", "invoices"])
def test_confidences_are_worth_what_they_claim(truths: Sequence[Truth]) -> None:
    assert PICTURED.calibration_error(truths) <= MOST_ERROR


@pytest.mark.parametrize("truth", PICTURED.truths, ids=lambda truth: str(truth.file))
def test_every_total_is_right(truth: Truth) -> None:
    assert PICTURED.outcome(truth, "total") == "right"


def test_no_confident_value_is_wrong() -> None:
    readings = [(truth, PICTURED.reading(truth.file)) for truth in PICTURED.truths]
    confident, wrong = scores(readings)["all", ""].confident()
    assert confident
    assert not wrong, f"values with a confidence of {CONFIDENT} or more"


def test_none_passes_without_a_person() -> None:
    readings = {truth.file: PICTURED.reading(truth.file) for truth in PICTURED.truths}
    assert not [file for file, invoice in readings.items() if invoice and decide(invoice, WITHOUT_HISTORY).passes]


def test_half_of_the_receipts_are_known_as_such_and_no_invoice_is_taken_for_one() -> None:
    types = {
        truth.file: invoice.document_type.value
        for truth in PICTURED.truths
        if (invoice := PICTURED.reading(truth.file))
    }
    receipts = sum(types[truth.file] == "receipt" for truth in RECEIPTS)
    assert receipts >= (1 - MOST_UNKNOWN_RECEIPTS) * len(RECEIPTS)
    assert {types[truth.file] for truth in INVOICES} == {"invoice"}
