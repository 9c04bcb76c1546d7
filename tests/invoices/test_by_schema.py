"""Fields that a JSON Schema names are read by their labels, in any language and place, and doubted where needed."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from docrail.invoices.by_schema.checked import checked_record
from docrail.invoices.by_schema.read import NO_TEXT, read_fields, read_pages_by_schema
from docrail.invoices.by_schema.reading import FieldsReading, notes_of, reasons_of, together
from docrail.invoices.by_schema.schema import MOST_FIELDS, FieldsSchema
from docrail.invoices.by_schema.wire import answer_model, prompt_of, reading_of
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.layout.page import Page
from docrail.samples.purchase_orders import ORDERS, draw_order, expected
from tests.invoices.layouts import page as page_with

SHIPPED = Path(__file__).parents[2] / "definitions" / "purchase_order.yaml"
ENOUGH = 0.8


def shipped_schema() -> FieldsSchema:
    definition = yaml.safe_load(SHIPPED.read_text())
    return FieldsSchema.model_validate(definition["steps"][0]["config"]["schema"])


def schema(required: tuple[str, ...] = (), **fields: dict[str, Any]) -> FieldsSchema:
    return FieldsSchema.model_validate({"type": "object", "required": required, "properties": fields})


def page_of(text: str) -> Page:
    """Lay out a text: two or more spaces are between columns."""
    lines = []
    for row, line in enumerate(text.splitlines()):
        cells = [(match.start(), match.group()) for match in re.finditer(r"\S+(?: \S+)*", line)]
        lines += [(50.0 + 12 * at, 100.0 + 14 * row, cell) for at, cell in cells]
    return page_with(lines)


def read(page: str, *, required: tuple[str, ...] = (), **fields: dict[str, Any]) -> FieldsReading:
    return read_pages_by_schema([page_of(page)], schema(required, **fields))


@pytest.mark.parametrize("name", ORDERS)
def test_every_field_of_the_drawn_orders_is_read(name: str) -> None:
    reading = read_fields(draw_order(ORDERS[name]), shipped_schema(), max_pages=5)
    assert reading.values() == expected(ORDERS[name])
    found = {each: field for each, field in reading.fields.items() if field.value is not None}
    assert {(field.page, field.source) for field in found.values()} == {(1, Source.TEXT_LABEL)}
    assert all(field.box and field.confidence >= ENOUGH for field in found.values())


def test_only_the_order_without_a_number_needs_a_person() -> None:
    form = shipped_schema()
    reasons = {
        name: reasons_of(form, read_fields(draw_order(order), form, max_pages=5), ENOUGH)
        for name, order in ORDERS.items()
    }
    assert {name: why for name, why in reasons.items() if why} == {
        "order_without_number": ["Order number is required, and was not found"]
    }


@pytest.mark.parametrize(
    ("page", "field", "value"),
    [
        ("Artikel-Nr.: 4711 Menge: 12", {"type": "integer", "x-labels": ["Menge"]}, 12),
        ("Menge 12,5 kg", {"type": "integer", "x-labels": ["Menge"]}, None),
        ("Rabatt: 7,5 %", {"type": "number", "x-labels": ["Rabatt"]}, 7.5),
        ("Solde  1.234,56-", {"type": "number", "x-labels": ["Solde"]}, -1234.56),
        ("Fällig am: 3. März 2026", {"type": "string", "format": "date", "x-labels": ["Fällig am"]}, "2026-03-03"),
        ("Express: ja, bitte", {"type": "boolean", "x-labels": ["Express"]}, True),
        ("Express  ☐", {"type": "boolean", "x-labels": ["Express"]}, False),
        ("Express: vielleicht", {"type": "boolean", "x-labels": ["Express"]}, None),
        ("Incoterm: FOB Rotterdam", {"type": "string", "enum": ["FOB", "CIF"], "x-labels": ["Incoterm"]}, "FOB"),
        ("Incoterm: EXW", {"type": "string", "enum": ["FOB", "CIF"], "x-labels": ["Incoterm"]}, None),
        ("P.O.-No.:  A 17", {"type": "string", "x-labels": ["PO no", "P O No"]}, "A 17"),
        ("Subtotal: 12.00", {"type": "number", "title": "Total"}, None),
        ("nothing of the kind", {"type": "string", "title": "Order number"}, None),
    ],
)
def test_a_value_is_parsed_by_its_type(page: str, field: dict[str, Any], value: object) -> None:
    assert read(page, it=field).values() == {"it": value}


def test_the_label_of_another_field_is_no_value_and_ends_one() -> None:
    number, date = {"type": "string", "title": "Order"}, {"type": "string", "format": "date", "title": "Order date"}
    line = read("Order: PO-7 Order date: 2026-05-04", number=number, date=date)
    assert line.values() == {"number": "PO-7", "date": "2026-05-04"}
    table = read("Order        Order date\nPO-7         2026-05-04", number=number, date=date)
    assert table.values() == {"number": "PO-7", "date": "2026-05-04"}


def test_a_text_with_the_word_of_a_label_is_whole() -> None:
    terms, net = {"type": "string", "title": "Terms"}, {"type": "number", "title": "Net"}
    assert read("Terms: 30 days net\nNet: 4.00", terms=terms, net=net).values() == {"terms": "30 days net", "net": 4.0}


def test_two_values_at_equal_labels_are_doubted() -> None:
    reading = read("Account: 4711\nAccount: 4712", account={"type": "string"})
    field = reading.fields["account"]
    assert Evidence.SEVERAL_CANDIDATES in field.evidence
    assert field.confidence < ENOUGH
    [why] = reasons_of(schema(account={"type": "string"}), reading, ENOUGH)
    assert why.startswith("account has a confidence of 0.7")
    assert "another value at an equally good label" in notes_of(reading)["account"]


def test_a_value_that_is_printed_at_two_labels_is_surer() -> None:
    once = read("Account: 4711", account={"type": "string"}).fields["account"]
    twice = read("Account: 4711\n\nplease quote Account: 4711", account={"type": "string"}).fields["account"]
    assert twice.confidence > once.confidence


def test_a_day_that_may_be_a_month_is_doubted_unless_the_document_shows_the_order() -> None:
    day = {"type": "string", "format": "date", "title": "Date"}
    doubted = read("Date: 03/04/2026", date=day).fields["date"]
    shown = read("Date: 03/04/2026\nfrom 25/04/2026", date=day).fields["date"]
    assert (doubted.confidence, shown.value) == (0.6, "2026-04-03")
    assert shown.confidence >= ENOUGH


def test_a_document_without_text_is_for_a_person() -> None:
    reading = read("", number={"type": "string"})
    assert reasons_of(schema(number={"type": "string"}), reading, ENOUGH) == [NO_TEXT]


def test_an_optional_field_that_is_not_printed_needs_no_one() -> None:
    fields: dict[str, Any] = {"number": {"type": "string"}, "remark": {"type": "string"}}
    reading = read("Number: 7", **fields)
    assert reasons_of(schema(("number",), **fields), reading, ENOUGH) == []
    assert reasons_of(schema(("number", "remark"), **fields), reading, ENOUGH) == [
        "remark is required, and was not found"
    ]


def test_a_models_answer_and_the_labels_are_each_others_evidence() -> None:
    form = schema(
        total={"type": "number", "title": "Total"}, day={"type": "string", "format": "date"}, who={"type": "string"}
    )
    local = read_pages_by_schema([page_of("Total: 1,190.00\nday: 2026-05-04")], form)
    said = {"value": "1190.00", "confidence": 0.9, "page": 1}
    answer = answer_model(form).model_validate({"total": said, "day": {"value": "2026-04-05"}, "who": {"value": None}})
    both = together(form, reading_of(form, answer), local)
    assert (both.fields["total"].value, Evidence.SECOND_SOURCE_AGREES in both.fields["total"].evidence) == (
        1190.0,
        True,
    )
    assert both.fields["total"].confidence > 0.95
    assert both.fields["day"].confidence < ENOUGH
    assert {each.value for each in both.fields["day"].candidates} == {"2026-05-04", "2026-04-05"}
    assert both.fields["who"].value is None
    assert "the readers disagree" in reasons_of(form, both, ENOUGH)[0]


def test_a_models_text_that_is_no_value_of_its_field_is_left_out() -> None:
    form = schema(total={"type": "number"}, count={"type": "integer"}, yes={"type": "boolean"})
    words = {"total": "about a lot", "count": "2.5", "yes": "Yes"}
    answer = answer_model(form).model_validate({name: {"value": text} for name, text in words.items()})
    assert reading_of(form, answer).values() == {"total": None, "count": None, "yes": True}


def test_the_prompt_names_each_field_with_its_labels_and_choices() -> None:
    prompt = prompt_of(shipped_schema())
    assert "which should be a purchase order" in prompt
    assert "- currency: Currency; one of EUR, USD" in prompt
    assert "Bestellnummer" in prompt


WRONG = [
    ({"type": "array", "items": {}}, "only single values are read"),
    ({"type": "object"}, "only single values are read"),
    ({"type": "number", "format": "date"}, "'format' and 'enum' are for the type string"),
    ({"type": "string", "enum": []}, "at least 1 item"),
    ({"type": "string", "x-labels": ["--"]}, "a label needs a letter or a digit"),
    ({"type": "string", "x-labels": ["a"] * 31}, "at most 30 items"),
    ({"type": "string", "pattern": "^A"}, "Extra inputs are not permitted"),
]


@pytest.mark.parametrize(("field", "why"), WRONG)
def test_a_schema_that_cannot_be_read_by_is_refused(field: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        schema(it=field)


def test_a_schema_is_bounded_and_consistent() -> None:
    text: dict[str, Any] = {"type": "string"}
    with pytest.raises(ValidationError, match=f"at most {MOST_FIELDS} items"):
        schema((), **dict.fromkeys(map("field_{}".format, range(MOST_FIELDS + 1)), text))
    with pytest.raises(ValidationError, match="'required' names date, which 'properties' does not have"):
        schema(("date",), number=text)
    with pytest.raises(ValidationError, match="the label 'Number' names two fields, number and other"):
        schema(number=text, other={"type": "string", "x-labels": ["Number"]})
    with pytest.raises(ValidationError, match="the name is reserved"):
        schema(copy=text)


def test_what_a_person_changed_is_kept_next_to_what_was_read() -> None:
    number = FieldValue[Any](value="P0-1", confidence=0.7, source=Source.TEXT_LABEL, page=1)
    total = FieldValue[Any](value=12.5, confidence=0.9, source=Source.TEXT_LABEL, page=1)
    answer = {"number": "PO-1", "total": 12.5, "remark": "by phone"}
    record = checked_record("doc_1", "order", {"number": number, "total": total, "day": FieldValue()}, answer, "ann")
    assert record["values"] == {"number": "PO-1", "total": 12.5, "day": None, "remark": "by phone"}
    corrected, confirmed = record["fields"]["number"], record["fields"]["total"]
    assert (corrected["source"], corrected["read"], corrected["checked_by"]) == ("human", "P0-1", "ann")
    assert (confirmed["source"], confirmed["read"], confirmed["page"]) == ("text_label", None, 1)
    assert {corrected["confidence"], confirmed["confidence"]} == {0.9999}


def test_a_reading_that_no_one_checked_keeps_its_confidences() -> None:
    number = FieldValue[Any](value="PO-1", confidence=0.88, source=Source.TEXT_LABEL)
    record = checked_record("doc_1", "order", {"number": number}, None, None)
    assert (record["checked_by"], record["fields"]["number"]["confidence"]) == (None, 0.88)
