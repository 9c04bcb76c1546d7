"""What comes into a run from outside: inputs completed and checked, answers checked, all at a bounded cost."""

import pytest

from docrail.dag.language.definition import Definition
from docrail.dag.language.inputs import InvalidValueError, check_answer, complete_inputs
from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json


def definition(**inputs: Json) -> Definition:
    return Definition.model_validate({"id": "d", "inputs": inputs, "steps": [{"id": "a", "handler": "noop"}]})


def paths(of: Definition, given: dict[str, Json]) -> list[str]:
    with pytest.raises(InvalidValueError) as refused:
        complete_inputs(of, given)
    return [problem.path for problem in refused.value.problems]


def test_a_missing_input_is_its_default_or_null() -> None:
    declared = definition(a={"type": "string", "default": "x"}, b={"type": "integer"}, c={"type": "boolean"})
    assert complete_inputs(declared, {"c": False}) == {"a": "x", "b": None, "c": False}


def test_null_for_an_optional_input_is_the_same_as_not_giving_it() -> None:
    assert complete_inputs(definition(a={"type": "string", "default": "x"}), {"a": None}) == {"a": "x"}


def test_null_for_a_required_input_does_not_fit() -> None:
    assert paths(definition(a={"type": "string", "required": True}), {"a": None}) == ["inputs.a"]


def test_a_problem_inside_a_value_is_reported_by_its_path() -> None:
    rows = {"type": "array", "items": {"type": "object", "properties": {"amount": {"type": "number", "minimum": 0}}}}
    assert paths(definition(rows=rows), {"rows": [{"amount": 1}, {"amount": -1}]}) == ["inputs.rows.1.amount"]


def test_an_unknown_input_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidValueError) as refused:
        complete_inputs(definition(document_id={"type": "string"}), {"documentid": "x"})
    assert refused.value.problems[0].suggestion == "document_id"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**63, "a\0b", "\ud800", {"\0": 1}])
def test_unstorable_inputs_are_refused(value: Json) -> None:
    assert paths(definition(a={"type": "object"}), {"a": value})[0].startswith("inputs.a")


def test_a_date_is_checked_as_one() -> None:
    declared = definition(day={"type": "string", "format": "date"})
    assert complete_inputs(declared, {"day": "2026-11-21"}) == {"day": "2026-11-21"}
    assert paths(declared, {"day": "21.11.2026"}) == ["inputs.day"]


def test_a_long_value_is_not_repeated_in_its_problem() -> None:
    with pytest.raises(InvalidValueError) as refused:
        complete_inputs(definition(a={"type": "string", "maxLength": 3}), {"a": "x" * 100_000})
    assert len(str(refused.value)) < 1000


def test_null_for_a_required_input_is_called_null() -> None:
    with pytest.raises(InvalidValueError, match=r"^inputs\.a: is null, expected a text$"):
        complete_inputs(definition(a={"type": "string", "required": True}), {"a": None})


def test_inputs_that_are_too_large_together_name_the_largest_and_the_limit() -> None:
    declared = definition(a={"type": "string"}, b={"type": "string"})
    with pytest.raises(InvalidValueError) as refused:
        complete_inputs(declared, {"a": "x" * 100_000, "b": "x" * 200_000})
    assert str(refused.value) == (
        f"inputs.b: takes 200002 bytes as JSON; all inputs together take 300004 bytes, more than {MAX_VALUE_BYTES}: "
        "pass a reference instead"
    )


def test_inputs_that_cost_too_much_to_check_are_refused() -> None:
    schema = {"type": "array", "items": {"allOf": [{"type": "integer"}] * 1000}}
    with pytest.raises(InvalidValueError, match=r"inputs\.a: takes too much work to check"):
        complete_inputs(definition(a=schema), {"a": [1] * 10_000})


def test_an_answer_is_checked_with_its_path() -> None:
    schema = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["by"]}
    with pytest.raises(InvalidValueError) as refused:
        check_answer(schema, {"amount": "3"})
    assert str(refused.value) == "answer.amount: is the text '3', expected a number; answer.by: is required"


def test_an_answer_that_a_run_cannot_carry_is_refused_with_its_size() -> None:
    with pytest.raises(InvalidValueError, match=rf"answer: takes {MAX_VALUE_BYTES + 2} bytes as JSON, more than"):
        check_answer({}, "x" * MAX_VALUE_BYTES)
