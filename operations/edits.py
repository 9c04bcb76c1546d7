"""Check what a person gives a step in the place of what its definition says."""

from pydantic import ValidationError

from dag.inputs import InputProblem, MisfitError, check_answer
from dag.messages import ResolutionKind
from dag.plan import Step
from dag.retry import Edit
from dag.values import Json
from operations.app import App


def value_problems(app: App, step: Step, edit: Edit, prefix: str = "") -> list[InputProblem]:
    """Return what is wrong with what an edit gives a step; paths begin with `prefix`."""
    if edit.kind is not ResolutionKind.RETRY or edit.value is None:
        return _json_problems(edit.value, f"{prefix}output")
    return _config_problems(app, step, edit.value, f"{prefix}config")


def _config_problems(app: App, step: Step, config: Json, path: str) -> list[InputProblem]:
    """Return what is wrong with a config. It is taken as it is: its templates are not resolved."""
    problems = _json_problems(config, path)
    handler = app.catalogue.get(step.definition.handler or "")
    if problems or handler is None:
        return problems
    try:
        handler.config.model_validate(config)
    except ValidationError as error:
        return [InputProblem(".".join([path, *map(str, fault["loc"])]), fault["msg"]) for fault in error.errors()]
    return []


def _json_problems(value: Json, path: str) -> list[InputProblem]:
    """Tell of NaN, NUL, half a surrogate pair, too many bytes."""
    try:
        check_answer({}, value)
    except MisfitError as error:
        return [InputProblem(path + problem.path.removeprefix("answer"), problem.message) for problem in error.problems]
    return []
