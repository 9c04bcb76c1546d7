# Made by `python -m docs.client_python`: change the API, not this file.
"""The types of what the API takes and returns. In one file because they refer to each other."""

from typing import Any, Literal, NotRequired, TypedDict

Json = Any


class AbortIn(TypedDict):
    """The reason for aborting a run."""

    reason: NotRequired[str]
    force: NotRequired[bool]


class Action(TypedDict):
    """An action, and whether the caller may take it now."""

    name: str
    allowed: bool
    reason: str
    reason_code: "RefusalCode | None"


class ActionPage(TypedDict):
    """A page of actions, newest first."""

    actions: list["OperatorAction"]
    after: str | None


class Added(TypedDict):
    """What a request has added to a batch."""

    batch_id: str
    added: int
    known: int
    duplicates: int
    duplicate_places: list["DuplicatePlace"]
    unreadable: list[str]


class AddedDocument(TypedDict):
    """A document that was sent to a batch."""

    document: "Document"
    place: str
    is_new: bool
    is_duplicate: bool


class AliasIn(TypedDict):
    """The target of an alias, and the reason for the move."""

    version: int
    percent: NotRequired[int | None]
    reason: NotRequired[str]


class AnswerIn(TypedDict):
    """The answer for a waiting step: any JSON that its `accept` or `form` allows."""

    answer: Json


class AnswerPart(TypedDict):
    """The person who answered or decided a waiting step (empty: unknown), and the value as JSON, …."""

    by: str
    value: str


class AnsweredOut(TypedDict):
    """The answer was accepted."""

    status: str


class Appended(TypedDict):
    """Uploaded documents for a batch."""

    document_ids: list[str]


class ApprovalPreview(TypedDict):
    """What a bulk approval would do."""

    items: list["PreviewedItem"]
    approved: int
    sums: list["SumOfCurrency"]
    matching: int
    token: str | None


class AssignIn(TypedDict):
    """The person to assign the item to."""

    token: NotRequired[int | None]
    to: str


class AttemptsPart(TypedDict):
    """How often the step, or its items together, was attempted."""

    made: int
    most: int
    last_error: "StepError | None"
    earlier: list["EarlierError"]
    over_seconds: float | None
    activity: str | None
    next_at: float | None
    worker: str | None


class AuditEvent(TypedDict):
    """A recorded act."""

    sequence: int
    happened_at: str
    actor: str
    act: str
    review_id: str | None
    document_id: str | None
    detail: dict[str, Json]
    state: str | None
    hash: str


class AuditOut(TypedDict):
    """A page of events, oldest first."""

    events: list["AuditEvent"]


class Batch(TypedDict):
    """A batch and its progress."""

    batch_id: str
    name: str
    status: "BatchStatus"
    definition: str | None
    max_concurrency: int
    is_closed: bool
    counts: "StateCounts"
    duplicates: int
    errors: list["ErrorCount"]
    per_minute: float
    seconds_left: float | None
    held_by: str | None
    deadline: str | None
    webhook_url: str | None
    webhook_error: str
    created_by: str
    created_at: str
    completed_at: str | None
    allowed: list[str]


class BatchDocument(TypedDict):
    """A document of a batch."""

    document_id: str
    place: str
    state: "BatchDocumentState"
    run_id: str | None
    error_type: str | None
    error_message: str | None
    started_at: str | None
    ended_at: str | None


class BatchDocumentPage(TypedDict):
    """A page of the documents of a batch, in the order in which they were added."""

    documents: list["BatchDocument"]
    after: str | None


BatchDocumentState = Literal["waiting", "running", "asking", "done", "failed", "cancelled"]


class BatchOrder(TypedDict):
    """How the documents of a batch are run, and its first documents."""

    name: NotRequired[str]
    definition: NotRequired[str | None]
    sla_hours: NotRequired[int]
    source: NotRequired[str]
    inputs: NotRequired[dict[str, Json]]
    max_concurrency: NotRequired[int]
    deadline: NotRequired[str | None]
    webhook_url: NotRequired[str | None]
    document_ids: NotRequired[list[str]]
    close: NotRequired[bool]
    grouped: NotRequired[bool]


class BatchPage(TypedDict):
    """A page of batches, newest first."""

    batches: list["Batch"]
    after: str | None


class BatchReasonIn(TypedDict):
    """Why."""

    reason: NotRequired[str]


class BatchResult(TypedDict):
    """The result of a batch: a summary, and a page of its documents."""

    batch: "Batch"
    sums: list["SumOfCurrency"]
    documents: list["ResultDocument"]
    duplicates: list["DuplicatePlace"]
    after: str | None


BatchStatus = Literal["open", "running", "paused", "completed", "cancelled"]


class Because(TypedDict):
    """Why a typed text was read in one way: the evidence, and a message that names its values."""

    code: "Grounds"
    message: str


class BrokenHandler(TypedDict):
    """An unusable handler."""

    name: str
    file: str
    line: int
    error: str


class BulkActionIn(TypedDict):
    """An action on many runs."""

    action: Literal["pause", "resume", "cancel", "abort", "retry", "undo"]
    run_ids: list[str]
    reason: NotRequired[str]


class BulkApprovalIn(TypedDict):
    """The items to approve: either as they were shown, or those of a preview by its token."""

    items: NotRequired[list["ShownItem"]]
    token: NotRequired[str]


BulkIn = TypedDict(
    "BulkIn",
    {
        "letters": NotRequired[list["LetterKeyIn"]],
        "class": NotRequired[str | None],
        "definition": NotRequired[str | None],
        "handler": NotRequired[str | None],
        "step": NotRequired[str | None],
        "failed_before": NotRequired[str | None],
        "limit": NotRequired[int],
        "reason": NotRequired[str],
    },
)


class BulkOutcome(TypedDict):
    """The result for one item of a bulk approval; `why` gives the reason if it was not approved."""

    review_id: str
    approved: bool
    why: str | None
    reasons: list["InvoiceProblem"]


class BulkResult(TypedDict):
    """The result for each item, in the given order."""

    items: list["BulkOutcome"]
    token: str | None


class CandidateOut(TypedDict):
    """The value of a field according to one source."""

    value: str | None
    source: str
    page: int | None
    box: list[Json] | None


Certainty = Literal["high", "medium", "low", "unknown"]


class ChainCheck(TypedDict):
    """The result of verifying the chain."""

    events: int
    head: str
    broken_at: int | None
    problem: str
    intact: bool


class Change(TypedDict):
    """One field that differs; `old` is null if it was added, `new` if it was removed."""

    kind: "ChangeKind"
    path: str
    old: Json
    new: Json


ChangeKind = Literal["added", "removed", "changed"]


class ChangesOut(TypedDict):
    """All changes by people to a document's fields, oldest first."""

    changes: list["StoredChange"]


class CheckIn(TypedDict):
    """Rules to validate."""

    routing: str | dict[str, Json]


class ChosenRoute(TypedDict):
    """The definition for a document, and the number, from 0, of the rule that chose it; null for the …."""

    definition: str
    rule: int | None
    faults: dict[str, str]


