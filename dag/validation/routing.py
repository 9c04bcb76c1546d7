"""Check routing rules: report every problem at once, with its position."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from docrail.dag.language.routing import (
    MAX_RULES,
    NAMES,
    NOT_A_REFERENCE,
    SAMPLE,
    UNCONDITIONAL,
    Routing,
    compiled,
    holds,
)
from docrail.dag.language.version_refs import parse_ref
from docrail.dag.validation.document.fields import report_validation_error
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_rules import check_json
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path, Places, Problem
from docrail.dag.values.wording import describe, known_names, quote


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem with the definition that a rule refers to, found by the caller, who has the definitions."""

    code: str
    message: str
    suggestion: str | None = None


def references_of(value: Json) -> list[str]:
    """Return the well-formed references in the rules, valid or not, each once, in order."""
    rules = value.get("rules") if isinstance(value, dict) else None
    named = [rule.get("definition") for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []
    found = (text for text in named if isinstance(text, str) and parse_ref(text) is not None)
    return list(dict.fromkeys(found))[:MAX_RULES]


def validate_routing(
    value: Json, places: Places | None, faults: Mapping[str, Fault]
) -> tuple[Routing | None, list[Problem]]:
    """Return the rules, None if there is an error, and all problems in text order; `faults` is by reference."""
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
        findings.error("wrong-type", (), f"expected an object with a list 'rules', found {describe(value)}")
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
        message = f"'{quote(definition)}' is not a reference to a definition: {NOT_A_REFERENCE}"
        findings.error("bad-reference", (*path, "definition"), message)
    elif fault := faults.get(definition):
        findings.error(fault.code, (*path, "definition"), fault.message, fault.suggestion)


def _check_condition(path: Path, condition: str, findings: Findings) -> None:
    try:
        expression = compiled(condition)
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
        holds(condition, SAMPLE)
    except ExpressionError as error:
        findings.error("bad-condition", path, error.message)


def _check_reach(rules: list[Json], findings: Findings) -> None:
    """Warn of the first rule after one that always matches."""
    always = (number for number, rule in enumerate(rules) if isinstance(rule, dict) and rule.keys() <= UNCONDITIONAL)
    number = next(always, None)
    if number is not None and number + 1 < len(rules):
        message = f"no document reaches this rule: rules[{number}] has no 'when', so it always holds"
        findings.warning("unreachable-rule", ("rules", number + 1), message)
