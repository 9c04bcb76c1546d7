# ruff: noqa: N818  # refusals are named for what they say; each is an OperationError
"""Why an operation was refused: one class for each reason, carrying fields. `api/errors.py` gives them status codes."""

from collections.abc import Sequence
from dataclasses import dataclass

from dag.problems import Problem


@dataclass(frozen=True, slots=True)
class InputProblem:
    """One thing wrong with what the caller sent. `path` is dotted: `inputs.amount`."""

    path: str
    message: str
    suggestion: str | None = None
    """What to write instead, if one thing is likely meant."""


class OperationError(Exception):
    """Base of every refusal. Its text is for people; callers read the fields."""


class NotFound(OperationError):
    """No such thing in the principal's tenant. Says the same whether or not another tenant has one."""

    def __init__(self, kind: str, wanted: str) -> None:
        super().__init__(f"there is no {kind} {wanted!r}")
        self.kind = kind
        self.wanted = wanted


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
    """The thing exists, but not in a state in which this can be done."""

    def __init__(self, action: str, state: str) -> None:
        super().__init__(f"cannot {action}: the run is {state}")
        self.action = action
        self.state = state


class InvalidDefinition(OperationError):
    """A definition that the validator refuses, with everything that is wrong with it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(f"the definition has {len(problems)} problem{'s' if len(problems) != 1 else ''}")
        self.problems = tuple(problems)


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
