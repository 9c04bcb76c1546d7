"""Readings against labels and decisions: each value that was read becomes right or wrong, however it is written."""

import json
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from bench.scans import make_scans
from docrail.invoices.assessment.calibration import Observation
from docrail.invoices.assessment.confidence import PRIORS
from docrail.invoices.assessment.labelled import LabelledFile, Manifest, is_right, observe, observe_decision
from docrail.invoices.facts import DocumentType, Evidence, Source
from docrail.invoices.model import FieldValue
from tests.invoices.documents import SAMPLES
from tests.invoices.judged import locked, sound

EXPECTED: dict[str, Any] = {
    "invoice_number": "re 2026 0017",
    "date": "2026-10-01",
    "total": "119.5",
    "iban": None,
    "line_count": 3,
}


@pytest.mark.parametrize(
    ("name", "value", "truth", "right"),
    [
        ("invoice_number", "RE-1", "re1", True),
        ("invoice_number", "RE-12", "RE-1", False),
        ("total", Decimal("5.00"), "5", True),
        ("total", Decimal(-5), "5", False),
        ("vendor_name", "Muster GmbH", "Muster GmbH & Co", True),
        ("vendor_name", "Mu", "Muster", False),
        ("vendor_name", "Groß KG", "Gross KG", True),
        ("vendor_name", "Muster", "Muster and a very long addition", False),
        ("currency", "EUR", "eur", True),
    ],
)
def test_values_are_compared_however_they_are_written(name: str, value: object, truth: object, right: bool) -> None:
    assert is_right(name, value, truth) is right


def test_the_amounts_of_credit_notes_may_have_either_sign() -> None:
    file = LabelledFile(file="a", expected={"total": "119"}, document_type=DocumentType.CREDIT_NOTE)
    assert [seen.right for seen in observe(sound(total=Decimal(-119)), file)] == [True]


def test_only_what_is_labelled_printed_and_read_is_observed() -> None:
    file = LabelledFile(
        file="a", expected=EXPECTED, visible=("invoice_number", "total", "iban", "line_count"), family="f"
    )
    seen = list(observe(sound(), file))
    assert [(each.field, each.right, each.family) for each in seen] == [
        ("invoice_number", True, "f"),
        ("total", False, "f"),
    ]
    assert {each.family for each in observe(sound(), LabelledFile(file="a", expected=EXPECTED))} == {"a"}


def test_the_raw_confidence_is_observed() -> None:
    field = FieldValue[str](value="EUR", source=Source.TEXT_LABEL, confidence=0.1, evidence=(Evidence.NOT_ON_PAGE,))
    [seen] = observe(sound(currency=field), LabelledFile(file="a", expected={"currency": "EUR"}))
    assert 0.1 < seen.raw < PRIORS[Source.TEXT_LABEL]


def test_a_decision_shows_which_readings_were_right() -> None:
    read = sound(vendor_vat_id=None, currency=FieldValue(value="EUR", source=Source.VENDOR))
    approved = sound(invoice_number=locked("RE-2026-0018"), date=locked(None), currency=locked("USD"))
    seen = {each.field: each for each in observe_decision(read, approved, "vat:1")}
    assert not seen["invoice_number"].right
    assert seen["total"] == Observation("total", 0.88, right=True, family="vat:1")
    assert {"date", "currency", "vendor_vat_id"} & set(seen) == set()


def test_a_manifest_may_say_more_than_we_need() -> None:
    manifest = Manifest.model_validate({"files": [{"file": "a.pdf", "kind": "pdf", "lang": "de"}], "count": 1})
    assert manifest.files[0].truths() == {}


def test_scans_of_labelled_files_have_the_same_labels_and_no_text(tmp_path: Path) -> None:
    name = "i2d_qualityhosting.pdf"
    entry = {"file": name, "expected": {"currency": "EUR"}, "family": "hosting"}
    folder, into = tmp_path / "labelled", tmp_path / "scans"
    folder.mkdir()
    (folder / "MANIFEST.json").write_text(json.dumps({"files": [entry, {"file": "a.xml"}]}))
    (folder / name).write_bytes((SAMPLES / name).read_bytes())
    assert make_scans(folder, into) == 1
    [scanned] = Manifest.model_validate_json((into / "MANIFEST.json").read_bytes()).files
    assert (scanned.family, scanned.truths()) == ("hosting", {"currency": "EUR"})
    with closing(pypdfium2.PdfDocument(into / scanned.file)) as document:
        assert document[0].get_textpage().get_text_bounded() == ""