class Claim(TypedDict):
    """A claimed item."""

    review: "Review"
    token: int
    until: str


class ClassCount(TypedDict):
    """The number of letters of an error class, how many of them are parked, and how many may pass …."""

    error_type: str
    letters: int
    parked: int
    retryable: int
    oldest: str
    newest: str


class ColumnChoice(TypedDict):
    """A column of the documents' table."""

    name: Literal[
        "file_name",
        "document_type",
        "invoice_number",
        "order_reference",
        "date",
        "due_date",
        "delivery_date",
        "vendor_name",
        "vendor_vat_id",
        "buyer_name",
        "iban",
        "currency",
        "net",
        "tax",
        "total",
        "vendor_country",
        "vendor_trade_name",
        "account",
        "account_scheme",
        "payment_reference",
        "source",
        "received_at",
        "approved_by",
        "approved_at",
        "document_id",
    ]
    heading: NotRequired[str | None]


class Comparison(TypedDict):
    """The differences from `from_version` to `to_version`: steps, and in `fields` everything else."""

    definition_id: str
    from_version: int
    to_version: int
    added: list[str]
    removed: list[str]
    changed: list["StepDiff"]
    reordered: bool
    fields: list["Change"]


class CorrectionOrder(TypedDict):
    """The correct value of a field."""

    value: str | None
    token: int
    why: NotRequired[str]
    page: NotRequired[int | None]
    box: NotRequired[list[Json] | None]


class CountedDecision(TypedDict):
    """The decision of one of several people."""

    by: str
    at: str
    digest: str
    decision: Json


class Csv(TypedDict):
    """Text in the form of RFC 4180; with line items, a zip file of two."""

    format: Literal["csv"]
    separator: NotRequired[Literal[",", ";", "\t"]]
    decimal: NotRequired[Literal[".", ","]]
    bom: NotRequired[bool]


class Decided(TypedDict):
    """An accepted decision, and the status of the run."""

    review_id: str
    run_id: str
    step_id: str
    status: str
    approvals_missing: int
    run_status: "RunStatus"


class DecisionIn(TypedDict):
    """A person's decision: any JSON that the item's form allows."""

    decision: Json


class DecisionOutcome(TypedDict):
    """The result of a decision."""

    review: "Review"
    needs_second: list["InvoiceProblem"]
    runs_answered: bool


class DefinitionAliases(TypedDict):
    """The aliases of a definition."""

    definition_id: str
    aliases: dict[str, "Target"]


class DefinitionIn(TypedDict):
    """A whole definition: its YAML or JSON text (problems then have lines and columns), or a JSON object."""

    definition: str | dict[str, Json]


class DefinitionPage(TypedDict):
    """The newest version of each definition, by id."""

    definitions: list["ListedDefinition"]
    after: str | None


class DefinitionPlan(TypedDict):
    """How a definition runs: parallel steps by layer, the longest chain, a Mermaid flowchart, and all …."""

    definition: dict[str, Json]
    layers: list[list[str]]
    critical_path: list[str]
    mermaid: str
    warnings: list["Problem"]


class DefinitionRuns(TypedDict):
    """Numbers of runs of a definition; they may lag slightly."""

    definition_id: str
    open: int
    failed: int


class DefinitionValidation(TypedDict):
    """Whether a definition is valid, all problems found, its id and its drawing."""

    valid: bool
    problems: list["Problem"]
    id: str | None
    graph: "Graph | None"


class DeleteRows(TypedDict):
    """Delete rows."""

    do: Literal["delete"]
    row: int
    count: NotRequired[int]


class Dependant(TypedDict):
    """A step of another definition that runs this one."""

    definition_id: str
    version: int
    aliases: list[str]
    step_id: str
    nested_version: int | None


class Dependants(TypedDict):
    """The steps that run a definition, in versions that an alias names."""

    dependants: list["Dependant"]
    complete: bool


class DismissIn(TypedDict):
    """Why the failure needs no work."""

    reason: NotRequired[str]


class Document(TypedDict):
    """An uploaded document."""

    document_id: str
    sha256: str
    size_bytes: int
    media_type: str
    file_name: str
    sla_hours: float
    received_at: str
    run_id: str | None
    run_started_at: str | None
    duplicate_of: str | None
    definition: str | None
    source: str
    batch_id: str | None
    inputs: dict[str, Json]
    part_of: str | None
    first_page: int | None
    last_page: int | None
    parts: list[str]


class DocumentAction(TypedDict):
    """Whether the caller may act on the document now."""

    name: "RowAction"
    allowed: bool
    reason: str | None


class DocumentCounts(TypedDict):
    """The number of documents by status; every status is there."""

    counts: dict[str, int]
    total: int
    at_least: list["DocumentStatus"]


class DocumentHistory(TypedDict):
    """What happened to a document, oldest first."""

    events: list["HistoryEvent"]


class DocumentPage(TypedDict):
    """A page of documents."""

    documents: list["ListedDocument"]
    after: str | None


class DocumentReadings(TypedDict):
    """Every reading of a document, the one that is used first."""

    readings: list["Reading"]
    fields: list["ReadField"]


DocumentSort = Literal["newest", "oldest", "due", "total", "vendor"]

DocumentStatus = Literal[
    "attention",
    "reading",
    "failed",
    "second",
    "postponed",
    "approved",
    "rejected",
    "exported",
    "completed",
    "dismissed",
]

DocumentType = Literal[
    "invoice",
    "credit_note",
    "receipt",
    "dunning_letter",
    "statement",
    "purchase_order",
    "quote",
    "delivery_note",
    "remittance_advice",
    "contract",
]


class DocumentUse(TypedDict):
    """One paid answer of a model about a document, usable or not."""

    used_at: str
    model: str
    prompt_version: str
    attempt: int
    outcome: str
    input_tokens: int
    output_tokens: int
    thinking_tokens: int
    cost: str
    currency: str
    priced_as: str


class DocumentVerdict(TypedDict):
    """A decision, with the caller's claim and the digest of the document as shown to them."""

    token: int
    digest: str
    why: NotRequired[str]


class DuplicatePlace(TypedDict):
    """A place whose content the batch has already."""

    place: str
    document_id: str


class EarlierError(TypedDict):
    """How a retried attempt failed: its number, from 1, and for a list the key of its item."""

    attempt: int
    error: "StepError"
    item: str


class EditIn(TypedDict):
    """The override for one step: exactly one of the four."""

    config: NotRequired[dict[str, Json]]
    output: NotRequired[Json]
    skip: NotRequired[Literal[True]]
    items: NotRequired[dict[str, "ItemEditIn"]]


class EncodedPayloadInput(TypedDict):
    """A value as Temporal transports it."""

    metadata: dict[str, str]
    data: NotRequired[str]


class EncodedPayloadOutput(TypedDict):
    """A value as Temporal transports it."""

    metadata: dict[str, str]
    data: str


class ErrorCount(TypedDict):
    """The failed documents of an error class."""

    error_type: str
    documents: int
    message: str


