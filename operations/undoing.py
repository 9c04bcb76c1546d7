"""Undoing what a run could not undo: what may be asked of it, and where a refused retry points to it."""

from collections.abc import Mapping

from temporalio.client import WorkflowExecutionDescription

from dag.explain_words import SAID_KEYS, named
from dag.inputs import InputProblem
from dag.retry import Fate, Retry, StepFate
from dag.rewind import is_left
from dag.state import RunStatus
from operations.app import App
from operations.engine import status_of
from operations.errors import InvalidInput
from operations.principal import Principal
from operations.run_reports import show_run
from storage.dead_letters import StoredLetter
from workflows.contract import run_id_of


def check_undoing(retry: Retry, *, alone: bool) -> None:
    """Check that there is something to undo, and with `alone` nothing else to do. Raises: InvalidInput."""
    if not alone:
        raise InvalidInput([InputProblem("undo", "goes with no edits and no version: the run only undoes, and ends")])
    if all(fate.fate is not Fate.UNDONE for fate in retry.fates.values()):
        raise InvalidInput([InputProblem("undo", "the run has no step that could not be undone")])


def is_of_undoing(letter: StoredLetter, run_id: str, fates: Mapping[str, StepFate]) -> bool:
    """Tell whether a letter is of a step that a retry undoes."""
    return letter.run_id == run_id and letter.step_id in fates and fates[letter.step_id].fate is Fate.UNDONE


async def undo_advice(app: App, principal: Principal, description: WorkflowExecutionDescription) -> str:
    """Say what is left to do about a run that is not retried, because it was aborted; empty: nothing.

    Raises: NotFound, Unavailable.
    """
    if status_of(description) is not RunStatus.ABORTED or description.parent_id is not None:
        return ""
    run_id = run_id_of(description.id)
    steps = (await show_run(app, principal, run_id)).steps
    stuck = [step_id for step_id, step in steps.items() if is_left(step.compensation)]
    if not stuck:
        return ""
    told = f"what it could not undo ({named(stuck, SAID_KEYS)}) can be undone"
    return f"{told}: `docrail run retry {run_id} --undo`, or `undo: true` in the request"
