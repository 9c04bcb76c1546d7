"""Define review items, claims, decisions and counts.

In one file because the API documents them as one noun.
"""

import datetime as dt
import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, FiniteFloat, computed_field

from docrail.dag.engine.approvals import missing_of
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import ID_PATTERN
from docrail.invoices.assessment.review_summary import document_title
from docrail.invoices.model import InvoiceData
from docrail.services.access.models import NAME_PATTERN, person
from docrail.services.model_config import SHOWN, WHOLE, Hidden, body

OPEN, APPROVED, REJECTED, POSTPONED = "open", "approved", "rejected", "postponed"
"""`postponed` is reported for an open item until its time has come; in the table it is open."""


Kind = Literal["document", "step"]
DOCUMENT: Kind = "document"
STEP: Kind = "step"


Name = Annotated[str, Field(max_length=64, pattern=ID_PATTERN)]
"""Name of a queue or a group."""


Who = Annotated[str, Field(pattern=NAME_PATTERN), AfterValidator(person)]
Token = Annotated[int, Field(strict=True, ge=1, le=2**53, description="of the caller's claim"), WHOLE]
EXAMPLE_DIGEST = "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"
Digest = Annotated[
    str,
    Field(
        pattern="^[0-9a-f]{64}$",
        description="of the document as it was shown: `digest` of its fields, or of its review item",
        examples=[EXAMPLE_DIGEST],
    ),
]


@dataclass(frozen=True, slots=True)
class Appearance:
    """How a document's item appears in the queue. Items of a higher band come first, then by `priority` (0 to 100).

    With an SLA, `priority` and `band` exclude the part that depends on the time used.
    """

    priority: float
    parts: dict[str, float]
    reasons: list[Json]
    summary: dict[str, Json]
    band: int = 0
    digest: str | None = None
    """Digest of everything that a decision is based on."""
    approvals: int = 1
    """Number of people who must approve."""


@dataclass(frozen=True, slots=True)
class Question:
    """The review request for a document: its run, its appearance and its due time."""

    run_id: str
    appearance: Appearance
    due_at: dt.datetime
    sla_from: dt.datetime | None = None
    """When its SLA started; None: its priority does not rise."""
    straight_through: bool | None = None
    audit_sample: bool = False
    file_name: str | None = None


@dataclass(frozen=True, slots=True)
class CountedDecision:
    """The decision of one of several people."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    by: str
    at: dt.datetime
    digest: str
    """Digest of the decision: equal decisions have equal digests."""
    decision: Json = None
    """Null in lists."""


class Review(BaseModel):
    """A review item: of a document, or of a human step of a run.

    For a document, `parts` are the components of the priority, and `reasons` why it needs a person.
    """

    model_config = {**SHOWN, "frozen": True}

    tenant_id: Hidden[str]
    review_id: str
    document_id: str | None
    """For a step's item, the document of its run; null if it has none."""
    file_name: str | None
    """Of the document, as the uploader claimed; null if there is none."""
    run_id: str
    step_id: str | None
    queue: str
    """`documents`, or the queue that the human step names."""
    question: Hidden[str]
    """The title of a human step's question; empty for a document."""
    status: Annotated[str, Field(examples=[OPEN])]
    """`open`, or `postponed` until a time; a document's item ends as `approved` or `rejected`, a step's as `decided`,
    and either as `closed` if its run no longer asks."""
    band: int
    """Items of a higher band come first: overdue (2), then nearly due, suspicious or escalated (1)."""
    priority: float
    """0 to 100; a document's rises as its SLA is used, and is shown as of now."""
    parts: dict[str, float]
    """Each 0 to 1; of the priority, uncertainty gives 35, sla 30, value 20 and complexity 15."""
    reasons: list[Json]
    summary: dict[str, Json]
    group: str | None
    """The group of people that a human step names; null: everyone."""
    may_not_decide: list[str]
    """People whose decision is refused: see `assignees.not_the_submitter`."""
    assigned_to: str | None
    """The person who gets the item next; null if it is not assigned."""
    claimed_by: str | None
    """The claim's holder; null once the lease has expired."""
    claimed_until: dt.datetime | None
    claimed_at: Hidden[dt.datetime | None]
    claim_token: Hidden[int]
    """Token of the last claim; acts with an older one are refused."""
    digest: str | None
    """Digest of the document as shown here, required by a bulk approval; the document may have changed since."""
    postponed_until: dt.datetime | None
    first_approval: Hidden[dict[str, Json] | None]
    """by, at and digest of the first approval, if the item needs a second one."""
    straight_through: bool | None
    """Whether it passed, or would have passed, without a person; null: not evaluated."""
    audit_sample: bool
    """Whether it was selected at random for a check by a person."""
    touched: bool
    """Whether a person corrected a field."""
    decided_by: str | None
    due_at: dt.datetime | None
    created_at: dt.datetime
    updated_at: dt.datetime
    closed_at: dt.datetime | None
    document_review_id: Hidden[str | None]
    """For a step's item, the document's item that represents it in the queue."""
    approvals_needed: int
    """Number of people who must make the same decision."""
    decided_so_far: list[CountedDecision]
    """The decisions of these people so far."""

    @computed_field(description="What asks: a document, or a human step of a run.")  # type: ignore[prop-decorator]
    @property
    def kind(self) -> Kind:
        """Return the kind of item."""
        return DOCUMENT if self.step_id is None else STEP

    @computed_field(  # type: ignore[prop-decorator]
        description="One line: the step's question, or a summary of the document's current values."
    )
    @property
    def title(self) -> str:
        """Return a one-line title."""
        return self.question or document_title(self.summary, self.document_id)

    @property
    def is_open(self) -> bool:
        """Return whether it waits for a decision, even if postponed."""
        return self.status in (OPEN, POSTPONED)

    @computed_field(  # type: ignore[prop-decorator]
        description="Number of approvals still needed for the leading decision; 0 once the item is decided or closed."
    )
    @property
    def approvals_missing(self) -> int:
        """Return the number of approvals still needed."""
        if not self.is_open:
            return 0
        return missing_of([each.digest for each in self.decided_so_far], self.approvals_needed)

    @computed_field(description="Who gave the first of two approvals; null if no one did.")  # type: ignore[prop-decorator]
    @property
    def first_approved_by(self) -> str | None:
        """Return who gave the first approval, if the item needs two."""
        return None if self.first_approval is None else str(self.first_approval["by"])