class Execution(TypedDict):
    """A submitted definition; `run_id` is null until it is triggered, and then at `/v1/runs/{run_id}`."""

    execution_id: str
    workflow_definition_id: str
    version: int
    created_at: str
    run_id: str | None
    triggered_at: str | None
    status: "RunStatus"


class Export(TypedDict):
    """An export: a file, or messages to a URL."""

    export_id: str
    status: "Status"
    wanted: "ExportOrder"
    documents: int
    done: int
    size_bytes: int | None
    sha256: str | None
    error: str
    created_by: str
    created_at: str
    ended_at: str | None
    file_name: str


class ExportOrder(TypedDict):
    """Which approved documents are exported, with which columns, and as what."""

    to: "Csv | Xlsx | WebhookMessages"
    period: NotRequired["Period"]
    which: NotRequired[Literal["new", "all"]]
    columns: NotRequired[list["ColumnChoice"]]
    line_columns: NotRequired[list["LineColumnChoice"]]


class ExportPage(TypedDict):
    """A page of exports, newest first."""

    exports: list["Export"]
    after: str | None


class FactsIn(TypedDict):
    """The properties of an arriving document that rules read."""

    type: NotRequired[str]
    size: NotRequired[int]
    source: NotRequired[str]
    file_name: NotRequired[str]


class FailedItem(TypedDict):
    """An item that failed."""

    key: str
    error: "StepError | None"


class FailedTest(TypedDict):
    """One mismatch in a definition's test; `path` is the place of the expectation in the definition."""

    test: str
    path: str
    message: str
    expected: Json
    found: Json


Fate = Literal["reused", "rerun", "new", "skipped", "dropped", "undone"]


class FieldOut(TypedDict):
    """A field in its current state."""

    name: str
    value: str | None
    confidence: float | None
    source: str
    page: int | None
    box: list[Json] | None
    evidence: list[str]
    explanation: list["PartOut"]
    lock: "Lock | None"
    candidates: list["CandidateOut"]
    proposals: list["CandidateOut"]


class FieldsOut(TypedDict):
    """A document's current fields, and the rules that it violates."""

    document_id: str
    review_id: str
    digest: str
    confidence: float
    explanation: list["PartOut"]
    priority: list["PartOut"]
    fields: list["FieldOut"]
    line_items: list[dict[str, Json]]
    lines_version: str
    lines_total: str | None
    needs_second: list["InvoiceProblem"]
    understood: "Understood | None"
    locks: dict[str, "Lock"]
    problems: list["InvoiceProblem"]


class Fleet(TypedDict):
    """The workers and their task queues."""

    workers: list["Worker"]
    queues: list["QueueState"]


class FullReview(TypedDict):
    """A review item with its form and content."""

    review_id: str
    document_id: str | None
    file_name: str | None
    run_id: str
    step_id: str | None
    queue: str
    status: str
    band: int
    priority: float
    parts: dict[str, float]
    reasons: list[Json]
    summary: dict[str, Json]
    group: str | None
    may_not_decide: list[str]
    assigned_to: str | None
    claimed_by: str | None
    claimed_until: str | None
    digest: str | None
    postponed_until: str | None
    straight_through: bool | None
    audit_sample: bool
    touched: bool
    decided_by: str | None
    due_at: str | None
    created_at: str
    updated_at: str
    closed_at: str | None
    approvals_needed: int
    decided_so_far: list["CountedDecision"]
    form: dict[str, Json]
    show: dict[str, Json]
    decision: Json
    kind: Literal["document", "step"]
    title: str
    approvals_missing: int
    first_approved_by: str | None


class Graph(TypedDict):
    """A drawing of a definition: its steps, those of large ones in groups that can be opened."""

    steps: int
    layers: int
    open: list[str]
    nodes: list["GraphNode"]
    edges: list["GraphEdge"]
    edges_omitted: int


class GraphEdge(TypedDict):
    """An arrow between two nodes."""

    source: str
    target: str
    branch: str | None
    edges: int


class GraphNode(TypedDict):
    """A step, or a closed group of steps."""

    id: str
    title: str
    kind: "StepKind | None"
    handler: str | None
    is_list: bool
    layer: int
    last_layer: int
    steps: int


Grounds = Literal["stated", "three_decimals", "vendor_country", "other_date", "today"]


class HandlerInfo(TypedDict):
    """A handler."""

    name: str
    aliases: list[str]
    summary: str
    config_schema: dict[str, Json]
    output_schema: dict[str, Json]


class HandlerList(TypedDict):
    """Every handler, by name."""

    handlers: list["HandlerInfo"]
    broken: list["BrokenHandler"]


Happened = Literal[
    "received",
    "read",
    "read_before",
    "corrected",
    "unlocked",
    "undone",
    "assigned",
    "postponed",
    "approved_first",
    "approved",
    "rejected",
    "reopened",
    "exported",
]


class HealthOut(TypedDict):
    """The process is running."""

    status: Literal["ok"]


class HistoryEvent(TypedDict):
    """One thing that happened to a document."""

    at: str
    what: "Happened"
    by: str | None
    field: str | None
    value: str | None
    was: str | None
    why: str
    export_id: str | None


HoldKind = Literal["parents", "pause", "layer", "slots", "window", "values", "turn"]


class HoldPart(TypedDict):
    """Why something has not begun: the cause, and the steps involved."""

    by: "HoldKind"
    steps: list[str]
    running: int | None
    most: int | None


class InputOut(TypedDict):
    """A step's whole input: where a run refers to stored values, this contains them."""

    run_id: str
    step_id: str
    item: str | None
    input: Json


class InputsOut(TypedDict):
    """A run's full inputs: the given values, and the defaults of the others."""

    run_id: str
    inputs: dict[str, Json]


class InsertRow(TypedDict):
    """Insert an empty row."""

    do: Literal["insert"]
    row: int


class InvoiceProblem(TypedDict):
    """Something that a rule or a reader found wrong, worded for the reviewer."""

    code: str
    severity: "Severity"
    message: str
    field: str | None
    page: int | None
    box: list[Json] | None


class ItemCounts(TypedDict):
    """Progress of a step that runs once for each element of a list."""

    total: int
    completed: int
    failed: int
    running: int
    cancelled: int
    cached: int
    skipped: int


class ItemEditIn(TypedDict):
    """The override for one item of a list: exactly one of the three."""

    config: NotRequired[dict[str, Json]]
    output: NotRequired[Json]
    skip: NotRequired[Literal[True]]


class ItemPage(TypedDict):
    """Items of a step's list, in order."""

    items: list["ItemProgress"]
    after: int | None


class ItemProgress(TypedDict):
    """One item of a step's list; `value` and `output` are shortened JSON."""

    place: int
    key: str
    status: "StepStatus"
    attempts: int
    cached: bool
    error: "StepError | None"
    value: str
    output: str | None


class ItemsAtWork(TypedDict):
    """Items of a list that have begun and not ended, by the state of their activities."""

    running: int
    stopping: int
    queued: int
    backing_off: int
    queued_items: list[str]


