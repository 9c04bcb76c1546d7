"""Each heuristic is a list of weighted features: a choice explains itself, and no feature is without use."""

import datetime as dt
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from docrail import invoices
from docrail.invoices.assessment.confidence import assess
from docrail.invoices.assessment.priority import review_priority
from docrail.invoices.by_schema.read import read_pages_by_schema
from docrail.invoices.by_schema.schema import FieldsSchema
from docrail.invoices.features import Feature, leaders, reasons, score
from docrail.invoices.readers.header.dates import DATE, issue_dates
from docrail.invoices.readers.header.number import NUMBER, invoice_numbers
from docrail.invoices.readers.layout.page import Page
from docrail.invoices.readers.pdf.pages import PdfPages
from docrail.invoices.readers.pdf.words import read_pages
from docrail.invoices.readers.read import read_text
from tests.invoices.layouts import finder, page, table

INVENTED = Path(__file__).parent / "invented"
DOCUMENTS = (
    "third/saas_receipt.pdf",
    "fourth/ceramiche_it.pdf",
    "fourth/wool_uk.pdf",
    "fifth/en_northgate_wholesale.pdf",
    "sixth/de2.pdf",
    "seventh/en-02.pdf",
    "seventh/fr-02.pdf",
    "seventh/it-02.pdf",
    "eighth/de-03.pdf",
    "ninth/nl-04.pdf",
    "tenth/de-03.pdf",
    "eleventh/en-05.pdf",
    "eleventh/fr-04.pdf",
    "seventeenth/de-02.pdf",
    "eighteenth/it-04.pdf",
    "eighteenth/nl-01.pdf",
    "twentieth/de-04.pdf",
    "thirtyfourth/fr-03.pdf",
)
"""Together they use all features but those of the pages below."""
TILL = ("Subtotal | 55.38", "GST 6% | 3.32", "Total | 58.70", "Cash | 60.00", "Change | 1.30", "AID: A0000000031010")
ON_A_ROLL = ("Invoice 7", "Bill to: | Miller Ltd", *TILL, "Payable by 01.12.2026", "IBAN DE02120300000000202051")
PARTLY_TAXED = ("Total 6% (excl. GST): | 13.30", "GST: | 0.80", "Total 0%: | 54.31", "Total Payable: | 68.41")
PAGES = (
    page(table(*TILL, edges=(50, 300))),
    replace(page(table(*ON_A_ROLL, edges=(50, 200))), width=300.0),
    page(table(*PARTLY_TAXED, edges=(50, 300))),
    page([(50, 60, "GREEN LEAF"), (50, 500, "18.05.2026 11:52")]),
    page([(50, 60, "Reminder for invoice 2026-7")]),
)

ORDER = [
    page(table("Description | Quantity | Price | Total", "Beech edging | 2 | 8.75 | 17.50", "Total | | | 17.50")),
    page([(50, 60, "Please note that the agreed total of 17.50 holds until the end of the year")], number=2),
]
"""Pages that are read by a schema."""


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(invoices.__path__, "docrail.invoices."):
        if ".ocr." not in found.name:  # needs an extra, and has none
            yield import_module(found.name)


@cache
def lists() -> dict[tuple[ModuleType, str], Sequence[Feature[Any]]]:
    """Return the lists of features by the module and the name they are defined under."""
    return {
        (module, name): value
        for module in modules()
        for name, value in vars(module).items()
        if isinstance(value, tuple) and value and all(isinstance(each, Feature) for each in value)
    }


def recording(features: Sequence[Feature[Any]], applied: set[str]) -> tuple[Feature[Any], ...]:
    """Return the features, which note their name in `applied` when they apply to a candidate."""

    def noted(feature: Feature[Any]) -> Feature[Any]:
        def applies(candidate: Any) -> float:
            extent = feature.applies(candidate)
            if extent:
                applied.add(feature.name)
            return extent

        return replace(feature, applies=applies)

    return tuple(map(noted, features))


def test_every_feature_applies_to_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: dict[str, set[str]] = {}
    for (module, name), features in lists().items():
        monkeypatch.setattr(module, name, recording(features, applied.setdefault(name, set())))
    documents: list[Sequence[Page]] = [read_pages(PdfPages((INVENTED / file).read_bytes())) for file in DOCUMENTS]
    for pages in (*documents, *([each] for each in PAGES)):
        invoice = assess(read_text(pages), dt.date(2026, 11, 1))
        review_priority(invoice, sla_hours=24, hours_used=0, new_vendor=True, foreign_currency=True)
    read_pages_by_schema(ORDER, FieldsSchema.model_validate({"properties": {"total": {"type": "number"}}}))
    unused = {(name, each.name) for (_, name), features in lists().items() for each in features} - {
        (name, feature) for name, features in applied.items() for feature in features
    }
    assert unused == set(), "delete a feature that no document uses, or add the document that it is for"


def test_each_list_names_its_features_once() -> None:
    for (_, name), features in lists().items():
        names = [feature.name for feature in features]
        assert len(set(names)) == len(names), name
        assert all(feature.weight for feature in features), name


def test_the_choice_of_a_number_explains_itself() -> None:
    lines = [(50, 60, "Invoice number: RE-17"), (50, 90, "This corrects the invoice no. 4711, which was sent last May")]
    candidates = {each.value: each for each in invoice_numbers(finder(lines))}
    assert [each.value for each in leaders(NUMBER, candidates.values())] == ["RE-17"]
    assert reasons(NUMBER, candidates["RE-17"]) == {
        "the label names the document and its number": 3.0,
        "the label begins its cell": 0.3,
        "digits": 0.1,
    }
    against = {name: points for name, points in reasons(NUMBER, candidates["4711"]).items() if points < 0}
    assert against == {"the label names an earlier document": -2.5, "the label is in a sentence": -0.6}


def test_the_choice_of_a_date_explains_itself() -> None:
    lines = [(50, 60, "Hamburg, 1 May 2024"), (50, 700, "Date: 2 May 2024")]
    given = [reasons(DATE, each) for each in issue_dates(finder(lines), month_first=False)]
    assert {"it follows a place, as in letters": 2.0} in given
    assert {"it is called `Date`": 2.2} in given


def test_reasons_add_up_to_the_score() -> None:
    for candidate in invoice_numbers(finder([(50, 60, "Invoice no. 2026/17"), (50, 90, "Receipt no: 55")])):
        assert sum(reasons(NUMBER, candidate).values()) == pytest.approx(score(NUMBER, candidate))


@pytest.mark.parametrize(
    ("weights", "above", "expected"),
    [((1, 3, 2), 0, [1]), ((2, 1, 2), 0, [0, 2]), ((1, 2), 2, []), ((), 0, []), ((-1, -2), -5, [0])],
    ids=["the highest", "a tie", "none above", "no candidates", "below zero"],
)
def test_the_leaders_have_the_highest_score(weights: tuple[int, ...], above: float, expected: list[int]) -> None:
    weight: tuple[Feature[int], ...] = (Feature("weight", 1.0, lambda index: weights[index]),)
    assert leaders(weight, range(len(weights)), above=above) == expected
