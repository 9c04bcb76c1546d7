# ruff: noqa: N818  # refusals are named for what they say; each is an OperationError
"""Why an operation was refused: one class for each reason, carrying fields. `api/errors.py` gives them status codes.

Says of an id that is not found whether it is that of another thing: people paste what they have at hand.
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
"""Names that exist which a message lists."""


LONGEST_ID = 200
"""Characters of what was asked for that a message repeats. Every id is shorter."""


class OperationError(Exception):
    """Base of every refusal. Its text is for people; callers read the fields."""


class NotFound(OperationError):
    """No such thing in the principal's tenant. Says the same whether or not another tenant has one."""

    def __init__(
        self,
        kind: str,
        wanted: str,
        meant: str | None = None,
        *,
        asked_by: str = "",
        known: Sequence[str] = (),
        deleted_at: dt.datetime | None = None,
    ) -> None:
        """Name what is probably meant, by default the closest of `known` (empty: nothing is), and list the `known`."""
        told = f"there is no {kind} {shortened(wanted, LONGEST_ID)!r}" + (f", and {asked_by}" if asked_by else "")
        meant = closest(wanted, known) if meant is None else meant
        mistaken = mistaken_for(kind, wanted)
        told += (f": did you mean {meant!r}?" if meant else "") + (f": {mistaken}" if mistaken else "")
        told += f" (there is {_listed(known)})" if known else ""
        deleted = f"the {kind} {wanted!r} was deleted on {deleted_at:%Y-%m-%d}" if deleted_at else None
        super().__init__(deleted or told)
        self.kind = kind
        self.wanted = wanted


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_KNOWN} more" if len(names) > MOST_KNOWN else ""
    return ", ".join(names[:MOST_KNOWN]) + more


class Forbidden(OperationError):
    """The principal lacks a scope."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"this needs the scope {scope!r}")
        self.scope = scope


class KeyConflict(OperationError):
    """An idempotency key was used before, for another request."""

    def __init__(self, key: str, differences: Sequence[str]) -> None:
        super().__init__(f"the key {key!r} was used before with another request; different: {', '.join(differences)}")
        self.key = key
        self.differences = tuple(differences)


class WrongState(OperationError):
    """The thing exists, but not in a state in which this can be done. `advice`: what can be done in its place."""

    def __init__(self, action: str, state: str, what: str = "run", *, advice: str = "") -> None:
        super().__init__(f"cannot {action}: the {what} is {state}" + (f"; {advice}" if advice else ""))
        self.action = action
        self.state = state


class AlreadyDecided(OperationError):
    """Somebody else decided the review item first."""

    def __init__(self, decided_by: str, decision: Json) -> None:
        super().__init__(f"{decided_by or 'somebody'} decided this before: the first decision counts")
        self.decided_by = decided_by
        self.decision = decision


class MayNotDecide(OperationError):
    """A human step does not take this person's decision, whatever their scopes."""

    def __init__(self, why: str) -> None:
        super().__init__(why)


class AlreadyAnswered(OperationError):
    """A callback URL was used before, with another answer. Says nothing of it: whoever holds the URL may ask."""

    def __init__(self) -> None:
        super().__init__("this was answered before, otherwise: the first answer counts")


class CallbackOver(OperationError):
    """A callback URL of ours that nothing waits for any more."""

    def __init__(self, why: str) -> None:
        super().__init__(f"this callback URL is over: {why}")


class InvalidDefinition(OperationError):
    """A definition that the validator refuses, with everything that is wrong with it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(f"the definition has {len(problems)} problem{'s' if len(problems) != 1 else ''}")
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class FailedTest:
    """One thing that was not as a definition's test expects it; `path` is where in the definition that is said."""

    test: str
    path: str
    message: str
    expected: Json
    found: Json


class FailedTests(OperationError):
    """A definition of which some tests fail, with everything that was not as expected."""

    def __init__(self, failed: int, count: int, problems: Sequence[FailedTest]) -> None:
        super().__init__(f"{failed} of the definition's {count} tests failed")
        self.problems = tuple(problems)


