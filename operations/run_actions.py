"""What people did to a run and about its failed steps, who and when, with what they gave by hand."""

import re
from dataclasses import dataclass

from dag.inputs import InputProblem
from operations.app import App
from operations.engine import describe
from operations.errors import InvalidInput, NotFound, Unavailable
from operations.explain import load_step_status
from operations.principal import Principal
from operations.runs import checked_run_id
from storage.operator_actions import OperatorAction, list_actions

ACTION_ID_PATTERN = r"[0-9]{1,18}"
"""What surely fits into a bigint."""


@dataclass(frozen=True, slots=True)
class ActionPage:
    """Some actions, newest first, and what to ask for to get more; None at the end."""

    actions: list[OperatorAction]
    after: str | None


async def list_run_actions(
    app: App,
    principal: Principal,
    run_id: str,
    *,
    step_id: str | None = None,
    limit: int = 100,
    after: str | None = None,
) -> ActionPage:
    """Return a page of what was done; with a step only what concerned it, or the whole run.

    Also of a run that Temporal has forgotten, if anything was. Raises: NotFound, also for a step that the run does not
    have, InvalidInput, Unavailable.
    """
    if after is not None and not re.fullmatch(ACTION_ID_PATTERN, after):
        raise InvalidInput([InputProblem("after", "is not the `after` of an earlier page of this list")])
    tenant_id, before = principal.tenant_id, None if after is None else int(after)
    found = await list_actions(
        app.db, tenant_id, checked_run_id(run_id), step_id=step_id, limit=limit + 1, before=before
    )
    if not found and not await list_actions(app.db, tenant_id, run_id, limit=1):
        await describe(app, tenant_id, run_id)  # refuses if there is no such run
    if step_id is not None and not any(action.step_id == step_id for action in found):
        await _check_step(app, principal, run_id, step_id)
    return ActionPage(found[:limit], str(found[limit - 1].action_id) if len(found) > limit else None)


async def _check_step(app: App, principal: Principal, run_id: str, step_id: str) -> None:
    """Refuse a step that the run does not have, as far as the run can be asked. Raises: NotFound."""
    try:
        status = await load_step_status(app, principal, run_id, step_id)
    except (NotFound, Unavailable):  # it is forgotten, or no worker tells: what was done can be told without it
        return
    if status is None:
        raise NotFound("step", f"{run_id} {step_id}")
