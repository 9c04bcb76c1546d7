"""Default the config of a graph's ends: `input` gives the run's inputs, `output` the outputs of its parents by id."""

from dag.definition import Definition, Step
from dag.templates import PATH_KEY
from dag.values import Json

BEGINNING = "input"
"""The handler that gives a run's inputs to the steps behind it; the seeds write it without a config."""


END = "output"
"""The handler that gathers what a run came to; without a config, what its parents gave."""


def give_ends(definition: Definition) -> Definition:
    """Return the definition with a config for each `input` and `output` step that has none."""
    configs = {step.id: config for step in definition.steps if (config := _config_of(definition, step))}
    if not configs:
        return definition
    steps = (
        step.model_copy(update={"config": configs[step.id]}) if step.id in configs else step
        for step in definition.steps
    )
    return definition.model_copy(update={"steps": tuple(steps)})


def _config_of(definition: Definition, step: Step) -> dict[str, Json] | None:
    if step.config or step.handler not in (BEGINNING, END):
        return None
    if step.handler == BEGINNING:
        return {PATH_KEY: ["inputs"]} if definition.inputs else None
    # By way of `steps`: a parent that was skipped has no output, which is null there and an error elsewhere.
    return {parent: {PATH_KEY: ["steps", parent, "output"]} for parent in step.depends_on}
