"""Apply a test's mocks: how a step's work ends, how long it waits for an answer, what people see."""

from pydantic import ValidationError

from docrail.dag.engine.plan import Step
from docrail.dag.engine.state import StepError
from docrail.dag.language.test_cases import ItemMock, Mock, Trial
from docrail.dag.simulation.cues import Cue, CueKind
from docrail.dag.validation.rules.handlers import Catalogue
from docrail.dag.values.json_values import Json


def end_of_work(trial: Trial, step: Step, config: Json, item_key: str | None, catalogue: Catalogue) -> Cue | None:
    """Return how a handler or a nested run, or one item of it, ends; None if the test does not define it."""
    definition = step.definition
    error = _config_error(definition.handler, config, catalogue)
    if error is not None:
        return Cue(CueKind.FAIL, step.id, item_key, error=error)
    mock = _mock_for(trial.steps.get(step.id), item_key)
    if mock is None:
        return None
    if mock.failure is None:
        return Cue(CueKind.COMPLETE, step.id, item_key, value=_output(definition.handler, mock.output, catalogue))
    failure = mock.failure
    is_retried = failure.retryable and failure.type not in definition.retry_config.non_retryable
    attempts = definition.max_retries + 1 if is_retried and definition.handler is not None else 1
    return Cue(CueKind.FAIL, step.id, item_key, error=StepError(failure.type, failure.message), attempts=attempts)


def end_of_undoing(trial: Trial, step: Step, config: Json, catalogue: Catalogue) -> Cue:
    """Return how a compensation ends: successfully, unless its config does not fit or the test defines a failure."""
    assert step.definition.compensate is not None, "only such steps are undone"
    error = _config_error(step.definition.compensate.handler, config, catalogue)
    mock = trial.steps.get(step.id)
    if error is None and mock is not None and mock.undo_failure is not None:
        error = StepError(mock.undo_failure.type, mock.undo_failure.message)
    kind = CueKind.COMPLETE if error is None else CueKind.FAIL
    return Cue(kind, step.id, undoes=True, value={}, error=error)


def patience(step: Step, config: dict[str, Json]) -> float:
    """Return how many seconds a step waits; an escalated question waits twice."""
    human = step.definition.human
    if human is None:
        return float(config["seconds"])
    escalates = human.on_timeout is not None and human.on_timeout.escalate_to is not None
    return (human.timeout_seconds or 0.0) * (2 if escalates else 1)


def question(step: Step, config: dict[str, Json]) -> dict[str, Json]:
    """Return a question as the review queue shows it."""
    return {"title": str(config["title"]) or step.definition.title or step.id, "show": config["show"]}


def _mock_for(mock: Mock | None, item_key: str | None) -> Mock | ItemMock | None:
    """Return the mock that defines how a step, or one of its items, ends; None if there is none."""
    if mock is None:
        return None
    chosen = mock if item_key is None else mock.items.get(item_key, mock)
    return chosen if chosen.failure is not None or "output" in chosen.model_fields_set else None


def _config_error(handler: str | None, config: Json, catalogue: Catalogue) -> StepError | None:
    """Return the error with which the handler would refuse this resolved config."""
    if handler is None or handler not in catalogue:
        return None
    try:
        catalogue[handler].config.model_validate(config)
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, fault['loc'])) or 'value'}: {fault['msg']}" for fault in error.errors())
        return StepError("ValidationError", f"its config does not fit: {'; '.join(faults)}")
    return None


def _output(handler: str | None, output: Json, catalogue: Catalogue) -> Json:
    """Return a mock's output as the handler would return it: with defaults, unless required fields are missing."""
    if handler is None or handler not in catalogue:
        return output
    try:
        return catalogue[handler].output.model_validate(output).model_dump(mode="json")
    except ValidationError:
        return output
