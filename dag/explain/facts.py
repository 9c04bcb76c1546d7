"""Define the content of an explanation: the facts of why each step is in its state, and the sentences added later."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from docrail.dag.engine.map_items import ItemCounts
from docrail.dag.engine.state import EarlierError, StepError
from docrail.dag.language.definition import TriggerRule
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.language.step_kinds import StepKind


class Part(BaseModel):
    """A part of an explanation. Times are seconds since the epoch."""

    model_config = ConfigDict(frozen=True)


class Standing(StrEnum):
    """How a trigger rule counts a parent: skipped by choice is distinct from skipped after a failure."""

    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNSETTLED = "unsettled"


class Verdict(StrEnum):
    """The result of a rule, a condition or a case. NOT_ASKED: not evaluated, or not yet."""

    YES = "yes"
    NO = "no"
    ERROR = "error"
    NOT_ASKED = "not_asked"


class HoldKind(StrEnum):
    """What prevents a step, or its next item, from beginning."""

    PARENTS = "parents"
    PAUSE = "pause"
    LAYER = "layer"
    SLOTS = "slots"
    WINDOW = "window"
    VALUES = "values"
    TURN = "turn"


class ParentPart(Part):
    """A parent of a step."""

    id: str
    status: StepStatus
    counts_as: Standing
    reason: SkipReason | None = None
    branch: str | None = None
    wanted_branches: tuple[str, ...] = ()
    """The only branches after which the step follows this parent; empty: any."""


class ParentsPart(Part):
    """All parents by how they count; `named` may omit some, `total` does not."""

    total: int = 0
    completed: int = 0
    failed: int = 0
    skipped: int = 0
    unsettled: int = 0
    named: tuple[ParentPart, ...] = ()


class RulePart(Part):
    """The step's trigger rule and its result."""

    name: TriggerRule
    verdict: Verdict


class ReadPart(Part):
    """A value that an expression read, as JSON, shortened if it is long; None: it had no value."""

    path: str
    value: str | None


class TestPart(Part):
    """A condition, or one case of a switch. `expression` None: `else`; `branch`: the branch of the case."""

    __test__ = False  # pytest would collect the class by its name

    expression: str | None
    branch: str | None = None
    verdict: Verdict
    reads: tuple[ReadPart, ...] = ()


class AnswerPart(Part):
    """The person who answered or decided a waiting step (empty: unknown), and the value as JSON, shortened if long."""

    by: str
    value: str


class WaitPart(Part):
    """What a waiting step waits for. `until`: when it times out; None: it has no limit."""

    waits_for: str
    """`signal`, `webhook`, `timer`, or `human`."""
    asks: str | None = None
    """The question to people; None if there is none, or if the values it reads are no longer available."""
    queue: str | None = None
    group: str | None = None
    """The group of people that the question is for; anyone with the permission to review may decide."""
    not_the_submitter: bool = False
    """Whether the person who started the run may not decide."""
    since: float | None = None
    until: float | None = None
    escalates_at: float | None = None
    escalates_to: str | None = None
    """The queue of the question from then on."""
    on_timeout: str = ""
    approvals_needed: int = 1
    """How many people must make the same decision."""
    approvals_missing: int = 1
    """How many of them are missing."""
    decided: tuple[AnswerPart, ...] = ()
    """The decision of each of several people, the latest last."""


class OpenWait(Part):
    """What one step waits for, in the requested run or in a run nested in it at any depth.

    `run_id` and `step_id` identify where to answer it.
    """

    run_id: str
    step_id: str
    title: str
    outer_step_id: str | None = None
    """The step of the requested run in which it waits; None: it is one of that run's own steps."""
    item: str | None = None
    """The key of the item for which that step started its run, if it runs over a list."""
    waiting: WaitPart | None = None
    """None: the step is parked and waits for a person to resolve it."""


class ItemsAtWork(Part):
    """Items of a list that have begun and not ended, by the state of their activities. Only the server knows it."""

    running: int = 0
    stopping: int = 0
    queued: int = 0
    """Waiting for a worker, or for a slot of the step's `resource_tag`."""
    backing_off: int = 0
    queued_items: tuple[str, ...] = ()
    """The keys of the first queued items."""


