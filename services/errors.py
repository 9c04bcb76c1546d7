# ruff: noqa: N818  # refusals are named for their reason; each is an OperationError
"""Define why an operation is refused: one class per reason, with its details as fields.

`api/errors.py` maps them to status codes. The message for an unknown id says if it is that of another kind of object.
"""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json, shortened
from docrail.dag.values.problems import Problem
from docrail.dag.values.suggestions import closest

MOST_KNOWN = 24
"""Maximum number of existing names that a message lists."""

MOST_PROBLEMS = 50
"""Maximum number of problems that a refusal lists."""

LONGEST_ID = 200
"""Maximum number of characters of the requested id that a message repeats. Every valid id is shorter."""


class OperationError(Exception):
    """Base class of all refusals. The text is for people; callers read the fields."""


class NotFound(OperationError):
    """No such object in the principal's tenant. The message is the same whether or not another tenant has one."""

    def __init__(
        self,
        kind: str,
        wanted: str,
        meant: str | None = None,
        *,
        asked_by: str = "",
        known: Sequence[str] = (),
        deleted_at: dt.datetime | None = None,
        ended_at: dt.datetime | None = None,
    ) -> None:
        """Suggest `meant`, by default the closest of `known` (an empty string: no suggestion), and list the `known`."""
        text = f"there is no {kind} {shortened(wanted, LONGEST_ID)!r}" + (f", and {asked_by}" if asked_by else "")
        meant = closest(wanted, known) if meant is None else meant
        mistaken = mistaken_for(kind, wanted)
        text += (f": did you mean {meant!r}?" if meant else "") + (f": {mistaken}" if mistaken else "")
        text += f" (there is {_listed(known)})" if known else ""
        if deleted_at:
            text = f"the {kind} {wanted!r} was deleted on {deleted_at:%Y-%m-%d}"
        if ended_at:
            text = f"Temporal has deleted the {kind} {wanted!r} of {ended_at:%Y-%m-%d}: only its report is left"
        super().__init__(text)
        self.kind = kind
        self.wanted = wanted


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_KNOWN} more" if len(names) > MOST_KNOWN else ""
    return ", ".join(names[:MOST_KNOWN]) + more


@dataclass(frozen=True, slots=True)
class Claimed:
    """Whose credentials were refused, as far as that is known."""

    tenant_id: str = ""
    name: str = ""
    key_id: str = ""


class Unauthenticated(OperationError):
    """The request has no valid credentials. What is wrong with a key is shown to its holder only."""

    def __init__(self, why: str, claimed: Claimed | None = None) -> None:
        super().__init__(why)
        self.claimed = claimed or Claimed()


class NotAdmitted(OperationError):
    """The identity provider knows the person, but its claims give no access here. The reason is in the log."""

    def __init__(self, claimed: Claimed | None = None) -> None:
        super().__init__("you are signed in at the identity provider, but may not use Docrail: ask its operator")
        self.claimed = claimed or Claimed()


class Forbidden(OperationError):
    """The principal lacks a scope, or has it in a tenant to which this does not belong."""

    def __init__(self, scope: str, *, tenant: str = "") -> None:
        super().__init__(f"this needs the scope {scope!r}" + (f" of the tenant {tenant!r}" if tenant else ""))
        self.scope = scope


class QuotaExceeded(OperationError):
    """The tenant, or the API key, has used all that it may for now."""

    def __init__(self, quota: str, limit: float, whose: str, retry_after_seconds: float) -> None:
        super().__init__(f"{whose} may have {limit:g} {quota.replace('_', ' ')}: try again later, or ask the operator")
        self.quota = quota
        self.limit = limit
        self.retry_after_seconds = retry_after_seconds


class KeyConflict(OperationError):
    """The idempotency key was already used for a different request."""

    def __init__(self, key: str, differences: Sequence[str]) -> None:
        super().__init__(f"the key {key!r} was used before with another request; different: {', '.join(differences)}")
        self.key = key
        self.differences = tuple(differences)


class WrongState(OperationError):
    """The object exists, but its state does not allow the action. `advice`: what can be done instead."""

    def __init__(self, action: str, state: str, what: str = "run", *, advice: str = "") -> None:
        super().__init__(f"cannot {action}: the {what} is {state}" + (f"; {advice}" if advice else ""))
        self.action = action
        self.state = state


