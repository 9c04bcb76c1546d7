"""Invoices of our own invention, printed by browsers and programs, are read at least as well as they have been once."""

import json
from pathlib import Path

import pytest

from bench.extraction import INVENTED_FOLDER
from bench.extraction_scores import Truth
from docrail.invoices.assessment.straight_through import WITHOUT_HISTORY, decide
from tests.invoices.scored import MOST_ERROR, Scored

pytestmark = pytest.mark.slow

INVENTED = Scored(INVENTED_FOLDER)


@pytest.mark.parametrize("folder", sorted({Path(truth.file).parent.name for truth in INVENTED.truths}))
def test_fields_are_right_and_hardly_any_is_wrong(folder: str) -> None:
    own = [truth for truth in INVENTED.truths if Path(truth.file).parent.name == folder]
    INVENTED.assert_fields_are_right_and_hardly_any_is_wrong(own)


def test_all_types_are_right() -> None:
    INVENTED.assert_types_are_right()


def test_confidences_are_worth_what_they_claim() -> None:
    assert INVENTED.calibration_error() <= MOST_ERROR


def test_a_scorer_that_knows_no_defaults_can_read_the_manifest() -> None:
    for entry in json.loads((INVENTED_FOLDER / "MANIFEST.json").read_text("utf-8"))["files"]:
        assert {"file", "kind", "family", "expected", "visible"} <= entry.keys()
        assert entry["visible"] == list(entry["expected"])
        assert None not in entry["expected"].values()


@pytest.mark.parametrize("truth", INVENTED.truths, ids=lambda truth: str(truth.file))
def test_every_total_is_right(truth: Truth) -> None:
    assert INVENTED.outcome(truth, "total") == "right"


@pytest.mark.parametrize("truth", INVENTED.truths, ids=lambda truth: str(truth.file))
def test_a_reading_of_print_alone_does_not_pass_without_a_person(truth: Truth) -> None:
    invoice = INVENTED.reading(truth.file)
    assert invoice is not None
    assert not decide(invoice, WITHOUT_HISTORY).passes
