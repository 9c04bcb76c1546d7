"""Gives a graph's beginning what it begins with: a step of the handler `input` that says nothing else, the inputs."""

from dag.definition import Definition, Step
from dag.templates import PATH_KEY

BEGINNING = "input"
"""The handler that gives a run's inputs to the steps behind it; the seeds write it without a config."""


def give_inputs(definition: Definition) -> Definition:
    """Return the definition with all declared inputs as the config of each beginning that has none."""
    if not definition.inputs:
        return definition
    return definition.model_copy(update={"steps": tuple(map(_with_inputs, definition.steps))})


def _with_inputs(step: Step) -> Step:
    is_empty = step.handler == BEGINNING and not step.config
    return step.model_copy(update={"config": {PATH_KEY: ["inputs"]}}) if is_empty else step
