"""List the nested runs in progress inside a run, at any depth, from Temporal's visibility store by id prefix.

The store may lag slightly; no worker is asked, however many runs there are.
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
from docrail.services.runs.views.lists import safe_value
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
"""Length of the digest that replaces a key in an id if the key cannot be part of one; other keys are shorter
(child_run_id)."""


@dataclass(frozen=True, slots=True)
class InnerPage:
    """The ids of some nested runs, and the value to request the next page with; None at the end."""

    run_ids: list[str]
    after: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a nested run: the outermost run's step and, for a step over a list, the item."""

    step_id: str
    item: str | None


@dataclass(frozen=True, slots=True)
class Inside:
    """Selects nested runs: those of a run, or of one of its lists; `waiting`: only those that are waiting."""

    tenant_id: str
    run_id: str
    step_id: str | None = None
    waiting: bool = False

    @property
    def beginning(self) -> str:
        """Return the prefix of their Temporal ids."""
        outer = self.run_id if self.step_id is None else child_run_id(self.run_id, self.step_id)
        return f"{workflow_id(self.tenant_id, outer)}~"

    @property
    def query(self) -> str:
        """Return the query for Temporal's visibility store; `has` filters its possible extra results."""
        conditions = [
            f'WorkflowType = "{WORKFLOW_TYPE}"',
            f'{TENANT.name} = "{safe_value("tenant", self.tenant_id)}"',
            'ExecutionStatus = "Running"',
            f'WorkflowId STARTS_WITH "{self.beginning}"',
            *([f'{STATUS.name} = "{RunStatus.WAITING}"'] if self.waiting else []),
        ]
        return " AND ".join(conditions)

    def has(self, id_: str) -> bool:
        """Check whether a Temporal id is one of these runs: SQLite, used by a small server, ignores letter case."""
        return id_.startswith(self.beginning)


async def list_inside(app: App, wanted: Inside, *, limit: int, after: str | None = None) -> InnerPage:
    """Return a page of the selected runs, latest start first. Raises: InvalidInput, Unavailable."""
    query = wanted.query
    token = token_of(after, query)
    pages = app.temporal.list_workflows(query, page_size=limit, next_page_token=token, rpc_timeout=RPC_TIMEOUT)
    with engine_errors("after", after or ""):
        await pages.fetch_next_page()
    found = [run_id_of(execution.id) for execution in pages.current_page or () if wanted.has(execution.id)]
    return InnerPage(found, after_of(pages.next_page_token, query))


async def count_inside(app: App, wanted: Inside) -> int:
    """Return the number of selected runs. Raises: Unavailable."""
    with engine_errors("run", wanted.run_id):
        return (await app.temporal.count_workflows(wanted.query, rpc_timeout=RPC_TIMEOUT)).count


def place_of(run_id: str, inner: str, lists: Mapping[str, bool]) -> Place:
    """Return the position of a nested run in a run. `lists`: for each step, whether it runs over a list."""
    step_id, *rest = inner.removeprefix(f"{run_id}~").split("~")
    return Place(step_id, rest[0] if rest and lists.get(step_id) else None)


async def keys_of(
    app: App, description: WorkflowExecutionDescription, places: Iterable[Place]
) -> dict[tuple[str, str], str]:
    """Return the keys of items by step and by their part of the id, which is a digest for some keys.

    Only for digests is the run asked for its state; if it cannot answer, nothing is returned and callers show the
    digest.
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
    """Return the tenant's id and the run's id of a description."""
    return tenant_of(description.id), run_id_of(description.id)
