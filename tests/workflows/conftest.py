"""A worker with test handlers, and a bench that runs definitions on the real server and replays what it recorded."""

import asyncio
import json
import re
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import asyncpg
import pytest
from pydantic import BaseModel
from temporalio import activity
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer, Worker

from docrail.activities.internal.groups import group_activity
from docrail.activities.internal.values import value_activities
from docrail.activities.report_together import ReportTogether
from docrail.activities.wrapper import Attempts
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.adapters.temporal.draining import working
from docrail.adapters.temporal.turns import TurnExecutor
from docrail.dag.engine.plan import SEMANTICS
from docrail.dag.explain.report import RunReport
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json, digest
from docrail.handlers import Handler, StepCall
from docrail.services.lake.files import Lake
from docrail.services.metrics import Metrics
from docrail.services.tools import Tools
from docrail.worker import DEFAULT_SLOTS, workflow_runner
from docrail.workflows.contract.messages import (
    DeadLetter,
    DecisionCall,
    OverdueRun,
    ReviewCall,
    ReviewEnd,
    RunEnds,
)
from docrail.workflows.contract.names import (
    ANSWER,
    CLOSE_REVIEW,
    ESCALATE_REVIEW,
    OPEN_REVIEW,
    RECORD_DEAD_LETTER,
    RECORD_DECISION,
    RECORD_ENDS,
    RECORD_OVERDUE,
    STATE,
    WORKFLOW_TYPE,
    Pinned,
    RunRequest,
    workflow_id,
)
from docrail.workflows.document_chunk import DocumentChunk
from docrail.workflows.exports import Export
from docrail.workflows.map_chunk import Chunk
from docrail.workflows.run import Run
from tests.stack import Servers
from tests.workflows.recording import RECORDED_BY

HISTORIES = Path(__file__).parent.parent / "histories"
FAST = {"initial_delay": 0.05, "jitter": 0.2}
"""A retry_config for tests: the same code as in production, with delays a test can wait for."""


class Values(BaseModel, extra="allow"):
    """Any fields: config and output of the test handlers."""