class InvalidRouting(OperationError):
    """Routing rules that the validator refuses, with everything that is wrong with them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(f"the routing rules have {len(problems)} problem{'s' if len(problems) != 1 else ''}")
        self.problems = tuple(problems)


class NothingToUndo(OperationError):
    """`stable` has always named the version that it names now, and there is no canary."""

    def __init__(self, definition_id: str) -> None:
        super().__init__(
            f"new runs of {definition_id!r} never got another version than now: "
            "to choose one all the same, move the alias 'stable' to it"
        )
        self.definition_id = definition_id


class Outdated(OperationError):
    """What the caller changed was changed by somebody else since it was read."""

    def __init__(self, what: str, read: int, current: int) -> None:
        super().__init__(
            f"{what} were changed meanwhile: you read revision {read}, expected the current one, {current}"
        )
        self.current = current


class Damaged(OperationError):
    """A published definition's stored body is not what was published. Nothing runs it; an operator must restore it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class InvalidInput(OperationError):
    """A request whose values cannot be used, with everything that is wrong with them."""

    def __init__(self, problems: Sequence[InputProblem]) -> None:
        super().__init__("; ".join(f"{problem.path}: {problem.message}" for problem in problems))
        self.problems = tuple(problems)


class TooLarge(OperationError):
    """More bytes than are accepted."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"larger than the limit of {limit_bytes} bytes")
        self.limit_bytes = limit_bytes


class Unavailable(OperationError):
    """A service this needs does not answer now. Asking again later may work."""

    def __init__(self, service: str, detail: str) -> None:
        super().__init__(f"{service} is not available: {detail}")
        self.service = service
        self.detail = detail


class ClaimedByOther(OperationError):
    """Somebody works on the review item."""

    def __init__(self, claimed_by: str) -> None:
        super().__init__(f"{claimed_by} works on this item: take another, or ask them to release it")
        self.claimed_by = claimed_by


class ClaimLost(OperationError):
    """What was done came too late, or without a claim: its token is not that of a claim that holds."""

    def __init__(self, claimed_by: str | None) -> None:
        holder = f"{claimed_by} has the item now" if claimed_by else "nobody has the item"
        super().__init__(f"this needs the token of your claim, and that claim does not hold: {holder}; claim it anew")
        self.claimed_by = claimed_by


class DecisionOutdated(OperationError):
    """What the decision rests on has changed since it was shown."""

    def __init__(self, digest: str) -> None:
        super().__init__("the document's fields or problems changed since you were shown them: look at it again")
        self.digest = digest


class NothingToTakeBack(OperationError):
    """The last change to the document's fields is not the caller's, or there is none."""

    def __init__(self) -> None:
        super().__init__("the last change to this document's fields is not yours, or there is none: nothing is undone")


_SHAPES = {
    "execution": r"exe_[0-9a-f]{26}",
    "document": r"doc_[0-9a-z]{26}",
    "review item": r"rev_[0-9a-f]{26}",
    "run": r"[A-Za-z][A-Za-z0-9_]{0,63}\.[A-Za-z0-9_.:~-]{1,200}",
}


_WHERE = {
    "execution": "GET /v1/workflow/{} tells its run",
    "document": "`docrail run list --document {}` lists its runs",
    "review item": "`docrail review show {}` shows it",
    "run": "`docrail run explain {}` tells of it",
}


def mistaken_for(kind: str, wanted: str) -> str:
    """Return what to do with `wanted`, where a `kind` was to be named by it; empty: it may be one, or is nothing."""
    if kind not in _SHAPES or re.fullmatch(_SHAPES[kind], wanted):
        return ""
    for other, shape in _SHAPES.items():
        if re.fullmatch(shape, wanted):
            return f"that is the id of {'an' if other[0] == 'e' else 'a'} {other}, {_WHERE[other].format(wanted)}"
    return "a run's id is DEFINITION.KEY, `docrail run list` lists them" if kind == "run" else ""
