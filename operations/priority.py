"""Which run goes first where several wait for a worker: by priority, and among equals each fairness key in turn."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from temporalio.common import Priority

from dag.checks.wording import describe
from dag.definition import Definition, RunPriority
from dag.expressions import Scope
from dag.inputs import InputProblem
from dag.templates import compile_template
from dag.values import Json
from dag.work import ExpressionError
from operations.errors import InvalidInput

LONGEST_KEY = 64
"""Bytes that Temporal takes as a fairness key."""
PATH = "priority.fairness_key"


@dataclass(frozen=True, slots=True)
class _Inputs(Scope):
    """What a fairness key may read (dag.expressions.Scope)."""

    inputs: Mapping[str, Json]

    def name(self, name: str) -> Json:
        if name != "inputs":
            raise KeyError(name)
        return dict(self.inputs)

    def step(self, step_id: str) -> Mapping[str, Json]:
        raise KeyError(step_id)


def priority_of(definition: Definition, tenant_id: str, inputs: Mapping[str, Json], key: int | None = None) -> Priority:
    """Return the priority of a run with these complete inputs; its steps and nested runs inherit it.

    `key` (1 goes first, to 5) counts in place of the definition's. The fairness key is the tenant, or a part of it.
    Raises: InvalidInput if the definition's fairness key cannot be read.
    """
    wanted = definition.priority or RunPriority()
    part = None if wanted.fairness_key is None else _evaluate(wanted.fairness_key, inputs)
    return Priority(priority_key=wanted.key if key is None else key, fairness_key=_fairness_key(tenant_id, part))


def _evaluate(template: str, inputs: Mapping[str, Json]) -> str | None:
    try:
        value = compile_template(template).resolve(_Inputs(inputs))
    except ExpressionError as error:
        raise InvalidInput([InputProblem(PATH, error.message)]) from error
    if value is None or value == "":
        return None
    if isinstance(value, str | int | float):
        return str(value)
    raise InvalidInput([InputProblem(PATH, f"must be a text or a number, found {describe(value)}")])


def _fairness_key(tenant_id: str, part: str | None) -> str:
    """Return a key that no other tenant has, short enough for Temporal."""
    text = tenant_id if part is None else f"{tenant_id}/{part}"
    encoded = text.encode()
    return text if len(encoded) <= LONGEST_KEY else hashlib.sha256(encoded).hexdigest()