class ItemsPart(TypedDict):
    """Progress of a step over a list; `failed_items` has the first ones only."""

    total: int
    completed: int
    failed: int
    running: int
    cancelled: int
    cached: int
    skipped: int
    not_started: int
    window: int
    failed_items: list["FailedItem"]


class Key(TypedDict):
    """An API key."""

    key_id: str
    tenant: str
    name: str
    scopes: list["Scope"]
    created_by: str
    known_to: str | None
    created_at: str
    expires_at: str | None
    rotated_at: str | None
    previous_until: str | None
    revoked_at: str | None
    revoked_by: str | None
    last_used_at: str | None


class KeyIn(TypedDict):
    """A key to create in the caller's tenant."""

    name: str
    scopes: list["Scope"]
    expires_at: NotRequired[str | None]


class KeyListOut(TypedDict):
    """A page of keys."""

    keys: list["Key"]
    after: str | None


class LastPass(TypedDict):
    """The latest pass of a schedule."""

    started_at: str
    state: "PassState | None"


class LetterCounts(TypedDict):
    """Letters by error class, the most frequent first."""

    classes: list["ClassCount"]
    unmatched: list["Unmatched"]


class LetterGroup(TypedDict):
    """The letters of one step of a definition that failed with one class of error."""

    error_type: str
    definition_id: str
    step_id: str
    letters: int
    parked: int
    retryable: int
    failed_again: int
    runs: int
    oldest: str
    newest: str
    message: str


class LetterGroups(TypedDict):
    """Letters by error class and step, the largest group first."""

    groups: list["LetterGroup"]
    letters: int
    allowed: bool


class LetterKeyIn(TypedDict):
    """Identifies a letter."""

    run_id: str
    step_id: str


class LetterOrderIn(TypedDict):
    """How to resolve it: retry, skip, output, abort (ends the run), or dismiss (closes only the letter)."""

    action: "Resolved"
    config: NotRequired[dict[str, Json]]
    output: NotRequired[Json]
    items: NotRequired[dict[str, "ItemEditIn"]]
    reason: NotRequired[str]


class LetterPage(TypedDict):
    """A page of letters, latest failure first."""

    letters: list["StoredLetter"]
    after: str | None
    unmatched: list["Unmatched"]


LetterStatus = Literal["parked", "failed", "resolved"]


class LimitIn(TypedDict):
    """A limit, and the reason for changing it."""

    per_second: float
    reason: NotRequired[str]


class LimitListOut(TypedDict):
    """Every resource tag that a step may have."""

    limits: list["TagLimit"]
    allowed: bool


class LineColumnChoice(TypedDict):
    """A column of the table of line items."""

    name: Literal[
        "document_id",
        "vendor_name",
        "invoice_number",
        "currency",
        "position",
        "description",
        "quantity",
        "unit_price",
        "amount",
        "tax_rate",
    ]
    heading: NotRequired[str | None]


class LinesOrder(TypedDict):
    """Edits of the line items, made one after the other: all of them, or none if one is refused."""

    edits: list["SetCell | InsertRow | DeleteRows | PasteCells"]
    base: str
    token: int
    why: NotRequired[str]


class ListedDefinition(TypedDict):
    """The newest version of a definition, the definition's aliases, and its last change."""

    definition_id: str
    version: int
    digest: str
    created_at: str
    published_by: str
    reason: str
    aliases: dict[str, "Target"]
    title: str
    changed_at: str
    changed_by: str


class ListedDocument(TypedDict):
    """One line of the list of documents."""

    document_id: str
    file_name: str
    source: str
    definition: str | None
    run_id: str | None
    received_at: str
    status: "DocumentStatus"
    duplicate_of: str | None
    look_alike_of: str | None
    document_type: "DocumentType | None"
    vendor_name: str | None
    invoice_number: str | None
    issued_on: str | None
    total: str | None
    currency: str | None
    confidence: float | None
    certainty: "Certainty"
    review_id: str | None
    due_at: str | None
    reason: str | None
    reason_code: str | None
    more_reasons: int
    claimed_by: str | None
    claimed_until: str | None
    assigned_to: str | None
    first_approved_by: str | None
    decided_by: str | None
    postponed_until: str | None
    exported_at: str | None
    actions: list["DocumentAction"]


class ListedVersion(TypedDict):
    """A version, and what the caller may do with it."""

    definition_id: str
    version: int
    digest: str
    created_at: str
    published_by: str
    reason: str
    actions: list["Action"]


class Lock(TypedDict):
    """A person confirmed the value: no reading may change it."""

    by: str
    at: str
    why: str


class Mailbox(TypedDict):
    """A folder of a mailbox that is read over IMAP with TLS."""

    host: str
    user: str
    secret: str
    port: NotRequired[int]
    folder: NotRequired[str]
    senders: NotRequired[list[str]]
    attachments: NotRequired[list[str]]
    move_to: NotRequired[str | None]


class MatchingIn(TypedDict):
    """Which documents: as in the list of documents."""

    vendor: NotRequired[str]
    text: NotRequired[str]


class Me(TypedDict):
    """The caller, as Docrail sees them."""

    name: str
    tenant: str
    scopes: list["Scope"]
    authenticated_by: "Method"
    key_id: str | None
    operator: bool


Method = Literal["key", "token", "session", "local", "internal"]


class ModelDay(TypedDict):
    """The answers of one model on one day (UTC)."""

    day: str
    model: str
    answers: int
    unusable: int
    input_tokens: int
    output_tokens: int
    thinking_tokens: int
    cost: str


class ModelUsage(TypedDict):
    """What models' answers cost."""

    currency: str
    own: "Spending"
    all_tenants: "Spending | None"
    days: list["ModelDay"]


class Move(TypedDict):
    """A move of one alias, with its targets before and after; null means that the alias does not exist."""

    alias: str
    before: "Target | None"
    after: "Target | None"


MoveKind = Literal["publish", "set", "remove", "rollback"]


class MovePage(TypedDict):
    """Moves, newest first."""

    moves: list["RecordedMove"]
    after: int | None


class Neighbours(TypedDict):
    """The place of a document among those of a list that the caller may take: their review items."""

    next: str | None
    next_below: str | None
    previous: str | None
    previous_below: str | None
    place: int
    total: int


class NewKey(TypedDict):
    """A key with a new secret, which is shown once."""

    key: str
    details: "Key"


class NewestOut(TypedDict):
    """A page of events, newest first."""

    events: list["AuditEvent"]
    before: int | None
    acts: list[str]


class NextOut(TypedDict):
    """The claimed item; null if none is free."""

    claim: "Claim | None"


class NodeState(TypedDict):
    """The state of a node of a drawing."""

    status: "StepStatus"
    counts: dict[str, int]
    attempts: int
    error: str | None
    reason: "SkipReason | None"
    branch: str | None
    items: "ItemCounts | None"
    compensation: "StepStatus | None"
    started_at: float | None
    ended_at: float | None


class OpenWait(TypedDict):
    """What one step waits for, in the requested run or in a run nested in it at any depth."""

    run_id: str
    step_id: str
    title: str
    outer_step_id: str | None
    item: str | None
    waiting: "WaitPart | None"


