"""Which status code each refusal has, and under which `type` it is told. No other module knows a status."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from operations.errors import (
    AlreadyAnswered,
    AlreadyDecided,
    CallbackOver,
    ClaimedByOther,
    ClaimLost,
    Damaged,
    DecisionOutdated,
    FailedTests,
    Forbidden,
    InvalidDefinition,
    InvalidInput,
    InvalidRouting,
    KeyConflict,
    MayNotDecide,
    NotFound,
    NothingToTakeBack,
    NothingToUndo,
    OperationError,
    Outdated,
    TooLarge,
    Unavailable,
    WrongState,
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One `type` of problem. `fields` are the error's fields that are told beside the text."""

    status: HTTPStatus
    name: str
    title: str
    example: str
    fields: tuple[str, ...] = ()


KINDS: Mapping[type[OperationError], Kind] = {
    NotFound: Kind(HTTPStatus.NOT_FOUND, "not-found", "Not found", "there is no run 'invoice.4711'"),
    Forbidden: Kind(HTTPStatus.FORBIDDEN, "forbidden", "Not allowed", "this needs the scope 'operate'", ("scope",)),
    KeyConflict: Kind(
        HTTPStatus.CONFLICT,
        "key-conflict",
        "The idempotency key belongs to another request",
        "the key '4711' was used before with another request; different: inputs.amount",
        ("differences",),
    ),
    WrongState: Kind(
        HTTPStatus.CONFLICT, "wrong-state", "Not in this state", "cannot resume: the run is completed", ("state",)
    ),
    AlreadyDecided: Kind(
        HTTPStatus.CONFLICT,
        "already-decided",
        "Somebody else was first",
        "ann decided this before: the first decision counts",
        ("decided_by", "decision"),
    ),
    MayNotDecide: Kind(HTTPStatus.FORBIDDEN, "may-not-decide", "Not yours to decide", "ann started the run, and ..."),
    AlreadyAnswered: Kind(
        HTTPStatus.CONFLICT,
        "already-answered",
        "Answered before",
        "this was answered before, otherwise: the first answer counts",
    ),
    CallbackOver: Kind(
        HTTPStatus.GONE,
        "callback-over",
        "Nothing waits for this any more",
        "this callback URL is over: its step waits no longer",
    ),
    InvalidDefinition: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-definition",
        "The definition is not valid",
        "the definition has 2 problems",
        ("problems",),
    ),
    FailedTests: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "failed-tests",
        "Tests of the definition failed",
        "1 of the definition's 3 tests failed",
        ("problems",),
    ),
    InvalidRouting: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-routing",
        "The routing rules are not valid",
        "the routing rules have 2 problems",
        ("problems",),
    ),
    NothingToUndo: Kind(
        HTTPStatus.CONFLICT,
        "nothing-to-undo",
        "There is nothing before this",
        "new runs of 'invoice' never got another version than now: ...",
    ),
    Outdated: Kind(
        HTTPStatus.CONFLICT,
        "outdated",
        "Somebody else changed it meanwhile",
        "the routing rules were changed meanwhile: you read revision 3, expected the current one, 4",
        ("current",),
    ),
    Damaged: Kind(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "damaged",
        "What is stored is not what was published",
        "version 3 of the definition 'invoice' is not what was published: ...; restore the row from a backup",
    ),
    InvalidInput: Kind(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-input",
        "The request is not valid",
        "inputs.document_id: is required",
        ("problems",),
    ),
    TooLarge: Kind(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "too-large",
        "Too many bytes",
        "larger than the limit of 26214400 bytes",
        ("limit_bytes",),
    ),
    Unavailable: Kind(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        "A service is away",
        "worker is not available: no worker answered in time",
        ("service",),
    ),
    ClaimedByOther: Kind(
        HTTPStatus.CONFLICT, "claimed", "Somebody works on it", "ann works on this item: ...", ("claimed_by",)
    ),
    ClaimLost: Kind(
        HTTPStatus.CONFLICT,
        "claim-lost",
        "Your claim does not hold",
        "this needs the token of your claim, and that claim does not hold: ...",
        ("claimed_by",),
    ),
    DecisionOutdated: Kind(
        HTTPStatus.CONFLICT,
        "decision-outdated",
        "What you were shown has changed",
        "the document's fields or problems changed since you were shown them: look at it again",
        ("digest",),
    ),
    NothingToTakeBack: Kind(
        HTTPStatus.CONFLICT,
        "nothing-to-take-back",
        "Nothing of yours to undo",
        "the last change to this document's fields is not yours, or there is none: nothing is undone",
    ),
}
