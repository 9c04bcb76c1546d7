# only constants of this code are formatted into statements
"""Review items, claims, decisions and counts."""

import datetime as dt
import hashlib
from dataclasses import dataclass, field
from enum import StrEnum

from docrail.dag.engine.approvals import missing_of
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.review_summary import document_title
from docrail.invoices.model import InvoiceData

OPEN, APPROVED, REJECTED, POSTPONED = "open", "approved", "rejected", "postponed"
"""`postponed` is told of an open item that lies until a time; in the table it is open."""


DOCUMENT, STEP = "document", "step"
"""The kinds of items: what asks."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """How a document's item looks in the queue. Items of a higher band come first, then by `priority` (0 to 100).

    With an SLA, `priority` is without the part of it that is used, and `band` without what follows from that.
    """

    priority: float
    parts: dict[str, float]
    reasons: list[Json]
    summary: dict[str, Json]
    band: int = 0
    digest: str | None = None
    """Of all that a decision rests on."""
    approvals: int = 1
    """How many people must approve."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a document's review item asks, for which run, and until when."""

    run_id: str
    appearance: Appearance
    due_at: dt.datetime
    sla_from: dt.datetime | None = None
    """When its SLA began; None: its priority does not rise."""
    straight_through: bool | None = None
    audit_sample: bool = False


@dataclass(frozen=True, slots=True)
class Review:
    """A stored review item: a document's, or of the human step `step_id` of the run `run_id`."""

    tenant_id: str
    review_id: str
    document_id: str | None
    """Of a step's item the document of its run, if it has one."""
    run_id: str
    step_id: str | None
    queue: str
    question: str
    """What a human step asks, in a line; of a document ''."""
    status: str
    """`open` or `postponed`; a document's item ends as `approved` or `rejected`, a step's as `decided`, and either as
    `closed` if its run does not ask any more."""
    band: int
    priority: float
    parts: dict[str, float]
    reasons: list[Json]
    summary: dict[str, Json]
    group: str | None
    """The people that it is for; None: no people in particular."""
    may_not_decide: list[str]
    """Names of principals whose decision the run does not take."""
    assigned_to: str | None
    claimed_by: str | None
    """Who works on it: None once the lease is over."""
    claimed_until: dt.datetime | None
    claimed_at: dt.datetime | None
    claim_token: int
    """Of the last claim; an act with an older one comes too late."""
    digest: str | None
    """Of what the queue shows of a document, for a decision; it may have changed since."""
    postponed_until: dt.datetime | None
    first_approval: dict[str, Json] | None
    """by, at and digest, of an item that waits for its second approval."""
    straight_through: bool | None
    """Whether it passed, or would have passed, without a person; None: nobody asked."""
    audit_sample: bool
    touched: bool
    """Whether somebody corrected a field."""
    decided_by: str | None
    due_at: dt.datetime | None
    created_at: dt.datetime
    updated_at: dt.datetime
    closed_at: dt.datetime | None
    document_review_id: str | None
    """Of a step's item, the document's item that stands for it in the queue."""
    approvals_needed: int = 1
    """How many people must decide alike."""
    decided_so_far: list[dict[str, Json]] = field(default_factory=list)
    """by, at and digest of what each of them has decided."""

    @property
    def kind(self) -> str:
        """What asks: `document` or `step`."""
        return DOCUMENT if self.step_id is None else STEP

    @property
    def title(self) -> str:
        """What it is about, in a line: of a document, what is known of it now."""
        return self.question or document_title(self.summary, self.document_id)

    @property
    def is_open(self) -> bool:
        """Whether it waits for a decision, be it that it lies until a time."""
        return self.status in (OPEN, POSTPONED)

    @property
    def approvals_missing(self) -> int:
        """How many more people must decide as most of those have who did; 0 once it is over."""
        if not self.is_open:
            return 0
        return missing_of([each["digest"] for each in self.decided_so_far], self.approvals_needed)

    @property
    def first_approved_by(self) -> str | None:
        """Who approved it first, of an item that needs two."""
        return None if self.first_approval is None else str(self.first_approval["by"])


@dataclass(frozen=True, slots=True)
class ReviewContent:
    """What may be long of an item: the form that a decision must fit, what is shown beside it, the decision."""

    form: dict[str, Json]
    show: dict[str, Json]
    decision: Json
    decided_so_far: list[dict[str, Json]] = field(default_factory=list)
    """by, at, digest and decision of each of several people who must decide alike."""


def review_id_of(tenant_id: str, document_id: str) -> str:
    """Return the id of a document's review item: the same on every attempt."""
    return "rev_" + hashlib.sha256(f"{tenant_id}/{document_id}".encode()).hexdigest()[:26]