class FailedItem(Part):
    """An item that failed."""

    key: str
    error: StepError | None


class ItemsPart(ItemCounts):
    """Progress of a step over a list; `failed_items` has the first ones only."""

    not_started: int
    window: int
    """Items that may run at once: `for_each.max_concurrency`."""
    failed_items: tuple[FailedItem, ...] = ()


class AttemptsPart(Part):
    """How often the step, or its items together, was attempted. While it runs, only the server knows.

    `activity`: `running` on a worker, `stopping` there, `queued` for one, or `backing_off` until `next_at`.
    """

    made: int
    most: int
    """Attempts allowed, retries included; per item, if the step runs over a list."""
    last_error: StepError | None = None
    earlier: tuple[EarlierError, ...] = ()
    """How attempts before the last one failed: the latest ones, in order, with long messages shortened."""
    over_seconds: float | None = None
    """The step's `total_timeout_seconds`, if it left no time for another attempt of the step or of an item."""
    activity: str | None = None
    next_at: float | None = None
    worker: str | None = None


class HoldPart(Part):
    """Why something has not begun: the cause, and the steps involved."""

    by: HoldKind
    steps: tuple[str, ...] = ()
    running: int | None = None
    """Items that run, for WINDOW."""
    most: int | None = None
    """The limit that is reached: `for_each.max_concurrency` for WINDOW, `limits.max_concurrency` for SLOTS."""


class StepExplanation(Part):
    """Why one step is in its state. Fields that do not apply are None, or empty."""

    title: str
    kind: StepKind
    handler: str | None = None
    resource_tag: str | None = None
    status: StepStatus
    decided_by: str = ""
    reason: SkipReason | None = None
    words: tuple[str, ...] = ()
    """The explanation, one sentence per line, the deciding one first."""
    rule: RulePart
    parents: ParentsPart
    condition: TestPart | None = None
    cases: tuple[TestPart, ...] = ()
    branch: str | None = None
    hold: HoldPart | None = None
    waiting: WaitPart | None = None
    waited: WaitPart | None = None
    """What it waited for until it timed out."""
    answer: AnswerPart | None = None
    items: ItemsPart | None = None
    nested_run_id: str | None = None
    """The running nested run, which has an explanation of its own."""
    at_work: ItemsAtWork | None = None
    inner_waiting: int = 0
    """For a list of nested runs: how many runs inside it only wait for someone or something."""
    inner_waits: tuple[OpenWait, ...] = ()
    """What the first of them wait for."""
    attempts: AttemptsPart | None = None
    cached: bool = False
    """Whether the output came from the cache and no handler ran."""
    error: StepError | None = None
    compensation: StepStatus | None = None
    """Status of the step's compensation, if its run ended without success."""
    compensation_error: StepError | None = None
    resolved_by: str | None = None
    started_at: float | None = None
    ended_at: float | None = None


class StepsPart(Part):
    """Some steps of a run: how many, and the first of them in plan order."""

    total: int
    named: tuple[str, ...]


class ProgressPart(Part):
    """How far a run is, what stops or ended it, and the steps that it waits for."""

    steps: int
    settled: int
    has_ended: bool = False
    ending: RunStatus | None = None
    """The status with which it ends, or ended, after what it did was undone."""
    stop_reason: str = ""
    stopped_by: str = ""
    """The principal who stopped it; empty if no one did, or unknown."""
    stopped_by_step: str | None = None
    deadline_seconds: float | None = None
    """The definition's `deadline_seconds`."""
    not_undone: StepsPart | None = None
    """The steps that could not be undone."""
    by_status: dict[StepStatus, StepsPart] = Field(default_factory=dict)
    """The failed, parked, waiting and running steps."""


class RunExplanation(Part):
    """Why a run is in its state: its progress, and a page of its steps in plan order."""

    run_id: str
    status: RunStatus
    stopping: RunStatus | None = None
    """The status with which the run is being, or was, stopped early."""
    overdue: bool = False
    progress: ProgressPart
    words: tuple[str, ...] = ()
    """The run's state and what it waits for, one sentence per line."""
    steps: dict[str, StepExplanation] = Field(default_factory=dict)
    after: str | None = None
    """The last step of this page, to request the next one with; None at the end."""
