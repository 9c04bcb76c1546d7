"""A form begins with the values of an earlier step and says how sure each is; the author's form stays as it is."""

import pytest

from docrail.dag.language.forms import with_values
from docrail.dag.values.json_values import Json
from tests.dag.catalogue import problems_of

FORM: dict[str, Json] = {
    "type": "object",
    "properties": {"total": {"type": "number", "description": "with tax"}, "paid": {"type": "boolean"}, "any": True},
}
ASK = """\
id: ask
steps:
  - id: read
    handler: anything
  - id: check
    depends_on: [read]
    human:
      form: {type: object, properties: {total: {type: number}}}
"""


def test_values_are_defaults_and_notes_descriptions() -> None:
    filled = with_values(FORM, {"total": 12.5, "paid": False}, {"total": "page 1"})
    assert filled["properties"] == {
        "total": {"type": "number", "description": "with tax\npage 1", "default": 12.5},
        "paid": {"type": "boolean", "default": False},
        "any": True,
    }
    assert "default" not in FORM["properties"]["total"]


@pytest.mark.parametrize("prefill", [None, {}, [1], "12", {"total": None}, {"other": 3}])
def test_what_fits_no_field_is_left_out(prefill: Json) -> None:
    assert with_values(FORM, prefill, prefill) == FORM


def test_a_form_without_fields_stays_as_it_is() -> None:
    assert with_values({"type": "string"}, {"total": 1}, None) == {"type": "string"}


@pytest.mark.parametrize("name", ["prefill", "notes"])
def test_what_the_form_does_not_have_is_reported(name: str) -> None:
    assert problems_of(f"{ASK}      {name}: '{{{{ read.values }}}}'\n") == []
    assert problems_of(f"{ASK}      {name}: {{total: '{{{{ read.total }}}}'}}\n") == []
    [wrong] = problems_of(f"{ASK}      {name}: {{totl: 3}}\n")
    assert wrong[0].endswith(f"unknown-field steps[1].human.{name}.totl")
    assert wrong[2:] == ("total",)
    [other] = problems_of(f"{ASK}      {name}: 3\n")
    assert other[1] == f"'{name}' must be an object by the names of the form's fields, found the number 3"


def test_a_template_in_it_is_checked_as_elsewhere() -> None:
    [wrong] = problems_of(f"{ASK}      prefill: '{{{{ reed.values }}}}'\n")
    assert "reed" in wrong[1]
