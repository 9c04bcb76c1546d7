"""Order waiting runs: by priority, and among equals by turns of the tenants.

Temporal looks at the priority first, so a tenant's most urgent one is a quota. Fairness keys have weights: those of one
tenant have together the weight of one, so that a tenant has one turn, however many keys its runs have.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from temporalio.common import Priority

from docrail.dag.language.definition import Definition, RunPriority
from docrail.dag.language.expressions.expression import Scope
from docrail.dag.language.expressions.templates import compile_template
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import Json
from docrail.dag.values.wording import describe
from docrail.services.errors import InvalidInput

LONGEST_KEY = 64
"""Maximum length in bytes of a fairness key in Temporal."""

PARTS = 16
"""Into how many parts the keys of a definition divide a tenant's turn. More separate customers better from each other;
fewer keep the wait of one part short while other tenants have work."""

USUAL = 3
"""The priority of a run that has none."""

PATH = "priority.fairness_key"


@dataclass(frozen=True, slots=True)
class _Inputs(Scope):
    """The names that a fairness key's expression may read."""

    inputs: Mapping[str, Json]

    def name(self, name: str) -> Json:
        if name != "inputs":
            raise KeyError(name)
        return dict(self.inputs)

    def step(self, step_id: str) -> Mapping[str, Json]:
        raise KeyError(step_id)


def priority_of(
    definition: Definition, tenant_id: str, inputs: Mapping[str, Json], key: int | None = None, *, highest: int = 1
) -> Priority:
    """Return the priority of a run with these complete inputs; its steps and nested runs inherit it.

    `key` (1 goes first, to 5) overrides the definition's; none is more urgent than `highest`, the tenant's quota.
    Raises: InvalidInput if the definition's fairness key cannot be evaluated.
    """
    wanted = definition.priority or RunPriority()
    part = None if wanted.fairness_key is None else _evaluate(wanted.fairness_key, inputs)
    return turn_of(tenant_id, part, priority_key=priority_key_of(definition, key, highest=highest))


def priority_key_of(definition: Definition, key: int | None = None, *, highest: int = 1) -> int:
    """Return the number in a run's priority, as `priority_of` does."""
    asked = (definition.priority or RunPriority()).key if key is None else key
    return max(asked or USUAL, highest)


def turn_of(tenant_id: str, part: str | None = None, *, priority_key: int | None = None) -> Priority:
    """Return the priority of a tenant's work, or of a part of it, among the work of others."""
    if part is None:
        return Priority(priority_key=priority_key, fairness_key=_short(tenant_id))
    number = int.from_bytes(hashlib.sha256(part.encode()).digest()[:4]) % PARTS
    return Priority(priority_key=priority_key, fairness_key=_short(f"{tenant_id}/{number}"), fairness_weight=1 / PARTS)


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


def _short(key: str) -> str:
    """Return a key that no other tenant has, short enough for Temporal."""
    encoded = key.encode()
    return key if len(encoded) <= LONGEST_KEY else hashlib.sha256(encoded).hexdigest()