class AlreadyDecided(OperationError):
    """Another person decided the review item first."""

    def __init__(self, decided_by: str, decision: Json) -> None:
        super().__init__(f"{decided_by or 'someone'} has already decided this, and the first decision counts")
        self.decided_by = decided_by
        self.decision = decision


class MayNotDecide(OperationError):
    """The human step does not accept a decision from this person, whatever their scopes. The text says why."""


class AlreadyAnswered(OperationError):
    """The callback URL was already used with a different answer.

    Does not reveal that answer: any holder of the URL can ask.
    """

    def __init__(self) -> None:
        super().__init__("this has already been answered differently, and the first answer counts")


class CallbackOver(OperationError):
    """The callback URL is valid, but no step waits for it any more."""

    def __init__(self, why: str) -> None:
        super().__init__(f"this callback URL is no longer valid: {why}")


class InvalidDefinition(OperationError):
    """The definition fails validation; carries all problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(f"the definition has {len(problems)} problem{'s' if len(problems) != 1 else ''}")
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class FailedTest:
    """One mismatch in a definition's test; `path` is the place of the expectation in the definition."""

    test: str
    path: str
    message: str
    expected: Json
    found: Json


class FailedTests(OperationError):
    """Some tests of the definition fail; carries all mismatches."""

    def __init__(self, failed: int, count: int, problems: Sequence[FailedTest]) -> None:
        super().__init__(f"{failed} of the definition's {count} tests failed")
        self.problems = tuple(problems)


class InvalidRouting(OperationError):
    """The routing rules fail validation; carries all problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(f"the routing rules have {len(problems)} problem{'s' if len(problems) != 1 else ''}")
        self.problems = tuple(problems)


class NothingToUndo(OperationError):
    """`stable` has never named another version than it does now, and there is no canary."""

    def __init__(self, definition_id: str) -> None:
        super().__init__(
            f"the alias 'stable' of {definition_id!r} has never named another version: "
            "to choose one anyway, move the alias to it"
        )
        self.definition_id = definition_id


class Outdated(OperationError):
    """The object was changed by another person since the caller read it."""

    def __init__(self, what: str, read: int, current: int, *, counted: str = "revision") -> None:
        super().__init__(f"{what} changed meanwhile: you read {counted} {read}, expected the current one, {current}")
        self.current = current


class Damaged(OperationError):
    """The stored body of a published definition is not what was published.

    It is never run; an operator must restore it.
    """


class InvalidInput(OperationError):
    """The request contains unusable values; carries the first problems, and the number of the others."""

    def __init__(self, problems: Sequence[InputProblem], more: int = 0) -> None:
        self.problems = tuple(problems[:MOST_PROBLEMS])
        self.more = more + len(problems) - len(self.problems)
        text = shortened("; ".join(f"{problem.path}: {problem.message}" for problem in self.problems))
        super().__init__(text + (f"; and {self.more} more problems" if self.more else ""))


class UnsafeArchive(OperationError):
    """A zip file is not unpacked: it is damaged, or would write outside its folder or fill the disk."""

    def __init__(self, problems: Sequence[InputProblem]) -> None:
        self.problems = tuple(problems[:MOST_PROBLEMS])
        self.more = len(problems) - len(self.problems)
        super().__init__(shortened("; ".join(f"{each.path}: {each.message}" for each in self.problems)))


class PlaceTaken(OperationError):
    """A place of a batch has another content than the one that is sent."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"the batch has another content at {shortened(place, LONGEST_ID)!r}, so the file has changed: "
            "send it under another place, or in another batch"
        )


class NothingReadable(OperationError):
    """There are files, but none that has a document."""

    def __init__(self, found: str) -> None:
        super().__init__(f"there is no document in it: {found}")


class TooLarge(OperationError):
    """The body exceeds the size limit."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"larger than the limit of {limit_bytes} bytes")
        self.limit_bytes = limit_bytes


class UnsupportedType(OperationError):
    """The body is of a media type that the route does not read."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"the body must be {expected}, found {found[:100] or 'no Content-Type'}")