class OperatorAction(TypedDict):
    """A person's action on a step or, if `step_id` is null, on its run."""

    step_id: str | None
    action: str
    details: dict[str, Json]
    acted_by: str
    acted_at: str


class OutputOut(TypedDict):
    """A step's full output: where a report has `{'$stored': ...}`, this contains the stored value."""

    run_id: str
    step_id: str
    output: Json


class OutputsOut(TypedDict):
    """A run's full outputs: where its report has `{'$stored': ...}`, this contains the stored value."""

    run_id: str
    outputs: dict[str, Json]


class PageWords(TypedDict):
    """The words of a page, in reading order."""

    words: list["PlacedWord"]


class ParentPart(TypedDict):
    """A parent of a step."""

    id: str
    status: "StepStatus"
    counts_as: "Standing"
    reason: "SkipReason | None"
    branch: str | None
    wanted_branches: list[str]


class ParentsPart(TypedDict):
    """All parents by how they count; `named` may omit some, `total` does not."""

    total: int
    completed: int
    failed: int
    skipped: int
    unsettled: int
    named: list["ParentPart"]


class PartOut(TypedDict):
    """One term of a score: log-odds for a field's confidence, logarithms for the document's, points for …."""

    what: str
    weight: float


PassState = Literal["running", "completed", "failed"]


class PasteCells(TypedDict):
    """Paste cells of a spreadsheet; rows beyond the last are appended."""

    do: Literal["paste"]
    row: int
    column: Literal["description", "quantity", "unit_price", "amount", "tax_rate"]
    text: str


class PayloadsIn(TypedDict):
    """Payloads, as in Temporal's remote codec protocol."""

    payloads: list["EncodedPayloadInput"]


class PayloadsOut(TypedDict):
    """The same number of payloads, in the same order."""

    payloads: list["EncodedPayloadOutput"]


class Period(TypedDict):
    """The days, both included, within which a document must lie; without them, all documents."""

    of: NotRequired["PeriodOf"]
    since: NotRequired[str | None]
    until: NotRequired[str | None]
    time_zone: NotRequired[str]


PeriodOf = Literal["approved", "invoice_date", "received"]


class PlacedWord(TypedDict):
    """A word of a page, in the coordinates of the page's picture."""

    text: str
    box: list[Json]


class PostponeIn(TypedDict):
    """The end of the postponement, and the reason."""

    token: int
    until: str
    why: NotRequired[str]


class Preview(TypedDict):
    """What an export would have."""

    documents: int
    exported_before: int
    sums: list["SumOfCurrency"]
    kinds: list[Literal["text", "amount", "date", "time"]]
    rows: list[list[str | None]]


class PreviewIn(TypedDict):
    """The items to preview: some, or all that match."""

    review_ids: NotRequired[list[str]]
    matching: NotRequired["MatchingIn"]


class PreviewedItem(TypedDict):
    """What a bulk approval would do with one item; `why` gives the reason if it would stay open."""

    review_id: str
    document_id: str | None
    file_name: str | None
    vendor: str | None
    number: str | None
    total: str | None
    currency: str | None
    approved: bool
    why: str | None
    reasons: list["InvoiceProblem"]


class Problem(TypedDict):
    """One thing to change."""

    code: str
    message: str
    path: str
    line: int | None
    column: int | None
    suggestion: str | None
    severity: Literal["error", "warning"]


class ProgressPart(TypedDict):
    """How far a run is, what stops or ended it, and the steps that it waits for."""

    steps: int
    settled: int
    has_ended: bool
    ending: "RunStatus | None"
    stop_reason: str
    stopped_by: str
    stopped_by_step: str | None
    deadline_seconds: float | None
    not_undone: "StepsPart | None"
    by_status: dict[str, "StepsPart"]


class PublishIn(TypedDict):
    """A definition to publish."""

    definition: str | dict[str, Json]
    promote: NotRequired[bool]
    reason: NotRequired[str]
    based_on: NotRequired[int | None]


class Published(TypedDict):
    """A published version, the current aliases, and the validator's warnings."""

    definition_id: str
    version: int
    digest: str
    created_at: str
    published_by: str
    reason: str
    aliases: dict[str, "Target"]
    warnings: list["Problem"]


class QueueState(TypedDict):
    """What waits in a task queue, and who takes it."""

    queue: str
    tag: str | None
    tasks: "TaskKind"
    waiting: int
    oldest_wait_seconds: float
    added_per_second: float
    taken_per_second: float
    workers: int


Quota = Literal[
    "requests_per_second", "body_bytes", "documents_per_day", "open_runs", "model_budget_per_day", "highest_priority"
]


class QuotaIn(TypedDict):
    """A quota of a tenant, or of one of its keys."""

    tenant: str
    key_id: NotRequired[str | None]
    value: float


class QuotaListOut(TypedDict):
    """The quotas of a tenant and its keys."""

    quotas: list["SetQuota"]
    allowed: bool


class ReadField(TypedDict):
    """A field in every reading, in the order of the readings."""

    name: str
    values: list[str | None]
    sources: list[str]
    differs: bool


class ReadPart(TypedDict):
    """A value that an expression read, as JSON, shortened if it is long; None: it had no value."""

    path: str
    value: str | None


class Readiness(TypedDict):
    """`ok` for each available service, else a description of the problem."""

    ready: bool
    temporal: str
    postgresql: str
    worker: str
    store: str
    store_free_bytes: int | None


class Reading(TypedDict):
    """One reading of a document's bytes."""

    version: str
    read_at: str
    reader: str
    readers: list[str]
    model: str
    confidence: float
    line_items: int
    is_used: bool


class ReasonIn(TypedDict):
    """The reason for an action."""

    reason: NotRequired[str]


class RecordedMove(TypedDict):
    """A recorded move: who, when and why."""

    alias: str
    before: "Target | None"
    after: "Target | None"
    move_id: int
    kind: "MoveKind"
    moved_by: str
    moved_at: str
    reason: str


RefusalCode = Literal[
    "needs_scope",
    "run_deleted",
    "run_status",
    "run_stopping",
    "nested",
    "nothing_to_undo",
    "no_answer",
    "step_status",
    "step_kept",
    "step_kind",
    "no_other_version",
    "already_stable",
]


class ReleaseIn(TypedDict):
    """The caller's claim; operators can take items from others without one."""

    token: NotRequired[int | None]


class RenewedOut(TypedDict):
    """The new end of the claim."""

    until: str


class ReopenIn(TypedDict):
    """The reason for reopening."""

    why: str


ResolveAction = Literal["retry", "skip", "output"]


class ResolveIn(TypedDict):
    """How to resolve a parked step: retry it, optionally with another `config`; skip it; or provide its …."""

    action: "ResolveAction"
    config: NotRequired[dict[str, Json]]
    output: NotRequired[Json]
    items: NotRequired[dict[str, "ItemEditIn"]]
    reason: NotRequired[str]


Resolved = Literal["retry", "skip", "output", "abort", "dismiss"]


