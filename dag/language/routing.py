"""Which definition a new document takes: an ordered list of rules, of which the first that holds decides."""

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
"""More are a table, which belongs into a definition's `switch` or into data; each costs every upload a moment."""


UNCONDITIONAL = frozenset({"title", "definition"})


NOT_A_REFERENCE = "expected a definition's id, or ID@VERSION, or ID@ALIAS"


class Rule(Model):
    """Where `when` gives true, a document takes `definition`: `ID`, `ID@VERSION` or `ID@ALIAS`. No `when` is always."""

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
    """The media type, in small letters: `application/pdf`."""
    size: int
    """Bytes."""
    source: str
    """Where the uploader says that it comes from; empty if it does not say."""
    file_name: str

    def name(self, name: str) -> Json:
        """Return the value of a name. Raises KeyError."""
        return asdict(self)[name]

    def step(self, step_id: str) -> Mapping[str, Json]:
        """Raise KeyError: a document that is only arriving has no steps."""
        raise KeyError(step_id)


NAMES = tuple(Facts.__dataclass_fields__)
"""The names an expression in a rule may read."""


SAMPLE = Facts("acme", "application/pdf", 20_000, "email", "invoice.pdf")
"""What each rule is tried with when it is submitted: so most of what cannot work is told to its author."""


@dataclass(frozen=True, slots=True)
class Route:
    """The rule that decided, counted from 0, and the reference it gives; both None if no rule holds.

    `faults` are the rules, by number, that could not be judged and were passed over, and why.
    """

    rule: int | None = None
    definition: str | None = None
    faults: Mapping[int, str] = field(default_factory=dict)


def find_route(rules: Sequence[Rule], facts: Facts) -> Route:
    """Return what the rules say of a document. One that cannot be judged does not hold: no document is lost to it."""
    faults: dict[int, str] = {}
    for number, rule in enumerate(rules):
        try:
            if rule.when is None or holds(rule.when, facts):
                return Route(number, rule.definition, faults)
        except ExpressionError as error:
            faults[number] = error.message
    return Route(faults=faults)


def holds(condition: str, facts: Facts) -> bool:
    """Tell whether the condition gives true. Raises ExpressionError, also for what is neither true nor false."""
    value = compiled(condition).evaluate(facts)
    if not isinstance(value, bool):
        raise ExpressionError(f"`{condition}` gives {show(value)}, expected true or false")
    return value


@lru_cache(maxsize=1000)
def compiled(condition: str) -> Expression:
    """Return the compiled condition of a rule, once for each text."""
    return compile_expression(condition)
