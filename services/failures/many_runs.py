"""Take one action on many runs; a run that refuses it does not stop the others."""

import asyncio
from collections.abc import Sequence
from typing import Literal, assert_never

from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.dag.language.statuses import RunStatus
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.errors import OperationError
from docrail.services.failures.retry import RetryOrder, retry_run
from docrail.services.model_config import SHOWN
from docrail.services.runs.control import abort_run, cancel_run, pause_run, resume_run
from docrail.services.runs.views.permitted import RunAction

MOST_RUNS = 100
"""Maximum number of runs of one call: a worker answers for each."""

BulkAction = Literal[
    RunAction.PAUSE, RunAction.RESUME, RunAction.CANCEL, RunAction.ABORT, RunAction.RETRY, RunAction.UNDO
]
"""What can be done with many runs at once: RERUN takes the steps or the inputs of one."""

AT_ONCE = 4
"""Number of runs in parallel: a retry holds one of the pool's ten connections while its worker answers."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class RunOutcome:
    """The result for one run."""

    run_id: str
    """Id of the run."""
    done: bool
    """Whether the action was taken."""
    status: RunStatus | None
    """The run's status after it; null if it was not taken."""
    why: str
    """Why it was not taken; empty if it was."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class RunOutcomes:
    """The result for each run, in the order of the request."""

    outcomes: list[RunOutcome]
    """The results."""


async def act_on_runs(
    app: App, principal: Principal, run_ids: Sequence[str], action: BulkAction, *, reason: str = ""
) -> RunOutcomes:
    """Take the action on each run, and return the results in the given order. Raises nothing for a single run."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def outcome_of(run_id: str) -> RunOutcome:
        async with turns:
            try:
                status = await _act(app, principal, run_id, action, reason)
            except OperationError as error:
                return RunOutcome(run_id, done=False, status=None, why=str(error))
        return RunOutcome(run_id, done=True, status=status, why="")

    return RunOutcomes(list(await asyncio.gather(*map(outcome_of, run_ids))))


async def _act(app: App, principal: Principal, run_id: str, action: BulkAction, reason: str) -> RunStatus:
    match action:
        case RunAction.PAUSE:
            return await pause_run(app, principal, run_id, reason=reason)
        case RunAction.RESUME:
            return await resume_run(app, principal, run_id, reason=reason)
        case RunAction.CANCEL:
            return await cancel_run(app, principal, run_id, reason=reason)
        case RunAction.ABORT:
            return await abort_run(app, principal, run_id, reason or "aborted by an operator")
        case RunAction.RETRY | RunAction.UNDO:
            order = RetryOrder({}, reason=reason, undo=action is RunAction.UNDO)
            return (await retry_run(app, principal, run_id, order)).status
        case _:
            assert_never(action)
