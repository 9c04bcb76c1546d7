"""What an explanation of a run holds: for each step why it is as it is, in words and as data."""

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
    """What a parent counts as for a trigger rule: skipped by choice, and lost to a failure, are different facts."""

    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNSETTLED = "unsettled"


class Verdict(StrEnum):
    """What a rule, a condition or a case said. NOT_ASKED: something before it decided, or has not decided yet."""

    YES = "yes"
    NO = "no"
    ERROR = "error"
    NOT_ASKED = "not_asked"


class HoldKind(StrEnum):
    """What keeps a step, or its next item, from beginning."""

    PARENTS = "parents"
    PAUSE = "pause"
    LAYER = "layer"
    SLOTS = "slots"
    WINDOW = "window"
    VALUES = "values"
    TURN = "turn"


class ParentPart(Part):
    """One step that another waits for."""

    id: str
    status: StepStatus
    counts_as: Standing
    reason: SkipReason | None = None
    branch: str | None = None
    wanted_branches: tuple[str, ...] = ()
    """The only branches into which the step follows this parent; empty: any."""


class ParentsPart(Part):
    """All parents by what they count as; `named` may leave some out, `total` does not."""

    total: int = 0
    completed: int = 0
    failed: int = 0
    skipped: int = 0
    unsettled: int = 0
    named: tuple[ParentPart, ...] = ()


class RulePart(Part):
    """The step's trigger rule, what it says in words, and what it said here."""

    name: TriggerRule
    says: str
    verdict: Verdict


class ReadPart(Part):
    """A value that an expression read, as JSON, cut if it is long; None: it had none."""

    path: str
    value: str | None


class TestPart(Part):
    """A condition, or one case of a switch. `expression` None: `else`; `branch`: where the case leads."""

    __test__ = False  # pytest takes the name for its own

    expression: str | None
    branch: str | None = None
    verdict: Verdict
    reads: tuple[ReadPart, ...] = ()


class AnswerPart(Part):
    """Who answered a waiting step (empty: nobody we know), or decided of it, and what: JSON, cut if it is long."""

    by: str
    value: str


class WaitPart(Part):
    """What a waiting step waits for. `until`: when its time is up; None: it waits for ever."""

    waits_for: str
    """`signal`, `webhook`, `timer`, or `human`."""
    asks: str | None = None
    """What people are asked; None: nobody is, or what the question reads is no longer at hand."""
    queue: str | None = None
    since: float | None = None
    until: float | None = None
    escalates_at: float | None = None
    escalates_to: str | None = None
    """The queue in which it is from then on."""
    on_timeout: str = ""
    approvals_needed: int = 1
    """How many people must decide alike."""
    approvals_missing: int = 1
    """How many more must."""
    decided: tuple[AnswerPart, ...] = ()
    """What each of several people has decided, the latest last."""


class OpenWait(Part):
    """What one step waits for, of the run that is asked about or of a run inside it, at any depth.

    `run_id` and `step_id` say where it is answered.
    """

    run_id: str
    step_id: str
    title: str
    outer_step_id: str | None = None
    """The step, of the run that is asked about, inside which it waits; None: it is one of its own steps."""
    item: str | None = None
    """The key of the item for which that step started its run, where it runs over a list."""
    waiting: WaitPart | None = None
    """None: the step has failed, and a person is to say what becomes of it."""


class ItemsAtWork(Part):
    """Items of a list that have begun and not ended, by what is done about them now. Only the engine's server knows."""

    running: int = 0
    stopping: int = 0
    queued: int = 0
    """They wait for a worker, or for their turn of the step's `resource_tag`."""
    backing_off: int = 0
    queued_items: tuple[str, ...] = ()
    """The keys of the first ones that are queued."""


class FailedItem(Part):
    """An item that failed."""

    key: str
    error: StepError | None


class ItemsPart(ItemCounts):
    """How far a step over a list has come; `failed_items` names the first ones only."""

    not_started: int
    window: int
    """Most that run at once: `for_each.max_concurrency`."""
    failed_items: tuple[FailedItem, ...] = ()


class AttemptsPart(Part):
    """How often the step, or its items together, was tried. While it runs, only the engine's server knows.

    `activity`: `running` on a worker, `stopping` there, `queued` for one, or `backing_off` until `next_at`.
    """

    made: int
    most: int
    """Of one attempt and its retries; for each item, where the step runs over a list."""
    last_error: StepError | None = None
    earlier: tuple[EarlierError, ...] = ()
    """How attempts before the last one failed, the latest last: the last ones, and of long messages the beginning."""
    over_seconds: float | None = None
    """The step's `total_timeout_seconds`, where that left no time for another attempt, at the step or at some item."""
    activity: str | None = None
    next_at: float | None = None
    worker: str | None = None


class HoldPart(Part):
    """Why something has not begun: by what it is held, in words, and the steps to look at."""

    by: HoldKind
    says: str
    steps: tuple[str, ...] = ()


class StepExplanation(Part):
    """Why one step is as it is. What does not apply is None, or empty."""

    title: str
    kind: StepKind
    handler: str | None = None
    resource_tag: str | None = None
    status: StepStatus
    decided_by: str = ""
    reason: SkipReason | None = None
    words: tuple[str, ...] = ()
    """The explanation, a sentence a line, what decided first."""
    rule: RulePart
    parents: ParentsPart
    condition: TestPart | None = None
    cases: tuple[TestPart, ...] = ()
    branch: str | None = None
    hold: HoldPart | None = None
    waiting: WaitPart | None = None
    waited: WaitPart | None = None
    """What it waited for until its time was up."""
    answer: AnswerPart | None = None
    items: ItemsPart | None = None
    nested_run_id: str | None = None
    """The nested run that goes on now: it has an explanation of its own."""
    at_work: ItemsAtWork | None = None
    inner_waiting: int = 0
    """Of a list of nested runs: how many runs inside it wait for somebody or something, and do nothing else."""
    inner_waits: tuple[OpenWait, ...] = ()
    """What the first ones of them wait for."""
    attempts: AttemptsPart | None = None
    cached: bool = False
    """Whether the output is that of earlier equal work, and no handler ran."""
    error: StepError | None = None
    compensation: StepStatus | None = None
    """How far undoing the step has come, where its run ended without success."""
    compensation_error: StepError | None = None
    resolved_by: str | None = None
    started_at: float | None = None
    ended_at: float | None = None


class RunExplanation(Part):
    """Why a run stands where it stands: of the run in a few words, and of its steps, in plan order, a page."""

    run_id: str
    status: RunStatus
    stopping: RunStatus | None = None
    """As what it is being stopped early, or was."""
    overdue: bool = False
    words: tuple[str, ...]
    steps: dict[str, StepExplanation] = Field(default_factory=dict)
    after: str | None = None
    """The last step of this page, to ask for the next one with; None at the end."""
