"""Every field of the invoice is one row, and each reader and each consumer knows every row."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docrail.cli.lake import HELP
from docrail.embedded.fake_gemini.answers import wire_of
from docrail.invoices.assessment.confidence import assess, overall_parts
from docrail.invoices.assessment.corrections import Correction, merge
from docrail.invoices.assessment.labelled import LABELS, is_right
from docrail.invoices.facts import Source
from docrail.invoices.fields import CORRECTABLE, parse_value, value_text
from docrail.invoices.kinds import TYPE, Arrow
from docrail.invoices.llm.prompt import PROMPT
from docrail.invoices.llm.wire import WireInvoice, read_answer
from docrail.invoices.model import FIELDS, REQUIRED_FIELDS, FieldValue, InvoiceData
from docrail.invoices.readers.codes.payment_codes import read_payment_code
from docrail.invoices.readers.einvoice.read_xml import read_einvoice_xml
from docrail.invoices.readers.read import read_text
from docrail.services.lake.parquet import SCHEMA
from docs import generate
from tests.invoices.codes import SWISS
from tests.invoices.full_invoice import CII, NOON, PAGE, TODAY, TRUTH, UBL
from tests.invoices.layouts import page

IN_A_PAYMENT_CODE = {
    *(
        "invoice_number",
        "date",
        "due_date",
        "delivery_date",
        "vendor_name",
        "vendor_vat_id",
        "buyer_name",
        "iban",
        "currency",
        "total",
    ),
}
"""What the Swiss code has a place for. Everything else has to be printed or sent as an e-invoice."""
NO_FIELDS = ("vendor_country", "net_adjustment", "total_adjustment", "line_items", "tax_parts")
OTHERS = {Arrow.TEXT: "another", Arrow.DATE: "1999-12-31", Arrow.AMOUNT: "0.01"}
PYTHON_TYPES = {Arrow.TEXT: "str", Arrow.DATE: "date", Arrow.AMOUNT: "Decimal"}


def values(invoice: InvoiceData) -> dict[str, str | None]:
    return {name: value_text(getattr(invoice, name).value) for name in FIELDS}


def test_each_field_value_of_the_model_has_its_row_and_nothing_else_has_one() -> None:
    fields = {
        name
        for name, info in InvoiceData.model_fields.items()
        if isinstance(info.annotation, type) and issubclass(info.annotation, FieldValue)
    }
    assert fields == set(FIELDS)


def test_a_row_is_of_the_type_of_its_attribute() -> None:
    for name, spec in FIELDS.items():
        annotation: Any = InvoiceData.model_fields[name].annotation
        [held] = annotation.__pydantic_generic_metadata__["args"]
        assert held.__name__ == ("DocumentType" if spec.kind is TYPE else PYTHON_TYPES[spec.kind.arrow]), name


def test_the_full_invoice_says_every_field() -> None:
    """Whoever adds a field adds it to tests/invoices/full_invoice.py, so that each reader must find it."""
    assert list(TRUTH) == list(FIELDS)


@pytest.mark.parametrize("xml", [CII, UBL], ids=["cii", "ubl"])
def test_an_e_invoice_fills_every_field(xml: str) -> None:
    assert values(read_einvoice_xml(xml.encode())) == TRUTH


def test_a_printed_invoice_fills_every_field() -> None:
    assert values(read_text([page(PAGE)])) == TRUTH


def test_a_payment_code_fills_what_it_has_a_place_for() -> None:
    code = read_payment_code(SWISS.encode(), SWISS)
    assert code is not None
    assert {name for name, value in values(code).items() if value is not None} == IN_A_PAYMENT_CODE


def test_a_models_answer_fills_every_field() -> None:
    answer = wire_of(read_einvoice_xml(CII.encode()))
    assert values(read_answer(answer, model="m")) == TRUTH


def test_a_model_is_asked_for_every_field() -> None:
    """One flat object, the fields before the rest; each is required, if as null."""
    schema = WireInvoice.model_json_schema()
    assert schema["title"] == "WireInvoice"
    assert schema["required"] == [*FIELDS]
    assert list(schema["properties"]) == [*FIELDS, *NO_FIELDS]
    for name, spec in FIELDS.items():
        assert schema["properties"][name] == {"$ref": "#/$defs/WireField"}
        assert f"- {name}: {spec.for_model}\n" in PROMPT
    assert set(schema["$defs"]["WireField"]["properties"]) == {"value", "confidence", "page", "source_text"}


def test_every_field_reaches_parquet() -> None:
    assert {name: str(SCHEMA.field(name).type) for name in FIELDS} == {
        name: "date32[day]" if spec.kind.arrow is Arrow.DATE else spec.kind.arrow for name, spec in FIELDS.items()
    }


def test_every_field_counts_in_the_confidence() -> None:
    invoice = assess(read_einvoice_xml(CII.encode()), TODAY)
    shares = {name: share for name, share, _ in overall_parts(invoice) if name in FIELDS}
    weights = {name: spec.weight for name, spec in FIELDS.items()}
    assert {name: share / shares["total"] for name, share in shares.items()} == pytest.approx(
        {name: weight / weights["total"] for name, weight in weights.items()}
    )
    assert all(getattr(invoice, name).confidence > 0.9 for name in FIELDS)


def test_a_required_field_that_is_missing_is_a_problem_by_its_label() -> None:
    problems = {problem.field: problem.message for problem in assess(InvoiceData(), TODAY).problems}
    assert set(problems) == set(REQUIRED_FIELDS)
    assert all(f"No {FIELDS[str(name)].label} was found." in message for name, message in problems.items())


def test_a_person_can_correct_every_field() -> None:
    for name, value in TRUTH.items():
        assert name in CORRECTABLE
        merged = merge(InvoiceData(), [Correction(name, value, "mia", NOON)])
        field = getattr(merged, name)
        assert (value_text(field.value), field.source) == (value, Source.HUMAN)


def test_every_field_can_be_labelled_and_scored() -> None:
    for name, value in TRUTH.items():
        assert name in LABELS
        assert is_right(name, parse_value(name, value), value)
        assert not is_right(name, parse_value(name, value), OTHERS[FIELDS[name].kind.arrow])


def test_the_help_of_query_and_the_reference_list_every_field() -> None:
    reference = generate.page("fields.md")
    for name in FIELDS:
        assert name in HELP
        assert f"| `{name}` |" in reference


def test_the_model_loads_no_library_of_documents() -> None:
    root = Path(__file__).parents[2]
    code = "import sys, invoices.model; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert not {"pyarrow", "lxml", "pikepdf", "PIL", "numpy"} & set(run.stdout.split())
