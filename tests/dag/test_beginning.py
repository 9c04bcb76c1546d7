"""Without a config, `input` gives the run's declared inputs, and `output` what its parents gave."""

import pytest

from docrail.activities.registry import load_catalogue
from docrail.dag.engine.plan import compile_plan
from docrail.dag.engine.saved_state import begin
from docrail.dag.engine.scope import RunScope
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.expressions.templates import PATH_KEY
from docrail.dag.language.statuses import StepStatus
from docrail.dag.validation.validate import validate
from docrail.dag.values.json_values import Json

INPUTS: Json = {"amount": {"type": "number", "required": True}, "note": {"type": "string"}}


def read(*steps: Json, inputs: Json = None) -> Definition:
    document = {"id": "begins", "inputs": INPUTS if inputs is None else inputs, "steps": list(steps)}
    definition, problems = validate(document, None, load_catalogue())
    assert definition, problems
    return definition


def config_in_run(definition: Definition, given: dict[str, Json]) -> Json:
    """Return the config that the first step gets in a run with these inputs."""
    plan = compile_plan(definition)
    return plan.steps[0].config.resolve(RunScope(plan, begin(plan, given, {})))


@pytest.mark.parametrize("more", [{}, {"config": {}}, {"params": {}}])
def test_without_a_config_it_gives_every_declared_input(more: dict[str, Json]) -> None:
    definition = read({"node_id": "start", "handler": "input", **more})
    assert config_in_run(definition, {"amount": 12, "note": None}) == {"amount": 12, "note": None}


def test_with_a_config_it_gives_that() -> None:
    config = {"total": "{{ inputs.amount }}"}
    assert config_in_run(read({"id": "start", "handler": "input", "config": config}), {"amount": 12}) == {"total": 12}


def test_without_declared_inputs_it_gives_nothing() -> None:
    assert read({"id": "start", "handler": "input"}, inputs={}).steps[0].config == {}


def test_other_handlers_without_a_config_have_none() -> None:
    assert read({"id": "end", "handler": "output"}).steps[0].config == {}


def test_an_output_without_a_config_gives_its_parents_outputs_by_their_ids() -> None:
    """Of a parent that was skipped it gives null."""
    first, last = {"id": "first", "handler": "noop"}, {"id": "last", "handler": "noop", "condition": "false"}
    end = {"id": "end", "handler": "output", "depends_on": ["first", "last"]}
    plan = compile_plan(read(first, last, end))
    run = begin(plan, {}, {})
    run.steps[0].status, run.steps[0].output = StepStatus.COMPLETED, {"n": 1}
    run.steps[1].status = StepStatus.SKIPPED
    assert plan.steps[2].config.resolve(RunScope(plan, run)) == {"first": {"n": 1}, "last": None}


def test_a_definition_with_defaults_filled_in_is_the_same_when_submitted_again() -> None:
    definition = read({"id": "start", "handler": "input"})
    assert definition.steps[0].config == {PATH_KEY: ["inputs"]}
    again, problems = validate(to_json(definition), None, load_catalogue())
    assert (again, problems) == (definition, [])
