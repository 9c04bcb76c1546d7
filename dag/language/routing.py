"""Choose the definition for a new document: the first matching rule of an ordered list decides."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Annotated

from pydantic import Field

from docrail.dag.language.expressions.expression import Expression, Scope, compile_expression
from docrail.dag.language.expressions.expression_errors import show
from docrail.dag.language.step_kinds import Model
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import Json

MAX_RULES = 100
"""Rules per tenant: every upload evaluates them. Longer tables belong in a definition's `switch` or in data."""

UNCONDITIONAL = frozenset({"title", "definition"})

NOT_A_REFERENCE = "expected a definition's id, or ID@VERSION, or ID@ALIAS"


class Rule(Model):
    """Route a document to `definition` (`ID`, `ID@VERSION`, `ID@ALIAS`) if `when` is true. No `when` always matches."""

    title: Annotated[str, Field(max_length=200)] = ""
    when: str | None = None
    definition: str


class Routing(Model):
    """A tenant's rules, in order."""

    rules: Annotated[tuple[Rule, ...], Field(max_length=MAX_RULES)] = ()


@dataclass(frozen=True, slots=True)
class Facts(Scope):
    """What a rule may read of a document (a scope). Type and file name are the uploader's claims."""

    tenant: str
    type: str
    """The media type, in lowercase: `application/pdf`."""
    size: int
    """Size in bytes."""
    source: str
    """The origin that the uploader states; empty if none is given."""
    file_name: str

    def name(self, name: str) -> Json:
        """Return the value of a name. Raises KeyError."""
        return asdict(self)[name]

    def step(self, step_id: str) -> Mapping[str, Json]:
        """Raise KeyError: a new document has no steps."""
        raise KeyError(step_id)


NAMES = tuple(Facts.__dataclass_fields__)
"""The names that an expression in a rule may read."""

SAMPLE = Facts("acme", "application/pdf", 20_000, "email", "invoice.pdf")
"""Sample facts with which each rule is tried when it is submitted, so that most mistakes are reported to its author."""


@dataclass(frozen=True, slots=True)
class Route:
    """The matching rule's number, from 0, and its definition reference; both None if no rule matches.

    `faults`: why rules could not be evaluated and were passed over, by number.
    """

    rule: int | None = None
    definition: str | None = None
    faults: Mapping[int, str] = field(default_factory=dict)


def find_route(rules: Sequence[Rule], facts: Facts) -> Route:
    """Return a document's route. A rule that cannot be evaluated does not match, so that no document is lost to it."""
    faults: dict[int, str] = {}
    for number, rule in enumerate(rules):
        try:
            if rule.when is None or holds(rule.when, facts):
                return Route(number, rule.definition, faults)
        except ExpressionError as error:
            faults[number] = error.message
    return Route(faults=faults)


def holds(condition: str, facts: Facts) -> bool:
    """Return whether the condition is true. Raises ExpressionError, also if the result is neither true nor false."""
    value = compiled(condition).evaluate(facts)
    if not isinstance(value, bool):
        raise ExpressionError(f"`{condition}` gives {show(value)}, expected true or false")
    return value


@lru_cache(maxsize=1000)
def compiled(condition: str) -> Expression:
    """Return the compiled condition of a rule. Each text is compiled once."""
    return compile_expression(condition)