class Sort(StrEnum):
    """What comes first: the most urgent items, or those of which one part of the priority is greatest."""

    PRIORITY = "priority"
    UNCERTAINTY = "uncertainty"
    SLA = "sla"
    VALUE = "value"
    COMPLEXITY = "complexity"


PARTS = {sort: f"(r.parts ->> '{sort}')::float8" for sort in Sort if sort is not Sort.PRIORITY}


PARTS[Sort.SLA] = "round(sla::numeric, 4)::float8"  # as it is shown


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Which items to list; None: all. `vendor` is a part of the vendor's name, `due` the latest time that counts."""

    status: str | None = OPEN
    queue: str | None = None
    kind: str | None = None
    group: str | None = None
    claimed_by: str | None = None
    vendor: str | None = None
    band: int | None = None
    due: dt.datetime | None = None
    assigned_to: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a list a page ended: what its last item was sorted by, at the moment that the whole list is of."""

    as_of: dt.datetime
    review_id: str
    band: int
    priority: float
    created_at: dt.datetime
    part: float


LEASE = dt.timedelta(minutes=15)
"""How long a claim holds unless it is renewed, which a page does while it is open."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claimed item. `token` goes with everything that its holder does to it."""

    review: Review
    token: int
    until: dt.datetime


@dataclass(frozen=True, slots=True)
class Wish:
    """Which items `claim_next` may hand out; None: any."""

    queue: str | None = None
    kind: str | None = None
    group: str | None = None


PASSED_BY = "straight-through"
"""Who decided a document that no person looked at."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of a document. `digest` is of what was shown to whoever decided; None: nothing was."""

    status: str
    """`approved` or `rejected`."""
    answer: dict[str, Json]
    by: str
    digest: str | None
    invoice: InvoiceData | None = None
    """The document as it was shown, which is what is kept of it."""
    taught_vendor: str | None = None
    """Of whom the approval taught (storage/vendors.remember)."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A run's question whose document was decided, and what to answer."""

    tenant_id: str
    run_id: str
    step_id: str
    asked_at: float
    review_id: str
    document_id: str
    decision: Json
    decided_by: str


DECISIONS, TOUCHED, SECONDS, REVIEWED = "decisions", "touched", "seconds", "reviewed"


CORRECTIONS, STRAIGHT_THROUGH, SAMPLED, SLA = "corrections", "straight_through", "sampled", "sla"
"""Decisions by outcome; those among them with a correction; seconds from claim to decision, and of how many; values
corrected, by field; documents by what straight-through said of them; how decisions of its audit sample came out; SLA
events by percent."""


@dataclass(frozen=True, slots=True)
class ReviewCount:
    """One total."""

    name: str
    label: str
    total: float


DECIDED, CLOSED = "decided", "closed"
"""How a step's item ends: a person decided, or its run does not ask any more."""


FIRST, ESCALATED = 0, 1
"""Bands of an item: one that nobody answered in time goes before those of its new queue."""


@dataclass(frozen=True, slots=True)
class StepQuestion:
    """What a human step asks. `asked_at` is when it began to wait, in seconds since the epoch."""

    queue: str
    title: str
    form: dict[str, Json]
    show: dict[str, Json]
    priority: float
    due_at: dt.datetime | None
    asked_at: float
    group: str | None = None
    """The people that it is for."""
    may_not_decide: tuple[str, ...] = ()
    """Names of principals whose decision the run does not take."""
    approvals: int = 1
    """How many people must decide alike."""
    document_id: str | None = None
    band: int = FIRST


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How the asking that began at `asked_at` ended."""

    status: str
    asked_at: float
    decision: Json = None
    decided_by: str | None = None


@dataclass(frozen=True, slots=True)
class SettledItem:
    """A document's item that was closed with the step that asked about it: nobody decided, and its run asks no more."""

    review_id: str
    document_id: str


@dataclass(frozen=True, slots=True)
class PersonsDecision:
    """What one person decided, when, and its digest. `number` counts the decisions of an asking, from 1."""

    by: str
    at: str
    digest: str
    decision: Json
    number: int


@dataclass(frozen=True, slots=True)
class SlaEvent:
    """An open item has used `percent` of its SLA, which ends at `due_at`."""

    tenant_id: str
    review_id: str
    due_at: dt.datetime
    percent: int


@dataclass(frozen=True, slots=True)
class Unfiled:
    """A document whose acts up to `revision` the lake does not have yet."""

    tenant_id: str
    document_id: str
    revision: int