class ResultDocument(TypedDict):
    """The result of one document."""

    document_id: str
    file_name: str
    place: str
    state: "BatchDocumentState"
    status: "DocumentStatus"
    run_id: str | None
    error_type: str | None
    error_message: str | None
    vendor_name: str | None
    invoice_number: str | None
    issued_on: str | None
    total: str | None
    currency: str | None
    confidence: float | None
    review_id: str | None
    outputs: Json


class Retried(TypedDict):
    """The result for each letter, and the number of open ones that still match."""

    outcomes: list["RetryOutcome"]
    left: int
    unmatched: list["Unmatched"]


class RetriedRun(TypedDict):
    """A retried run, or its preview: the version, and the fate of each step."""

    run_id: str
    version: int
    status: "RunStatus"
    steps: dict[str, "StepFate"]
    end: str


class RetryIn(TypedDict):
    """How to retry an ended run; by default without changes."""

    steps: NotRequired[dict[str, "EditIn"]]
    version: NotRequired[int | None]
    from_steps: NotRequired[list[str]]
    inputs: NotRequired[dict[str, Json]]
    undo: NotRequired[bool]
    preview: NotRequired[bool]
    reason: NotRequired[str]


class RetryOfBatch(TypedDict):
    """Which failed documents are tried again."""

    error_type: NotRequired[str | None]


class RetryOutcome(TypedDict):
    """The result for a letter that was to be retried."""

    run_id: str
    step_id: str
    retried: bool
    why: str | None


class Review(TypedDict):
    """A review item: of a document, or of a human step of a run."""

    review_id: str
    document_id: str | None
    file_name: str | None
    run_id: str
    step_id: str | None
    queue: str
    status: str
    band: int
    priority: float
    parts: dict[str, float]
    reasons: list[Json]
    summary: dict[str, Json]
    group: str | None
    may_not_decide: list[str]
    assigned_to: str | None
    claimed_by: str | None
    claimed_until: str | None
    digest: str | None
    postponed_until: str | None
    straight_through: bool | None
    audit_sample: bool
    touched: bool
    decided_by: str | None
    due_at: str | None
    created_at: str
    updated_at: str
    closed_at: str | None
    approvals_needed: int
    decided_so_far: list["CountedDecision"]
    kind: Literal["document", "step"]
    title: str
    approvals_missing: int
    first_approved_by: str | None


class ReviewAction(TypedDict):
    """Whether the caller may act on the item now."""

    name: Literal["claim", "correct", "undo", "approve", "reject", "postpone", "release", "reopen"]
    allowed: bool
    problem: str | None
    reason: str | None


class ReviewPage(TypedDict):
    """A page of review items, most urgent first."""

    reviews: list["Review"]
    after: str | None
    unmatched: list["Unmatched"]


class ReviewViewOut(TypedDict):
    """A document's review item with everything that a person needs to decide it."""

    review: "FullReview"
    fields: "FieldsOut"
    document: "Document"
    page_count: int
    actions: list["ReviewAction"]
    undoable: "StoredChange | None"
    as_of: str


class RotationIn(TypedDict):
    """How to rotate a key."""

    overlap_hours: NotRequired[float]


class RoutingIn(TypedDict):
    """Rules, in order: their YAML or JSON text (problems then have lines and columns), or a JSON object."""

    routing: str | dict[str, Json]
    revision: NotRequired[int | None]


RowAction = Literal["send-again", "dismiss"]


class RulePart(TypedDict):
    """The step's trigger rule and its result."""

    name: "TriggerRule"
    verdict: "Verdict"


class RulesSet(TypedDict):
    """The rules in force, and the validator's warnings."""

    revision: int
    rules: list[dict[str, Json]]
    source: str
    set_by: str | None
    set_at: str | None
    names: list[str]
    default: str
    warnings: list["Problem"]


RunAction = Literal["pause", "resume", "cancel", "abort", "retry", "rerun", "undo"]


class RunCounts(TypedDict):
    """Numbers of runs, by definition, in the order asked for."""

    counts: list["DefinitionRuns"]
    failed_since: str


class RunExplanation(TypedDict):
    """Why a run is in its state: its progress, and a page of its steps in plan order."""

    run_id: str
    status: "RunStatus"
    stopping: "RunStatus | None"
    overdue: bool
    progress: "ProgressPart"
    words: list[str]
    steps: dict[str, "StepExplanation"]
    after: str | None


class RunGraph(TypedDict):
    """A run, drawn: its nodes and arrows, and the states of the nodes."""

    run: "RunHead"
    graph: "Graph"
    focus: str | None
    states: dict[str, "NodeState"]
    unknown: str


class RunHead(TypedDict):
    """A run as a whole."""

    run_id: str
    definition_id: str
    version: int
    digest: str
    document_id: str | None
    file_name: str | None
    outer_run_id: str | None
    status: "RunStatus"
    stopping: "RunStatus | None"
    reason: str
    overdue: bool
    started_at: float | None
    ended_at: float | None
    steps: int
    settled: int
    counts: dict[str, int]
    actions: list["Action"]
    history_url: str


class RunOrder(TypedDict):
    """A run to start: `ID`, `ID@VERSION` or `ID@ALIAS`, or a whole definition, which is published first."""

    definition: str | dict[str, Json]
    version: NotRequired[int | None]
    inputs: NotRequired[dict[str, Json]]
    key: NotRequired[str | None]
    priority: NotRequired[int | None]


class RunOut(TypedDict):
    """A run: its steps in plan order with status, explanation, attempts and duration, the totals, and …."""

    run_id: str
    tenant_id: str
    definition_id: str
    version: int
    digest: str
    status: "RunStatus"
    reason: str
    stopped_by: str
    stopped_by_step: str | None
    why: list[str]
    stopping: "RunStatus | None"
    steps: dict[str, "StepReport"]
    completed: int
    failed: int
    skipped: int
    cancelled: int
    started_at: float | None
    ended_at: float | None
    duration_seconds: float | None
    overdue: bool
    outputs: dict[str, Json]
    step_outputs_omitted: bool
    unexplained: int
    history_url: str
    explain_url: str


class RunOutcome(TypedDict):
    """The result for one run."""

    run_id: str
    done: bool
    status: "RunStatus | None"
    why: str


class RunOutcomes(TypedDict):
    """The result for each run, in the order of the request."""

    outcomes: list["RunOutcome"]


class RunPage(TypedDict):
    """A page of runs, newest first; it may lag slightly."""

    runs: list["RunSummary"]
    after: str | None
    unmatched: list["Unmatched"]


class RunStates(TypedDict):
    """The states of a run and of the nodes of its drawing."""

    run: "RunHead"
    states: dict[str, "NodeState"]
    unknown: str


RunStatus = Literal["pending", "running", "waiting", "paused", "completed", "failed", "aborted", "cancelled"]


class RunStatusOut(TypedDict):
    """A run's status after a change."""

    run_id: str
    status: "RunStatus"


class RunSummary(TypedDict):
    """One line of a list of runs: the state of the run's last attempt."""

    run_id: str
    definition_id: str
    version: int | None
    document_id: str | None
    file_name: str | None
    status: "RunStatus"
    started_at: str
    ended_at: str | None
    overdue: bool
    attempts: int
    allowed: list["RunAction"]
    unreadable: str | None