class FullReview(Review):
    """A review item with its form and content. Its `decided_so_far` contains the decisions."""

    form: dict[str, Json]
    """JSON Schema of a decision."""
    show: dict[str, Json]
    """Context that the definition shows with the form."""
    decision: Json
    """The decision; null before."""


def review_id_of(tenant_id: str, document_id: str) -> str:
    """Return the id of a document's review item: the same on every attempt."""
    return "rev_" + hashlib.sha256(f"{tenant_id}/{document_id}".encode()).hexdigest()[:26]


class Sort(StrEnum):
    """Sort orders: the most urgent items first, or those with the largest value of one part of the priority."""

    PRIORITY = "priority"
    UNCERTAINTY = "uncertainty"
    SLA = "sla"
    VALUE = "value"
    COMPLEXITY = "complexity"


PARTS = {sort: f"(r.parts ->> '{sort}')::float8" for sort in Sort if sort is not Sort.PRIORITY}


PARTS[Sort.SLA] = "round(sla::numeric, 4)::float8"  # as displayed


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Filters for a list of items; None: any. `vendor`: part of the vendor's name; `due`: latest due time.

    `run_id`: items of this run and of runs nested in it.
    """

    status: str | None = OPEN
    queue: str | None = None
    kind: str | None = None
    group: str | None = None
    claimed_by: str | None = None
    vendor: str | None = None
    band: int | None = None
    due: dt.datetime | None = None
    assigned_to: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """The position where a page ended: the sort values of its last item, as of the time the whole list reflects."""

    as_of: AwareDatetime
    review_id: Annotated[str, Field(pattern=r"^[^\x00]*$")]
    band: Annotated[int, Field(ge=0, le=2)]
    priority: FiniteFloat
    due_at: AwareDatetime | None
    created_at: AwareDatetime
    part: FiniteFloat


LEASE = dt.timedelta(minutes=15)
"""How long a claim lasts unless it is renewed, which an open page does."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claimed item. Every act on it requires `token`; the claim ends at `until` unless it is renewed."""

    review: Review
    token: int
    until: dt.datetime


@dataclass(frozen=True, slots=True)
class Wish:
    """Filters for the item to claim; null: any."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"queue": "payments"})

    queue: Name | None = None
    kind: Kind | None = None
    group: Name | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about a document. `digest`: the document as shown to the decider; None: nothing was shown."""

    status: str
    """`approved` or `rejected`."""
    answer: dict[str, Json]
    by: str
    digest: str | None
    invoice: InvoiceData | None = None
    """The document as it was shown, which is stored with the decision."""
    taught_vendor: str | None = None
    """The vendor that the approval taught (documents/repository/vendors.remember)."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A run's question whose document was decided, and the answer to give."""

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
"""Names of counts: decisions by outcome; those with a correction; seconds from claim to decision, and the number of
such decisions; corrected values by field; documents by straight-through result; outcomes of its audit sample; SLA
events by percent."""


@dataclass(frozen=True, slots=True)
class OpenReviews:
    """How many items wait for people."""

    open: int
    overdue: int


@dataclass(frozen=True, slots=True)
class ReviewCount:
    """One total."""

    name: str
    label: str
    total: float


DECIDED, CLOSED = "decided", "closed"
"""How a step's item ends: a person decided, or its run no longer asks."""


FIRST, ESCALATED = 0, 1
"""Bands of an item: an escalated one comes before the others of its new queue."""


@dataclass(frozen=True, slots=True)
class StepQuestion:
    """A human step's question. `asked_at`: when it started to wait, in seconds since the epoch."""

    queue: str
    title: str
    form: dict[str, Json]
    show: dict[str, Json]
    priority: float
    due_at: dt.datetime | None
    asked_at: float
    group: str | None = None
    """The group of people that it is for."""
    may_not_decide: tuple[str, ...] = ()
    """Names of principals whose decision the run does not accept."""
    approvals: int = 1
    """Number of people who must make the same decision."""
    document_id: str | None = None
    file_name: str | None = None
    band: int = FIRST


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How the question asked at `asked_at` ended."""

    status: str
    asked_at: float
    decision: Json = None
    decided_by: str | None = None


@dataclass(frozen=True, slots=True)
class SettledItem:
    """A document's item that was closed without a decision because no run asks about it any more."""

    review_id: str
    document_id: str


@dataclass(frozen=True, slots=True)
class PersonsDecision:
    """One person's decision with its time and digest. `number` counts the decisions on a question, from 1."""

    by: str
    at: str
    digest: str
    decision: Json
    number: int
    known_to: str = ""


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
