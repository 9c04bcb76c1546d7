"""The runs inside a run that go on now, at any depth: out of Temporal's visibility store, by how their ids begin.

It may be a moment behind, and asks no worker, however many there are.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from temporalio.client import WorkflowExecutionDescription, WorkflowQueryFailedError

from docrail.dag.language.statuses import RunStatus
from docrail.services.app import App
from docrail.services.engine import RPC_TIMEOUT, WORKER_TIMEOUT, engine_errors, worker_errors
from docrail.services.errors import Unavailable
from docrail.services.paging import after_of, token_of
from docrail.services.runs.lists import safe_value
from docrail.workflows.contract.names import (
    SAVED,
    STATUS,
    TENANT,
    WORKFLOW_TYPE,
    child_run_id,
    run_id_of,
    tenant_of,
    workflow_id,
)

DIGEST_CHARACTERS = 32
"""Of what an id says in the place of a key that it cannot say; those that it can are shorter (child_run_id)."""


@dataclass(frozen=True, slots=True)
class InnerPage:
    """The ids of some runs inside a run, and what to ask for to get the ones after them; None at the end."""

    run_ids: list[str]
    after: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """Inside which step of the outermost run something is, and where that runs over a list, for which item."""

    step_id: str
    item: str | None


@dataclass(frozen=True, slots=True)
class Inside:
    """Which inner runs are meant: those of a run, or of one list of it; `waiting`: that do nothing but wait."""

    tenant_id: str
    run_id: str
    step_id: str | None = None
    waiting: bool = False

    @property
    def beginning(self) -> str:
        """What the Temporal ids of them begin with."""
        outer = self.run_id if self.step_id is None else child_run_id(self.run_id, self.step_id)
        return f"{workflow_id(self.tenant_id, outer)}~"

    @property
    def query(self) -> str:
        """The query of Temporal's visibility store; see `has` for what it may give beside."""
        conditions = [
            f'WorkflowType = "{WORKFLOW_TYPE}"',
            f'{TENANT.name} = "{safe_value("tenant", self.tenant_id)}"',
            'ExecutionStatus = "Running"',
            f'WorkflowId STARTS_WITH "{self.beginning}"',
            *([f'{STATUS.name} = "{RunStatus.WAITING}"'] if self.waiting else []),
        ]
        return " AND ".join(conditions)

    def has(self, id_: str) -> bool:
        """Tell whether a Temporal id is of such a run: to SQLite, on which a small server stands, A is a."""
        return id_.startswith(self.beginning)


async def list_inside(app: App, wanted: Inside, *, limit: int, after: str | None = None) -> InnerPage:
    """Return a page of the runs that are meant, the last started first. Raises: InvalidInput, Unavailable."""
    query = wanted.query
    token = token_of(after, query)
    pages = app.temporal.list_workflows(query, page_size=limit, next_page_token=token, rpc_timeout=RPC_TIMEOUT)
    with engine_errors("after", after or ""):
        await pages.fetch_next_page()
    found = [run_id_of(execution.id) for execution in pages.current_page or () if wanted.has(execution.id)]
    return InnerPage(found, after_of(pages.next_page_token, query))


async def count_inside(app: App, wanted: Inside) -> int:
    """Return how many runs are meant. Raises: Unavailable."""
    with engine_errors("run", wanted.run_id):
        return (await app.temporal.count_workflows(wanted.query, rpc_timeout=RPC_TIMEOUT)).count


def place_of(run_id: str, inner: str, lists: Mapping[str, bool]) -> Place:
    """Return where in a run an inner one is. `lists`: of each step whether it runs over a list."""
    step_id, *behind = inner.removeprefix(f"{run_id}~").split("~")
    return Place(step_id, behind[0] if behind and lists.get(step_id) else None)


async def keys_of(
    app: App, description: WorkflowExecutionDescription, places: Iterable[Place]
) -> dict[tuple[str, str], str]:
    """Return the keys of items, by their step and what their ids say of them: of a key that an id cannot say, a digest.

    Only then is the run asked for its state; where it cannot tell, nothing is returned, and the digest is all there is.
    """
    outer = run_id_of(description.id)
    wanted = {(place.step_id, place.item) for place in places if place.item is not None}
    if not any(_is_digest(item) for _, item in wanted):
        return {}
    handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
    keys: dict[tuple[str, str], str] = {}
    with suppress(Unavailable, WorkflowQueryFailedError), engine_errors("run", outer), worker_errors():
        saved = await handle.query(SAVED, rpc_timeout=WORKER_TIMEOUT)
        for step_id in {step_id for step_id, _ in wanted}:
            fan = saved.get("steps", {}).get(step_id, {}).get("fan") or {"items": []}
            names = {child_run_id("", step_id, item["key"]).rpartition("~")[2]: item["key"] for item in fan["items"]}
            keys |= {(step_id, name): key for name, key in names.items() if (step_id, name) in wanted}
    return keys


def _is_digest(item: str | None) -> bool:
    return item is not None and len(item) == DIGEST_CHARACTERS


def tenant_and_run(description: WorkflowExecutionDescription) -> tuple[str, str]:
    """Return whose run is described, and its id."""
    return tenant_of(description.id), run_id_of(description.id)