class ScheduleListOut(TypedDict):
    """The schedules of Docrail's own work."""

    schedules: list["ShownSchedule"]
    allowed: bool


ScheduleName = Literal["maintenance", "sla", "background"]


class ScheduleReason(TypedDict):
    """Why a schedule is paused or resumed."""

    reason: NotRequired[str]


Scope = Literal["submit", "read", "review", "operate", "admin"]


class Session(TypedDict):
    """A browser session."""

    session_id: str
    tenant: str
    name: str
    scopes: list["Scope"]
    key_id: str | None
    issuer: str | None
    created_at: str
    last_seen_at: str
    expires_at: str
    revoked_at: str | None


class SessionListOut(TypedDict):
    """A page of open sessions."""

    sessions: list["Session"]
    after: str | None


class SetCell(TypedDict):
    """Set one cell to what a person typed."""

    do: Literal["set"]
    row: int
    column: Literal["description", "quantity", "unit_price", "amount", "tax_rate"]
    text: str


class SetQuota(TypedDict):
    """A quota of a tenant, or of one of its keys."""

    quota: "Quota"
    value: float
    tenant: str
    key_id: str | None
    changed_by: str | None
    changed_at: str | None


Severity = Literal["error", "warning"]


class ShownItem(TypedDict):
    """An item, and its digest as shown in the queue."""

    review_id: str
    digest: str


class ShownLetter(TypedDict):
    """A letter, and the actions on it or its run, newest first."""

    run_id: str
    step_id: str
    definition_id: str
    version: int
    handler: str | None
    document_id: str | None
    file_name: str | None
    status: "LetterStatus"
    error_type: str
    error_message: str
    retryable: bool
    attempts: int
    failed_again: int
    failed_at: str
    resolution: "Resolved | None"
    resolved_by: str | None
    resolved_at: str | None
    actions: list["OperatorAction"]


class ShownSchedule(TypedDict):
    """A schedule, as Temporal keeps it."""

    name: "ScheduleName"
    every_seconds: float | None
    paused: bool
    note: str
    next_at: str | None
    last: "LastPass | None"
    passes: int


class ShownValue(TypedDict):
    """A JSON value as text, so that no reader rounds its numbers."""

    text: str
    bytes: int
    cut: bool


class SignIn(TypedDict):
    """An API key to sign in with."""

    key: str


class SignInMethodsOut(TypedDict):
    """How people may sign in here with a browser."""

    key: bool
    single_sign_on: bool


SkipReason = Literal["condition_false", "rule_not_met", "upstream_failed", "upstream_skipped", "aborted", "operator"]


class Slots(TypedDict):
    """How many tasks a worker handles at once."""

    used: int
    total: int | None


Sort = Literal["priority", "uncertainty", "sla", "value", "complexity"]


class Spending(TypedDict):
    """What models' answers have cost since midnight UTC, and what they may cost."""

    spent_today: str
    budget_per_day: str | None


Standing = Literal["completed", "failed", "skipped", "unsettled"]


class StartedRun(TypedDict):
    """An existing run."""

    run_id: str
    definition_id: str
    version: int
    digest: str
    created: bool


class StateCounts(TypedDict):
    """How many documents are in each state."""

    waiting: int
    running: int
    asking: int
    done: int
    failed: int
    cancelled: int
    total: int


Status = Literal["preparing", "sending", "ready", "failed"]

StatusFilter = Literal["open", "resolved", "all"]


class StepDetail(TypedDict):
    """A step of a run: its state, why it is in it, its input and output, and what the caller may do with …."""

    step: "StepLine"
    explanation: "StepExplanation"
    input: "ShownValue | None"
    edited: bool
    input_problem: str
    output: "ShownValue | None"
    output_problem: str
    actions: list["Action"]


class StepDiff(TypedDict):
    """A step that exists in both versions, and its differences."""

    id: str
    changes: list["Change"]


class StepError(TypedDict):
    """Why a step failed: the error's type and its message, both shortened to what a report can carry."""

    type: str
    message: str


class StepExplanation(TypedDict):
    """Why one step is in its state."""

    title: str
    kind: "StepKind"
    handler: str | None
    resource_tag: str | None
    status: "StepStatus"
    decided_by: str
    reason: "SkipReason | None"
    words: list[str]
    rule: "RulePart"
    parents: "ParentsPart"
    condition: "TestPart | None"
    cases: list["TestPart"]
    branch: str | None
    hold: "HoldPart | None"
    waiting: "WaitPart | None"
    waited: "WaitPart | None"
    answer: "AnswerPart | None"
    items: "ItemsPart | None"
    nested_run_id: str | None
    at_work: "ItemsAtWork | None"
    inner_waiting: int
    inner_waits: list["OpenWait"]
    attempts: "AttemptsPart | None"
    cached: bool
    error: "StepError | None"
    compensation: "StepStatus | None"
    compensation_error: "StepError | None"
    resolved_by: str | None
    started_at: float | None
    ended_at: float | None


class StepFate(TypedDict):
    """What happens to one step, and why, in words."""

    fate: "Fate"
    why: str


StepKind = Literal["handler", "wait", "human", "workflow", "abort", "switch"]


class StepLine(TypedDict):
    """A step of a run in a list or on a timeline."""

    step_id: str
    title: str
    kind: "StepKind"
    handler: str | None
    layer: int
    groups: list[str]
    status: "StepStatus"
    reason: "SkipReason | None"
    error: "StepError | None"
    attempts: int
    items: "ItemCounts | None"
    started_at: float | None
    ended_at: float | None


class StepPage(TypedDict):
    """A page of the steps of a run, in plan order."""

    steps: list["StepLine"]
    found: int
    after: str | None


class StepReport(TypedDict):
    """One step."""

    title: str
    kind: "StepKind"
    handler: str | None
    resource_tag: str | None
    status: "StepStatus"
    decided_by: str
    reason: "SkipReason | None"
    error: "StepError | None"
    branch: str | None
    answered_by: str | None
    approvals_missing: int | None
    resolved_by: str | None
    why: list[str]
    compensation: "StepStatus | None"
    compensation_error: "StepError | None"
    items: "ItemCounts | None"
    cached: bool
    attempts: int
    started_at: float | None
    ended_at: float | None
    duration_seconds: float | None
    output: Json


StepStatus = Literal["pending", "queued", "running", "waiting", "parked", "completed", "failed", "skipped", "cancelled"]


class StepsPart(TypedDict):
    """Some steps of a run: how many, and the first of them in plan order."""

    total: int
    named: list[str]


class StoredChange(TypedDict):
    """A person's change to a field; `undone_at` is set if it was undone."""

    field: str
    act: Literal["lock", "unlock"]
    value: str | None
    read_value: str | None
    read_source: str
    corrected_by: str
    corrected_at: str
    why: str
    undone_at: str | None


class StoredDefinition(TypedDict):
    """A published version: the definition with every default resolved, and its author's text."""

    definition_id: str
    version: int
    digest: str
    created_at: str
    published_by: str
    reason: str
    body: dict[str, Json]
    source: str


