"""Check what a person gives a step in the place of what its definition says."""

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import ValidationError

from activities.registry import Handler
from dag.checks.fields import report_validation_error
from dag.checks.findings import Findings
from dag.checks.wording import describe
from dag.inputs import InputProblem, MisfitError, check_answer
from dag.kinds import StepKind
from dag.messages import ResolutionKind
from dag.plan import Step
from dag.retry import Edit
from dag.values import Json
from operations.app import App


def value_problems(app: App, step: Step, edit: Edit, prefix: str = "") -> list[InputProblem]:
    """Return what is wrong with what an edit gives a step; paths begin with `prefix`."""
    match edit.kind:
        case ResolutionKind.OUTPUT:
            return _output_problems(app, step, edit.value, f"{prefix}output")
        case ResolutionKind.RETRY if edit.value is not None:
            return _config_problems(app, step, edit.value, f"{prefix}config")
        case _:
            return []


def _output_problems(app: App, step: Step, output: Json, path: str) -> list[InputProblem]:
    """Return what is wrong with an output: the steps behind it read what the step itself would have given."""
    definition = step.definition
    asked = definition.human.form if definition.human else definition.wait and definition.wait.accept
    if problems := _json_problems(output, path, asked or {}):
        return problems
    if step.items is not None and (wrong := _unlike_a_lists(output)):
        told = "a step over a list gives an object, with total, completed and failed as numbers and items as a list"
        return [InputProblem(path, f"{told}; {wrong}")]
    if step.kind is StepKind.WORKFLOW and not isinstance(output, dict):
        told = "a nested run gives an object, its outputs by name"
        return [InputProblem(path, f"{told}; found {describe(output)}")]
    handler = app.catalogue.get(definition.handler or "")
    return [] if handler is None or step.items is not None else _misfits(handler, output, path)


def _unlike_a_lists(output: Json) -> str:
    """Return what makes an output none of a step over a list (dag.fan), empty if nothing does."""
    if not isinstance(output, dict):
        return f"found {describe(output)}"
    kinds = {"total": int, "completed": int, "failed": int, "items": list}
    if missing := [name for name in kinds if name not in output]:
        return f"it has no {', '.join(missing)}"
    wrong = [name for name, kind in kinds.items() if type(output[name]) is not kind]
    return f"found {', '.join(f'{name} as {describe(output[name])}' for name in wrong)}" if wrong else ""


def _misfits(handler: Handler, output: Json, path: str) -> list[InputProblem]:
    try:
        handler.output.model_validate(output)
    except ValidationError as error:
        findings = Findings()
        owner = f"the output of handler '{handler.name}'"
        report_validation_error(error, handler.output, output, findings, base=tuple(path.split(".")), owner=owner)
        return [InputProblem(problem.path, problem.message, problem.suggestion) for problem in findings.problems()]
    return []


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


def _json_problems(value: Json, path: str, schema: Mapping[str, Json] = MappingProxyType({})) -> list[InputProblem]:
    """Tell of NaN, NUL, half a surrogate pair, too many bytes, and what does not meet a schema."""
    try:
        check_answer(schema, value)
    except MisfitError as error:
        return [InputProblem(path + problem.path.removeprefix("answer"), problem.message) for problem in error.problems]
    return []
