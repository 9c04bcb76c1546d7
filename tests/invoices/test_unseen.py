"""Layouts that the readers were hardly made for (tests/invoices/unseen) are read as well as the project promises."""

from pathlib import Path

from docrail.invoices.assessment.straight_through import WITHOUT_HISTORY, decide
from tests.invoices.scored import MOST_ERROR, Scored

UNSEEN = Scored(Path(__file__).parent / "unseen")


def test_fields_are_right_and_hardly_any_is_wrong() -> None:
    UNSEEN.assert_fields_are_right_and_hardly_any_is_wrong(UNSEEN.truths)


def test_all_types_are_right() -> None:
    UNSEEN.assert_types_are_right()


def test_all_totals_are_right() -> None:
    outcomes = {truth.file: UNSEEN.outcome(truth, "total") for truth in UNSEEN.truths}
    assert {file: outcome for file, outcome in outcomes.items() if outcome != "right"} == {}


def test_confidences_are_worth_what_they_claim() -> None:
    assert UNSEEN.calibration_error() <= MOST_ERROR


def test_none_passes_without_a_person() -> None:
    readings = {truth.file: UNSEEN.reading(truth.file) for truth in UNSEEN.truths}
    assert not [file for file, invoice in readings.items() if invoice and decide(invoice, WITHOUT_HISTORY).passes]