class UnknownHost(OperationError):
    """The request names a host that is not this server."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"this server is not known as {shortened(host, LONGEST_ID)!r}: if it should be, name the host in "
            "DOCRAIL_API_HOSTS or DOCRAIL_PUBLIC_URL"
        )


class CrossSite(OperationError):
    """A web page of another site sent a request that changes something."""

    def __init__(self, header: str) -> None:
        super().__init__(
            f"pages of other sites may not change anything here, found {shortened(header, LONGEST_ID)!r}: if a proxy "
            "changes the host, set DOCRAIL_PUBLIC_URL"
        )


class TooManyValues(OperationError):
    """The body has more JSON values than the limit."""

    def __init__(self, limit_values: int) -> None:
        super().__init__(f"the body has more JSON values than the limit of {limit_values}")
        self.limit_values = limit_values


class TooCostly(OperationError):
    """Checking the request takes more time or memory than its limits."""

    def __init__(self, limit_seconds: int) -> None:
        super().__init__(
            f"checking this was stopped after {limit_seconds} seconds of work, or because it takes too much memory: "
            "send less at once, or run the tests with `docrail test`"
        )


class Busy(OperationError):
    """Too many large requests are handled or wait already. A later request may succeed."""

    def __init__(self) -> None:
        super().__init__("too many large requests are handled at present: send this one again later")


class Unavailable(OperationError):
    """A service that this needs does not answer at present. A later request may succeed."""

    def __init__(self, service: str, detail: str) -> None:
        super().__init__(f"{service} is not available: {detail}")
        self.service = service
        self.detail = detail


class ClaimedByOther(OperationError):
    """Another person is working on the review item."""

    def __init__(self, claimed_by: str) -> None:
        super().__init__(f"{claimed_by} has claimed this item: claim another one, or ask {claimed_by} to release it")
        self.claimed_by = claimed_by


class ClaimLost(OperationError):
    """The claim's token is missing or no longer valid."""

    def __init__(self, claimed_by: str | None) -> None:
        holder = f"{claimed_by} has claimed the item" if claimed_by else "no one has claimed the item"
        super().__init__(f"this needs the token of a valid claim of yours, but {holder}: claim it again")
        self.claimed_by = claimed_by


class DecisionOutdated(OperationError):
    """The data that the decision is based on has changed since it was shown."""

    def __init__(self, digest: str) -> None:
        super().__init__("the document's fields or problems have changed since it was shown: load it again")
        self.digest = digest


class AmbiguousValue(OperationError):
    """A typed text can be read in two ways, and the document does not decide between them."""

    def __init__(self, where: str, text: str, readings: Sequence[str]) -> None:
        super().__init__(f"{where}: {text}")
        self.where = where
        self.readings = tuple(readings)


class LinesOutdated(OperationError):
    """The line items have changed since the caller read them."""

    def __init__(self, current: str) -> None:
        super().__init__("the line items have changed since they were read: load them again")
        self.lines_version = current


class NothingToTakeBack(OperationError):
    """The last change to the document's fields is not the caller's, or there is none."""

    def __init__(self) -> None:
        super().__init__("the last change to this document's fields is not yours, or there is none: nothing is undone")


_SHAPES = {
    "execution": r"exe_[0-9a-f]{26}",
    "batch": r"bat_[0-9a-f]{26}",
    "document": r"doc_[0-9a-z]{26}",
    "review item": r"rev_[0-9a-f]{26}",
    "run": r"[A-Za-z][A-Za-z0-9_]{0,63}\.[A-Za-z0-9_.:~-]{1,200}",
}


_WHERE = {
    "execution": "GET /v1/workflow/{} shows its run",
    "batch": "GET /v1/batches/{} shows it",
    "document": "`docrail run list --document {}` lists its runs",
    "review item": "`docrail review show {}` shows it",
    "run": "`docrail run explain {}` explains it",
}


def mistaken_for(kind: str, wanted: str) -> str:
    """Return advice if `wanted` is the id of another kind than `kind`.

    Empty: it may be a `kind`, or is not an id at all.
    """
    if kind not in _SHAPES or re.fullmatch(_SHAPES[kind], wanted):
        return ""
    for other, shape in _SHAPES.items():
        if re.fullmatch(shape, wanted):
            return f"that is the id of {'an' if other[0] == 'e' else 'a'} {other}, {_WHERE[other].format(wanted)}"
    return "a run's id is DEFINITION.KEY, `docrail run list` lists them" if kind == "run" else ""
