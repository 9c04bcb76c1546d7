"""Runs are ordered by priority, with fairness keys that are separate for each tenant."""

import pytest

from docrail.dag.language.definition import Definition
from docrail.dag.values.json_values import Json
from docrail.services.errors import InvalidInput
from docrail.services.runs.service import priority_of


def definition(**priority: Json) -> Definition:
    steps = [{"id": "a", "handler": "noop"}]
    return Definition.model_validate({"id": "test", "steps": steps, **({"priority": priority} if priority else {})})


def fairness_key(template: str, **inputs: Json) -> str | None:
    return priority_of(definition(fairness_key=template), "acme", inputs).fairness_key


def test_by_default_tenants_take_turns_in_the_middle_priority() -> None:
    priority = priority_of(definition(), "acme", {})
    assert (priority.priority_key, priority.fairness_key) == (None, "acme")


def test_a_definition_says_its_priority_and_a_caller_overrides_it() -> None:
    assert priority_of(definition(key=2), "acme", {}).priority_key == 2
    assert priority_of(definition(key=2), "acme", {}, 5).priority_key == 5


def test_a_fairness_key_is_a_part_of_the_tenant() -> None:
    assert fairness_key("{{ inputs.customer }}", customer="initech") == "acme/initech"
    assert fairness_key("{{ inputs.customer.id }}", customer={"id": 7}) == "acme/7"
    assert fairness_key("night") == "acme/night"


@pytest.mark.parametrize("nothing", [None, ""])
def test_without_a_value_the_whole_tenant_is_the_key(nothing: Json) -> None:
    assert fairness_key("{{ inputs.customer }}", customer=nothing) == "acme"


def test_a_long_key_is_shortened_and_stays_its_own() -> None:
    one, other = (fairness_key("{{ inputs.customer }}", customer=f"{'ü' * 60}{end}") for end in "ab")
    assert one != other
    assert one is not None
    assert len(one.encode()) <= 64


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ inputs.customer }}", "priority.fairness_key: must be a text or a number, found a list"),
        ("{{ inputs.customer.id }}", "priority.fairness_key: `inputs.customer.id`"),
    ],
)
def test_a_key_that_cannot_be_read_is_refused(template: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        fairness_key(template, customer=[1])
    assert str(refused.value).startswith(message)
