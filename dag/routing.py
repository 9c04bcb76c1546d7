"""Which definition a new document takes: an ordered list of rules, of which the first that holds decides."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Annotated

from pydantic import Field, ValidationError

from dag.aliases import parse_ref
from dag.checks.fields import report_validation_error
from dag.checks.findings import Findings
from dag.checks.values import check_json
from dag.checks.wording import describe, known_names, quote
from dag.expressions import Expression, Scope, compile_expression
from dag.kinds import Model
from dag.misfits import show
from dag.problems import Path, Places, Problem
from dag.values import Json
from dag.work import ExpressionError

MAX_RULES = 100
"""More are a table, which belongs into a definition's `switch` or into data; each costs every upload a moment."""

_UNCONDITIONAL = frozenset({"title", "definition"})
_NOT_A_REFERENCE = "expected a definition's id, or ID@VERSION, or ID@ALIAS"


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

_SAMPLE = Facts("acme", "application/pdf", 20_000, "email", "invoice.pdf")
"""What each rule is tried with when it is submitted: so most of what cannot work is told to its author."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a reference that a rule makes; only who has the definitions can tell."""

    code: str
    message: str
    suggestion: str | None = None


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
            if rule.when is None or _holds(rule.when, facts):
                return Route(number, rule.definition, faults)
        except ExpressionError as error:
            faults[number] = error.message
    return Route(faults=faults)


def references_of(value: Json) -> list[str]:
    """Return the references that rules, right or not, make and that can be one, each once, in order."""
    rules = value.get("rules") if isinstance(value, dict) else None
    named = [rule.get("definition") for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []
    found = (text for text in named if isinstance(text, str) and parse_ref(text) is not None)
    return list(dict.fromkeys(found))[:MAX_RULES]


def validate_routing(
    value: Json, places: Places | None, faults: Mapping[str, Fault]
) -> tuple[Routing | None, list[Problem]]:
    """Return the rules, None if there is an error, and all problems in text order; `faults` is told by reference."""
    findings = Findings(places)
    routing = _read(value, findings)
    if check_json(value, Findings()) and isinstance(value, dict):
        listed = value.get("rules")
        for number, rule in enumerate(listed[:MAX_RULES] if isinstance(listed, list) else ()):
            if isinstance(rule, dict):
                _check_rule(("rules", number), rule, faults, findings)
        _check_reach(listed if isinstance(listed, list) else [], findings)
    return (None if findings.has_errors else routing), findings.problems()


def _read(value: Json, findings: Findings) -> Routing | None:
    if not check_json(value, findings):
        return None
    if not isinstance(value, dict):
        findings.error("wrong-type", (), f"routing rules are an object with a list 'rules', found {describe(value)}")
        return None
    try:
        return Routing.model_validate(value)
    except ValidationError as error:
        report_validation_error(error, Routing, value, findings, owner="the routing rules")
        return None


def _check_rule(path: Path, rule: dict[str, Json], faults: Mapping[str, Fault], findings: Findings) -> None:
    condition, definition = rule.get("when"), rule.get("definition")
    if isinstance(condition, str):
        _check_condition((*path, "when"), condition, findings)
    if not isinstance(definition, str):
        return
    if parse_ref(definition) is None:
        message = f"'{quote(definition)}' names no definition: {_NOT_A_REFERENCE}"
        findings.error("bad-reference", (*path, "definition"), message)
    elif fault := faults.get(definition):
        findings.error(fault.code, (*path, "definition"), fault.message, fault.suggestion)


def _check_condition(path: Path, condition: str, findings: Findings) -> None:
    try:
        expression = _compiled(condition)
    except ExpressionError as error:
        findings.error("bad-expression", path, error.message)
        return
    unknown = [reference[0] for reference in expression.references if reference[0] not in NAMES]
    if unknown:
        meant = findings.suggestions.closest(unknown[0], NAMES)
        message = f"there is no name '{quote(unknown[0])}' in a routing rule"
        hint = f"{known_names(NAMES)}; a text needs quotes" if meant is None else ""
        findings.error("unknown-name", path, message + hint, meant)
        return
    try:
        _holds(condition, _SAMPLE)
    except ExpressionError as error:
        findings.error("bad-condition", path, error.message)


def _check_reach(rules: list[Json], findings: Findings) -> None:
    """Warn of the first rule behind one that always holds."""
    always = (number for number, rule in enumerate(rules) if isinstance(rule, dict) and rule.keys() <= _UNCONDITIONAL)
    number = next(always, None)
    if number is not None and number + 1 < len(rules):
        message = f"no document gets here: rules[{number}] has no 'when', so it always holds"
        findings.warning("unreachable-rule", ("rules", number + 1), message)


def _holds(condition: str, facts: Facts) -> bool:
    """Tell whether the condition gives true. Raises ExpressionError, also for what is neither true nor false."""
    value = _compiled(condition).evaluate(facts)
    if not isinstance(value, bool):
        raise ExpressionError(f"`{condition}` gives {show(value)}, expected true or false")
    return value


@lru_cache(maxsize=1000)
def _compiled(condition: str) -> Expression:
    return compile_expression(condition)
