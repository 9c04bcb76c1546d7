"""Runs are ordered by priority, with fairness keys that are separate for each tenant."""

import pytest

from docrail.dag.language.definition import Definition
from docrail.dag.values.json_values import Json
from docrail.services.errors import InvalidInput
from docrail.services.runs.priority import PARTS
from docrail.services.runs.service import priority_of


def definition(**priority: Json) -> Definition:
    steps = [{"id": "a", "handler": "noop"}]
    return Definition.model_validate({"id": "test", "steps": steps, **({"priority": priority} if priority else {})})


def fairness_key(template: str, **inputs: Json) -> str | None:
    return priority_of(definition(fairness_key=template), "acme", inputs).fairness_key


def test_by_default_tenants_take_turns_in_the_middle_priority() -> None:
    priority = priority_of(definition(), "acme", {})
    assert (priority.priority_key, priority.fairness_key, priority.fairness_weight) == (3, "acme", None)


def test_a_definition_says_its_priority_and_a_caller_overrides_it() -> None:
    assert priority_of(definition(key=2), "acme", {}).priority_key == 2
    assert priority_of(definition(key=2), "acme", {}, 5).priority_key == 5


@pytest.mark.parametrize(("asked", "highest", "given"), [(1, 3, 3), (3, 3, 3), (5, 3, 5), (None, 3, 3), (None, 4, 4)])
def test_no_run_is_more_urgent_than_its_tenants_may_be(asked: int | None, highest: int, given: int) -> None:
    by_caller = priority_of(definition(), "acme", {}, asked, highest=highest)
    by_definition = priority_of(definition(**({"key": asked} if asked else {})), "acme", {}, highest=highest)
    assert by_caller.priority_key == by_definition.priority_key == given


def test_a_fairness_key_is_a_part_of_the_tenants_turn() -> None:
    keys = {fairness_key("{{ inputs.customer }}", customer=customer) for customer in ("initech", 7)}
    assert keys | {fairness_key("night")} <= {f"acme/{number}" for number in range(PARTS)}
    assert fairness_key("{{ inputs.customer.id }}", customer={"id": 7}) == fairness_key("7")


def test_all_keys_of_a_tenant_have_together_one_turn() -> None:
    wanted = definition(fairness_key="{{ inputs.customer }}")
    found = [priority_of(wanted, "acme", {"customer": f"customer {number}"}) for number in range(1000)]
    weights = {priority.fairness_key: priority.fairness_weight for priority in found}
    assert sum(weight or 1 for weight in weights.values()) == 1


@pytest.mark.parametrize("nothing", [None, ""])
def test_without_a_value_the_whole_tenant_is_the_key(nothing: Json) -> None:
    assert fairness_key("{{ inputs.customer }}", customer=nothing) == "acme"


def test_a_key_of_a_tenant_with_a_long_name_is_shortened_and_stays_its_own() -> None:
    named = [priority_of(definition(fairness_key="night"), "a" * 62 + end, {}).fairness_key for end in "ab"]
    assert len(set(named)) == 2
    assert all(len(key or "") == 64 for key in named)


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