class StoredLetter(TypedDict):
    """A permanently failed step."""

    run_id: str
    step_id: str
    definition_id: str
    version: int
    handler: str | None
    document_id: str | None
    file_name: str | None
    status: "LetterStatus"
    error_type: str
    error_message: str
    retryable: bool
    attempts: int
    failed_again: int
    failed_at: str
    resolution: "Resolved | None"
    resolved_by: str | None
    resolved_at: str | None


class StoredRules(TypedDict):
    """The rules in force."""

    revision: int
    rules: list[dict[str, Json]]
    source: str
    set_by: str | None
    set_at: str | None
    names: list[str]
    default: str


class SubmissionIn(TypedDict):
    """The definition to run later: `ID`, `ID@VERSION`, `ID@ALIAS`, or a whole definition, which is …."""

    definition: str | dict[str, Json]
    version: NotRequired[int | None]


class SumOfCurrency(TypedDict):
    """The documents of one currency."""

    currency: str | None
    documents: int
    total: str


class TagLimit(TypedDict):
    """A limited resource."""

    tag: str
    task_queue: str
    per_second: float
    initial_per_second: float
    changed_by: str | None
    changed_at: str | None
    reason: str | None
    waiting: int | None
    workers: int


class Target(TypedDict):
    """The version that an alias points to."""

    version: int
    percent: int | None


TaskKind = Literal["runs", "steps"]


class TenantListOut(TypedDict):
    """The tenants, by name."""

    tenants: list["TenantSummary"]
    currency: str


class TenantSummary(TypedDict):
    """A tenant, and how much it works."""

    tenant: str
    keys: int
    last_used_at: str | None
    documents: int
    failed: int
    spent_today: str


class TestPart(TypedDict):
    """A condition, or one case of a switch."""

    expression: str | None
    branch: str | None
    verdict: "Verdict"
    reads: list["ReadPart"]


class TestedDefinition(TypedDict):
    """The results of a definition's tests, in their order."""

    tests: list["TrialResult"]


class TokenIn(TypedDict):
    """The caller's claim."""

    token: int


class TrialResult(TypedDict):
    """The result of one of a definition's tests."""

    name: str
    passed: bool
    problems: list["FailedTest"]


class Trigger(TypedDict):
    """A trigger, and its passes."""

    name: str
    cron: str | None
    every_seconds: int | None
    definition: str | None
    inputs: dict[str, Json]
    folder: str | None
    mailbox: "Mailbox | None"
    source: str
    batch: bool
    last_batch: str | None
    created_by: str
    paused: bool
    note: str
    next_at: str | None
    last: "LastPass | None"
    problems: list[str]


class TriggerIn(TypedDict):
    """The run's inputs."""

    inputs: NotRequired[dict[str, Json]]


class TriggerList(TypedDict):
    """The tenant's triggers, by name."""

    triggers: list["Trigger"]
    allowed: bool


class TriggerOrder(TypedDict):
    """What a trigger starts, and when: exactly one of `cron` and `every_seconds`."""

    name: str
    cron: NotRequired[str | None]
    every_seconds: NotRequired[int | None]
    definition: NotRequired[str | None]
    inputs: NotRequired[dict[str, Json]]
    folder: NotRequired[str | None]
    mailbox: NotRequired["Mailbox | None"]
    source: NotRequired[str]
    batch: NotRequired[bool]


class TriggerReason(TypedDict):
    """Why a trigger is paused or resumed."""

    reason: NotRequired[str]


TriggerRule = Literal["none_failed", "all_success", "all_done", "one_success", "one_failed", "all_failed"]


class TypedOrder(TypedDict):
    """The correct value of a field, as a person types it."""

    text: str
    token: int
    why: NotRequired[str]
    page: NotRequired[int | None]
    box: NotRequired[list[Json] | None]


class Understood(TypedDict):
    """How a typed text was read."""

    value: str | None
    because: "Because | None"


class Undone(TypedDict):
    """The moves of a rollback, and the aliases afterwards."""

    definition_id: str
    aliases: dict[str, "Target"]
    moves: list["Move"]


class Unmatched(TypedDict):
    """A filter whose value does not exist, whatever the other filters are."""

    filter: str
    value: str
    known: list[str]
    has_more: bool
    suggestion: str | None


class Validation(TypedDict):
    """Whether a definition is valid, and all problems found."""

    valid: bool
    problems: list["Problem"]


Verdict = Literal["yes", "no", "error", "not_asked"]


class VersionPage(TypedDict):
    """A definition's versions, newest first, its aliases, and what the caller may do with it."""

    versions: list["ListedVersion"]
    aliases: dict[str, "Target"]
    after: int | None
    actions: list["Action"]
    undo: list["Move"]


View = Literal["actionable", "retryable", "all"]


class WaitPage(TypedDict):
    """The open waits of a run: first its own, then those of nested runs, page by page."""

    waits: list["OpenWait"]
    unanswered: list[str]
    paused: list[str]
    after: str | None


class WaitPart(TypedDict):
    """What a waiting step waits for."""

    waits_for: str
    asks: str | None
    queue: str | None
    group: str | None
    not_the_submitter: bool
    since: float | None
    until: float | None
    escalates_at: float | None
    escalates_to: str | None
    on_timeout: str
    approvals_needed: int
    approvals_missing: int
    decided: list["AnswerPart"]


class WebhookMessages(TypedDict):
    """JSON messages to a URL, signed with the tenant's secret `webhooks`; needs the scope `operate`."""

    url: str
    format: Literal["webhook"]


class WhyIn(TypedDict):
    """The reason for pausing or resuming a run."""

    reason: NotRequired[str]


class Wish(TypedDict):
    """Filters for the item to claim; null: any."""

    queue: NotRequired[str | None]
    kind: NotRequired[Literal["document", "step"] | None]
    group: NotRequired[str | None]


class Worker(TypedDict):
    """A worker process, as its last heartbeat describes it."""

    worker_id: str
    host: str
    process_id: str
    state: "WorkerState"
    silent_seconds: float | None
    since: str
    last_heartbeat: str
    version: str | None
    build: str | None
    queues: list["WorkerQueue"]


class WorkerQueue(TypedDict):
    """A task queue of a worker."""

    queue: str
    tag: str | None
    runs: "Slots | None"
    steps: "Slots"
    done: int
    failed: int


WorkerState = Literal["working", "draining", "silent"]


class Xlsx(TypedDict):
    """A workbook for Excel; line items are its second sheet."""

    format: Literal["xlsx"]


class ProblemOut(TypedDict):
    """Why a request was refused (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    problems: list[dict[str, Json]] | None
    more: int | None
    state: str | None
    differences: list[str] | None
    limit_bytes: int | None
    limit_values: int | None
    current: int | None
    claimed_by: str | None
    digest: str | None
    decided_by: str | None
    decision: Json
    where: str | None
    readings: list[str] | None
    lines_version: str | None
    scope: str | None
    quota: str | None
    limit: float | None
    service: str | None
