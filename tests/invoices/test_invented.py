"""Invoices of our own invention, printed by a browser, are read at least as well as they have been once."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from bench.extraction import EVERY_CLONES, load_truths, read_file
from bench.extraction_scores import Truth, judge
from invoices.calibration import expected_error
from invoices.model import FIELD_NAMES, InvoiceData
from invoices.straight_through import WITHOUT_HISTORY, decide

LEAST_RIGHT, MOST_WRONG = 0.95, 0.03
"""Of the fields of PDFs with text: what the project promises of layouts it has never seen."""
MOST_ERROR = 0.05
"""Expected calibration error: how far what is claimed of values lies from how many of them are right."""
TRUTHS = list(load_truths(EVERY_CLONES))


@cache
def reading(file: str) -> InvoiceData | None:
    return read_file(EVERY_CLONES / file)


@pytest.mark.parametrize("folder", ["first", "second", "third", "fourth", "fifth"])
def test_fields_are_right_and_hardly_any_is_wrong(folder: str) -> None:
    own = [truth for truth in TRUTHS if Path(truth.file).parent.name == folder]
    told = [(truth.file, name, outcome) for truth in own for name, outcome in judge(truth, reading(truth.file))]
    outcomes = Counter(outcome for *_, outcome in told)
    others = [entry for entry in told if entry[2] != "right"]
    assert outcomes["right"] >= LEAST_RIGHT * outcomes.total(), others
    assert outcomes["wrong"] <= MOST_WRONG * outcomes.total(), others


def test_confidences_are_worth_what_they_claim() -> None:
    pairs = [
        (getattr(invoice, name).confidence, outcome == "right")
        for truth in TRUTHS
        if (invoice := reading(truth.file)) is not None
        for name, outcome in judge(truth, invoice)
        if outcome != "missing" and name in FIELD_NAMES
    ]
    assert expected_error(pairs) <= MOST_ERROR


def test_a_scorer_that_knows_no_defaults_can_read_the_manifest() -> None:
    for entry in json.loads((EVERY_CLONES / "MANIFEST.json").read_text("utf-8"))["files"]:
        assert {"file", "kind", "family", "expected", "visible"} <= entry.keys()
        assert entry["visible"] == list(entry["expected"])
        assert None not in entry["expected"].values()


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: str(truth.file))
def test_every_total_is_right(truth: Truth) -> None:
    assert dict(judge(truth, reading(truth.file)))["total"] == "right"


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: str(truth.file))
def test_what_is_only_printed_does_not_pass_without_a_person(truth: Truth) -> None:
    invoice = reading(truth.file)
    assert invoice is not None
    assert not decide(invoice, WITHOUT_HISTORY).passes