@dataclass
class Gates:
    """Steps of handler `gate` say that they began, and hold until their gate is opened."""

    began: dict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))
    opened: dict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))
    calls: list[str] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    """Items of handler `hold` that hold until their gate is opened, as `STEP[KEY]`."""
    questions: list[tuple[str, ReviewCall | DecisionCall | ReviewEnd]] = field(default_factory=list)
    """The messages of human steps to the review queue."""
    letters: list[DeadLetter] = field(default_factory=list)
    """The dead-letter records."""
    ends: list[dict[str, RunStatus]] = field(default_factory=list)
    """The ends that chunks of documents have recorded, those of each call."""
    overdue: list[OverdueRun] = field(default_factory=list)
    """The runs that were reported as overdue."""

    def handlers(self) -> list[Handler]:
        codes: list[Callable[[StepCall[Any], Tools], Awaitable[BaseModel]]] = [
            self.noop,
            self.echo,
            self.gate,
            self.hold,
            self.flaky,
            self.bad,
            self.work,
            self.rows,
        ]
        return [Handler(code.__name__, Values, Values, code) for code in codes]

    def inbox_activities(self) -> list[Callable[[Any], Awaitable[None]]]:
        @activity.defn(name=OPEN_REVIEW)
        async def open_review(call: ReviewCall) -> None:
            self.questions.append((OPEN_REVIEW, call))

        @activity.defn(name=ESCALATE_REVIEW)
        async def escalate_review(call: ReviewCall) -> None:
            self.questions.append((ESCALATE_REVIEW, call))

        @activity.defn(name=CLOSE_REVIEW)
        async def close_review(call: ReviewEnd) -> None:
            self.questions.append((CLOSE_REVIEW, call))

        @activity.defn(name=RECORD_DECISION)
        async def record_decision(call: DecisionCall) -> None:
            self.questions.append((RECORD_DECISION, call))

        @activity.defn(name=RECORD_DEAD_LETTER)
        async def record_dead_letter(letter: DeadLetter) -> None:
            self.letters.append(letter)

        @activity.defn(name=RECORD_OVERDUE)
        async def record_overdue(run: OverdueRun) -> None:
            if RECORD_OVERDUE in self.failing:
                self.failing.remove(RECORD_OVERDUE)
                raise ConnectionError("planned to fail once")
            self.overdue.append(run)

        @activity.defn(name=RECORD_ENDS)
        async def record_ends(ended: RunEnds) -> None:
            if RECORD_ENDS in self.failing:
                self.failing.remove(RECORD_ENDS)
                raise ConnectionError("planned to fail once")
            self.ends.append(ended.ends)

        asking: list[Callable[[Any], Awaitable[None]]] = [open_review, escalate_review, close_review, record_decision]
        return [*asking, record_dead_letter, record_overdue, record_ends]

    async def noop(self, call: StepCall[Any], _: Tools) -> Values:
        self.calls.append(call.step_id)
        return Values()

    async def echo(self, call: StepCall[Any], _: Tools) -> Values:
        self.calls.append(call.step_id)
        return Values(**call.config.model_dump())

    async def gate(self, call: StepCall[Any], _: Tools) -> Values:
        self.began[call.step_id].set()
        await self.opened[call.step_id].wait()
        return Values()

    async def hold(self, call: StepCall[Any], _: Tools) -> Values:
        name = f"{call.step_id}[{call.item_key}]"
        if name in self.held:
            await self.opened[name].wait()
        self.calls.append(name)
        return Values()

    async def flaky(self, call: StepCall[Any], _: Tools) -> Values:
        """Fail `times` times; at the attempt `hangs`, come back only when the step's time is up."""
        if call.attempt == getattr(call.config, "hangs", None):
            await asyncio.Event().wait()
        if call.attempt <= call.config.times:
            raise ConnectionError(f"no network at attempt {call.attempt}")
        return Values(attempts=call.attempt)

    async def work(self, call: StepCall[Any], _: Tools) -> Values:
        """Fail if the step, or the item, that this is the work of is in `failing`; a nested run fails for its step."""
        outer = call.run_id.split("~")[1:]
        step_id, item = (outer[0], outer[1] if len(outer) > 1 else None) if outer else (call.step_id, call.item_key)
        if (step_id if item is None else f"{step_id}[{item}]") in self.failing:
            raise ValueError("drawn to fail")
        return Values()

    async def rows(self, call: StepCall[Any], _: Tools) -> Values:
        """Return as many rows as asked for, about 100 bytes each, and their sum."""
        rows = [{"n": n, "text": "x" * 80} for n in range(call.config.count)]
        return Values(rows=rows, sum=sum(row["n"] for row in rows))

    async def bad(self, call: StepCall[Any], _: Tools) -> Values:
        raise ValueError(call.config.message)


@dataclass
class Bench:
    """Runs definitions by a worker of its own."""

    client: Client
    task_queue: str
    gates: Gates
    recording: str | None
    """Feature under whose name finished runs are written to tests/histories, in a recording session."""
    sandboxed: bool = True
    """Whether finished runs are replayed in the sandbox, where expressions take several times as long."""
    written: set[Path] = field(default_factory=set)
    """Files that this test has recorded."""

    async def start(
        self,
        steps: Sequence[dict[str, Json]],
        *,
        inputs: dict[str, Json] | None = None,
        resumed: dict[str, Json] | None = None,
        nested: Sequence[dict[str, Json]] = (),
        started_by: str = "",
        document: dict[str, Json] | None = None,
        highest_priority: int = 1,
        light: Sequence[str] = (),
        **more: Json,
    ) -> WorkflowHandle[Run, RunReport]:
        definition = to_json(Definition.model_validate({"id": "test", "steps": steps, **more}))
        request = RunRequest(
            tenant_id="default",
            run_id=f"test.{uuid.uuid4().hex}",
            definition=definition,
            version=1,
            digest=digest(definition),
            inputs=inputs or {},
            document=document,
            resumed=resumed,
            nested={inner["id"]: pinned(inner) for inner in nested},
            started_by=started_by,
            highest_priority=highest_priority,
            semantics=SEMANTICS,
            light=tuple(light),
        )
        handle = await self.client.start_workflow(
            WORKFLOW_TYPE,
            request,
            id=workflow_id(request.tenant_id, request.run_id),
            task_queue=self.task_queue,
            result_type=RunReport,
        )
        return cast(WorkflowHandle[Run, RunReport], handle)

    async def finish(self, handle: WorkflowHandle[Run, RunReport]) -> RunReport:
        """Wait for the run's end, replay its history, and return its report, failed or not."""
        try:
            await handle.result()
        except WorkflowFailureError as error:
            cause = error.cause
            assert not isinstance(cause, ApplicationError) or cause.type == "RunFailed", cause
        report: RunReport = await handle.query(STATE, result_type=RunReport)
        await self.replay(handle)
        return report

    async def replay(self, handle: WorkflowHandle[Any, Any], suffix: str = "") -> None:
        """Replay a history; in a recording session, keep the test's last one under its feature's name (ADR 15).

        A history of an earlier session is never overwritten.
        """
        history = await handle.fetch_history()
        await replayer(sandboxed=self.sandboxed).replay_workflow(history)
        kept = HISTORIES / f"{self.recording}{suffix}.json"
        if self.recording and (kept in self.written or not kept.exists()):
            self.written.add(kept)
            text = json.dumps(without_stack_traces(json.loads(history.to_json())), indent=1, sort_keys=True)
            kept.write_text(text + "\n")

    async def answer(self, handle: WorkflowHandle[Run, RunReport], step_id: str, answer: Json) -> str:
        """Answer a waiting step as the API does; return the run's status."""
        return cast(str, await handle.execute_update(ANSWER, args=[step_id, answer, "ann"]))

    async def run(self, steps: Sequence[dict[str, Json]], **more: Any) -> RunReport:
        return await self.finish(await self.start(steps, **more))


