"""Validate the values with which a person overrides a step: an output, a config, or items of a list."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

from pydantic import ValidationError

from docrail.dag.engine.events import ResolutionKind
from docrail.dag.engine.park import shape_problem
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.retry import Edit, edit_problems
from docrail.dag.language.definition import Definition
from docrail.dag.language.inputs import InputProblem, InvalidValueError, check_answer, complete_inputs
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.validation.document.fields import report_validation_error
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_values import Json
from docrail.dag.values.wording import describe
from docrail.handlers import Handler
from docrail.services.app import App
from docrail.services.errors import InvalidInput
from docrail.services.failures.models import Resolved
from docrail.workflows.contract.names import Pinned, RunRequest, nested_key


def value_problems(app: App, request: RunRequest, step: Step, edit: Edit, prefix: str = "") -> list[InputProblem]:
    """Return the problems of an edit of a run's step; paths begin with `prefix`."""
    match edit.kind:
        case ResolutionKind.OUTPUT:
            return _output_problems(app, step, edit.value, f"{prefix}output")
        case ResolutionKind.RETRY if edit.value is not None:
            return _config_problems(app, request, step, edit.value, f"{prefix}config")
        case ResolutionKind.ITEMS:
            return [*_items_problems(app, request, step, edit.value, f"{prefix}items")]
        case _:
            return []


def check_edits(app: App, request: RunRequest, plan: Plan, edits: Mapping[str, Edit]) -> None:
    """Check edits of the steps of a run, whose plan is `plan`. Raises: InvalidInput."""
    problems = list(edit_problems(plan, edits))
    if not problems:
        for step_id, edit in edits.items():
            problems += value_problems(app, request, plan.step(step_id), edit, f"steps.{step_id}.")
    if problems:
        raise InvalidInput(problems)


def resolution_of(edit: Edit | None) -> Resolved:
    """Return the resolution that the inbox records for an edit; without one, or with one of items, it is a retry."""
    return Resolved.RETRY if edit is None or edit.kind is ResolutionKind.ITEMS else Resolved(edit.kind)


@contextmanager
def refusing_violations() -> Iterator[None]:
    """Translate edits that do not fit the ended run into a refusal. Raises: InvalidInput."""
    try:
        yield
    except InvalidValueError as error:
        raise InvalidInput(error.problems) from error


def _items_problems(app: App, request: RunRequest, step: Step, given: Json, path: str) -> Iterator[InputProblem]:
    """Yield the problems of edits to items of a list."""
    if wrong := _json_problems(given, path):
        yield from wrong
        return
    if problem := shape_problem(step, given):
        yield InputProblem(path, problem)
        return
    for key, edit in given.items():
        place = f"{path}.{key[:64]}"
        if "config" in edit:
            yield from _config_problems(app, request, step, edit["config"], f"{place}.config")
        elif "output" in edit:
            yield from _of_work(app, step, edit["output"], f"{place}.output")


def _output_problems(app: App, step: Step, output: Json, path: str) -> list[InputProblem]:
    """Return the problems of an output: later steps read it in place of the step's own."""
    definition = step.definition
    asked = definition.human.form if definition.human else definition.wait and definition.wait.accept
    if problems := _json_problems(output, path, asked or {}):
        return problems
    if step.items is not None and (wrong := _unlike_a_lists(output)):
        message = "a step over a list gives an object, with total, completed and failed as numbers and items as a list"
        return [InputProblem(path, f"{message}; {wrong}")]
    return [] if step.items is not None else _of_work(app, step, output, path)


def _of_work(app: App, step: Step, output: Json, path: str) -> list[InputProblem]:
    """Return the problems of an output that replaces that of a handler or a nested run."""
    if step.kind is StepKind.WORKFLOW and not isinstance(output, dict):
        message = "a nested run gives an object, its outputs by name"
        return [InputProblem(path, f"{message}; found {describe(output)}")]
    handler = app.catalogue.get(step.definition.handler or "")
    return [] if handler is None else _output_faults(handler, output, path)


def _unlike_a_lists(output: Json) -> str:
    """Return why an output does not have the shape of a step over a list; empty if it does."""
    if not isinstance(output, dict):
        return f"found {describe(output)}"
    kinds = {"total": int, "completed": int, "failed": int, "items": list}
    if missing := [name for name in kinds if name not in output]:
        return f"it has no {', '.join(missing)}"
    wrong = [name for name, kind in kinds.items() if type(output[name]) is not kind]
    return f"found {', '.join(f'{name} as {describe(output[name])}' for name in wrong)}" if wrong else ""


def _output_faults(handler: Handler, output: Json, path: str) -> list[InputProblem]:
    try:
        handler.output.model_validate(output)
    except ValidationError as error:
        findings = Findings()
        owner = f"the output of handler '{handler.name}'"
        report_validation_error(error, handler.output, output, findings, base=tuple(path.split(".")), owner=owner)
        return [InputProblem(problem.path, problem.message, problem.suggestion) for problem in findings.problems()]
    return []


def _config_problems(app: App, request: RunRequest, step: Step, config: Json, path: str) -> list[InputProblem]:
    """Return the problems of a config. It is used literally: its templates are not resolved."""
    problems = _json_problems(config, path)
    if not problems and step.definition.workflow is not None:
        return _inputs_problems(request.nested[nested_key(step.definition.workflow)], config, path)
    handler = app.catalogue.get(step.definition.handler or "")
    if problems or handler is None:
        return problems
    try:
        handler.config.model_validate(config)
    except ValidationError as error:
        return [InputProblem(".".join([path, *map(str, fault["loc"])]), fault["msg"]) for fault in error.errors()]
    return []


def _inputs_problems(nested: Pinned, inputs: Json, path: str) -> list[InputProblem]:
    """Return the problems of a nested run's inputs."""
    try:
        complete_inputs(Definition.model_validate(nested.definition), inputs)
    except InvalidValueError as error:
        return [replace(problem, path=path + problem.path.removeprefix("inputs")) for problem in error.problems]
    return []


def _json_problems(value: Json, path: str, schema: Mapping[str, Json] = MappingProxyType({})) -> list[InputProblem]:
    """Report NaN, NUL, unpaired surrogates, excessive size, and violations of the schema."""
    try:
        check_answer(schema, value)
    except InvalidValueError as error:
        return [InputProblem(path + problem.path.removeprefix("answer"), problem.message) for problem in error.problems]
    return []
