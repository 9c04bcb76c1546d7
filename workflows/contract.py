"""How callers speak to a run: its argument, ids, messages, errors and search attributes. No behaviour."""

from pydantic import BaseModel, ConfigDict
from temporalio.common import SearchAttributeKey

from dag.values import Json

WORKFLOW_TYPE = "Run"
PAUSE, RESUME, ABORT = "pause", "resume", "abort"
"""Names of the updates (they answer, and refuse in a wrong state) and of the signals (they wait for a worker)."""
STATE = "state"
"""Name of the query; it answers a RunReport."""

WRONG_STATE = "WrongState"
"""ApplicationError type of a refused update; details[0] is the run's status."""
RUN_FAILED = "RunFailed"
"""ApplicationError type of a failed run; details[0] is its RunReport."""

TENANT = SearchAttributeKey.for_keyword("DocrailTenant")
DEFINITION = SearchAttributeKey.for_keyword("DocrailDefinition")
DOCUMENT = SearchAttributeKey.for_keyword("DocrailDocument")
STATUS = SearchAttributeKey.for_keyword("DocrailStatus")
"""Set only where Temporal's own status does not tell: `paused` while paused (else `running`), `aborted` at the end."""
SEARCH_ATTRIBUTES = (TENANT, DEFINITION, DOCUMENT, STATUS)
"""What a namespace must know before runs can be started in it."""


class RunRequest(BaseModel):
    """Everything a run needs, pinned: later changes to a definition or to settings never reach it."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    run_id: str
    definition: dict[str, Json]
    """A dag.definition.Definition as JSON, every default resolved."""
    version: int
    digest: str
    inputs: dict[str, Json]
    document: dict[str, Json] | None = None
    local_handlers: tuple[str, ...] = ()
    """Handlers that declared themselves local when the run was started: how a step runs never changes in mid-run."""
    resumed: dict[str, Json] | None = None
    """A rewound state to go on from (dag.rewind), instead of a beginning."""


def workflow_id(tenant_id: str, run_id: str) -> str:
    """Return the Temporal workflow id of a run: `tenant/definition/key`."""
    definition_id, _, key = run_id.partition(".")
    return f"{tenant_id}/{definition_id}/{key}"


def run_id_of(workflow_id: str) -> str:
    """Return the public run id, `definition.key`, of a Temporal workflow id."""
    _, definition_id, key = workflow_id.split("/", 2)
    return f"{definition_id}.{key}"