def pinned(definition: dict[str, Json]) -> Pinned:
    document = to_json(Definition.model_validate(definition))
    return Pinned(definition=document, version=1, digest=digest(document))


def without_stack_traces(value: Json) -> Json:
    """Return a history without the paths of the machine that recorded it; replay does not read them."""
    if isinstance(value, dict):
        return {key: without_stack_traces(item) for key, item in value.items() if key != "stackTrace"}
    return [without_stack_traces(item) for item in value] if isinstance(value, list) else value


def replayer(*, sandboxed: bool) -> Replayer:
    return Replayer(
        workflows=[Run, Chunk, DocumentChunk, Export],
        data_converter=pydantic_data_converter,
        workflow_runner=workflow_runner(sandboxed=sandboxed),
    )


def step(step_id: str, handler: str = "noop", **fields: Json) -> dict[str, Json]:
    return {"id": step_id, "handler": handler, "retry_config": FAST, **fields}


@pytest.fixture
async def bench(embedded: Servers, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    client = await Client.connect(
        embedded.temporal_address, data_converter=pydantic_data_converter, identity="recorded"
    )
    gates, queue = Gates(), f"test-{uuid.uuid4().hex}"
    name = re.sub(r"\W+", "_", cast(str, request.node.name).removeprefix("test_")).strip("_")
    recording = RECORDED_BY.get(name) if request.config.getoption("--record-histories") else None
    async with work(client, queue, gates, tools_in(tmp_path)):
        yield Bench(client, queue, gates, recording)


@pytest.fixture
async def fast(bench: Bench, tmp_path: Path) -> AsyncIterator[Bench]:
    """A bench whose worker has no sandbox, as in production."""
    queue = f"test-{uuid.uuid4().hex}"
    async with work(bench.client, queue, bench.gates, tools_in(tmp_path / "fast"), sandboxed=False):
        yield replace(bench, task_queue=queue, sandboxed=False)


def tools_in(folder: Path) -> Tools:
    """Return tools without a database, which the wrapper asks only of cached steps. The test handlers use none."""
    no_database = cast("asyncpg.Pool", None)
    values = ValueStore(folder / "values")
    return Tools(no_database, BlobStore(folder / "blobs"), values, Lake(folder / "lake"), DocumentReader(), Metrics())


@asynccontextmanager
async def work(
    client: Client,
    task_queue: str,
    gates: Gates,
    tools: Tools,
    *,
    sandboxed: bool = True,
    max_cached_workflows: int = 1_000,
) -> AsyncIterator[None]:
    """Run a worker, in the sandbox that production turns off for speed: making one takes 0.1 s for each run."""
    own = {handler.name: Attempts(handler, tools) for handler in gates.handlers()}
    worker = Worker(
        client,
        task_queue=task_queue,
        workflows=[Run, Chunk, DocumentChunk],
        activities=[
            *(each.as_activity() for each in own.values()),
            group_activity(own),
            *gates.inbox_activities(),
            *value_activities(tools),
        ],
        workflow_runner=workflow_runner(sandboxed=sandboxed),
        workflow_task_executor=TurnExecutor(DEFAULT_SLOTS),
        interceptors=[ReportTogether(DEFAULT_SLOTS)],
        max_cached_workflows=max_cached_workflows,
    )
    async with working([worker]):
        yield
