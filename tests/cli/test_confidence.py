"""`docrail extract --explain`: every confidence with its terms."""

from decimal import Decimal

from docrail.cli.extract import explanation_of
from docrail.invoices.assessment.confidence import assess
from docrail.invoices.model import InvoiceData
from tests.cli.process import docrail
from tests.invoices.judged import TODAY, sound


def test_each_found_field_has_a_line_with_its_terms() -> None:
    [document, *fields] = explanation_of(assess(sound(due_date=None, total=Decimal("120.00")), TODAY))
    assert document.startswith("  0.269  document: ")
    assert [line.split(":")[0].split("  ")[-1] for line in fields][-1] == "total"
    assert "prior:text label +1.99, totals disagree -6.00" in fields[-1]
    assert not any("due date" in line for line in fields)


def test_an_error_caps_the_confidence_of_the_document() -> None:
    document = next(explanation_of(assess(sound(currency="XXQ"), TODAY)))
    assert document.startswith("  0.600  document: ")
    assert ", cap -0." in document


def test_nothing_found_is_said_too() -> None:
    [document] = explanation_of(assess(InvoiceData(), TODAY))
    assert document.startswith("  0.050  document: invoice number -")


async def test_it_goes_without_jsonl() -> None:
    refused = await docrail("extract", "samples", "--jsonl", "--explain")
    assert refused.code == 2
    assert "goes without --json and --jsonl" in refused.err
