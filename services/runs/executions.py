"""Run a definition in two steps: submit it, and trigger its run later, once."""

import re
import uuid
from collections.abc import Mapping
from dataclasses import replace

from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.definitions.models import DefinitionRef
from docrail.services.definitions.service import load, resolve
from docrail.services.engine import status_of
from docrail.services.errors import NotFound
from docrail.services.runs.executing import describe
from docrail.services.runs.models import Execution
from docrail.services.runs.repository import insert_execution, load_execution, mark_triggered
from docrail.services.runs.service import begin_run, confirm_run

EXECUTION_ID_PATTERN = r"^exe_[0-9a-f]{26}$"


async def submit(app: App, principal: Principal, ref: DefinitionRef, version: int | None = None) -> Execution:
    """Store that a definition is to be run, and choose its version. Nothing starts.

    Raises: InvalidDefinition, InvalidInput, NotFound.
    """
    execution_id = f"exe_{uuid.uuid4().hex[:26]}"
    stored = await resolve(app, principal, ref, version, key=execution_id)
    return await insert_execution(
        app.db,
        principal.tenant_id,
        execution_id,
        definition_id=stored.definition_id,
        version=stored.version,
    )


async def trigger(app: App, principal: Principal, execution_id: str, inputs: Mapping[str, Json]) -> Execution:
    """Start the run of an execution. Repeating it with the same inputs returns the same result and starts nothing.

    Raises: NotFound, InvalidInput (the execution stays pending), KeyConflict, Unavailable.
    """
    execution = await _load(app, principal, execution_id)
    stored = await load(app, principal, execution.definition_id, execution.version)
    if execution.triggered_at is not None:
        await confirm_run(app, principal, stored, inputs, execution_id)
    else:
        run = await begin_run(app, principal, stored, inputs, execution_id)
        await mark_triggered(app.db, principal.tenant_id, execution_id, run.run_id)
        execution = await _load(app, principal, execution_id)
    return replace(execution, status=RunStatus.RUNNING)


async def show(app: App, principal: Principal, execution_id: str) -> Execution:
    """Return an execution with its run's status.

    Raises: NotFound (also for a run that Temporal has deleted), Unavailable.
    """
    execution = await _load(app, principal, execution_id)
    if execution.run_id is None:
        return execution
    return replace(execution, status=status_of(await describe(app, principal.tenant_id, execution.run_id)))


async def _load(app: App, principal: Principal, execution_id: str) -> Execution:
    execution = None
    if re.fullmatch(EXECUTION_ID_PATTERN, execution_id):
        execution = await load_execution(app.db, principal.tenant_id, execution_id)
    if execution is None:
        raise NotFound("execution", execution_id)
    return execution
