"""Choose a new document's definition: the one that its upload names, else by the tenant's rules, else the default."""

import asyncio
import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import asdict

from docrail.dag.language.definition import Definition
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.routing import Facts, Rule, find_route
from docrail.dag.validation.routing import Fault
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Problem
from docrail.dag.values.suggestions import Suggestions
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.definitions.checks import check_routing
from docrail.services.definitions.models import DEFAULT_DEFINITION, ChosenRoute, RulesSet, StoredRules, Validation
from docrail.services.definitions.repository import insert_rules, load_rules
from docrail.services.definitions.resolving import load_known_ids
from docrail.services.definitions.service import load
from docrail.services.errors import Damaged, InvalidInput, InvalidRouting, NotFound, Outdated

BROUGHT = ("document_id", "sla_hours")
"""Inputs that a document provides to its run, if its definition declares them."""

RulesBody = str | dict[str, Json]
"""Routing rules: the author's YAML or JSON text, or a JSON object."""

log = logging.getLogger(__name__)


async def show_rules(app: App, principal: Principal) -> StoredRules:
    """Return the tenant's rules in force."""
    return await load_rules(app.db, principal.tenant_id) or StoredRules()


async def set_rules(app: App, principal: Principal, body: RulesBody, *, revision: int | None = None) -> RulesSet:
    """Put a list of rules into force, replacing the previous one.

    `revision` is the one that the caller changed, 0 if there was none; without it, the current rules are replaced
    unconditionally. Raises: InvalidRouting, Outdated.
    """
    rules, problems = await check_rules(app, principal, body)
    if rules is None:
        raise InvalidRouting(problems)
    source = body if isinstance(body, str) else await asyncio.to_thread(json.dumps, body, indent=2)
    while True:
        stored = await load_rules(app.db, principal.tenant_id)
        current = stored.revision if stored else 0
        if revision is not None and revision != current:
            raise Outdated("the routing rules", revision, current)
        added = await insert_rules(app.db, principal.tenant_id, current + 1, rules, source, by=principal.name)
        if added is not None:
            return RulesSet(**asdict(added), warnings=problems)


async def check_rules(
    app: App, principal: Principal, body: RulesBody
) -> tuple[list[dict[str, Json]] | None, list[Problem]]:
    """Return the rules, None if there is an error, and all problems found. Raises: TooCostly, Busy, Unavailable."""
    checked = await check_routing(app, body, {})
    if faults := await _find_faults(app, principal, checked.references):
        checked = await check_routing(app, body, faults)
    return checked.rules, checked.problems


async def validate_rules(app: App, principal: Principal, body: RulesBody) -> Validation:
    """Return whether the rules are valid, and all problems found."""
    rules, problems = await check_rules(app, principal, body)
    return Validation(rules is not None, problems)


async def route(app: App, principal: Principal, facts: Facts) -> ChosenRoute:
    """Return the definition that the tenant's rules choose for a document, by default DEFAULT_DEFINITION.

    A rule that cannot be evaluated is logged and skipped.
    """
    stored = await load_rules(app.db, principal.tenant_id)
    found = find_route(_rules(stored), facts)
    for number, fault in found.faults.items():
        log.warning("routing rule %d of tenant %s cannot be evaluated: %s", number, facts.tenant, fault)
    return ChosenRoute(found.definition or DEFAULT_DEFINITION, found.rule, found.faults)


def missing_inputs(definition: Definition, given: Collection[str] = ()) -> list[str]:
    """Return the required inputs of the definition that neither a document provides nor its upload has `given`."""
    known = {*BROUGHT, *given}
    return [name for name, declared in definition.inputs.items() if declared.required and name not in known]


def check_brought(inputs: Mapping[str, Json]) -> None:
    """Refuse values for inputs that a document provides itself. Raises: InvalidInput."""
    problem = "is provided by the document: leave it out"
    if problems := [InputProblem(f"inputs.{name}", problem) for name in BROUGHT if name in inputs]:
        raise InvalidInput(problems)


def _rules(stored: StoredRules | None) -> list[Rule]:
    return [Rule.model_validate(rule) for rule in stored.rules] if stored else []


async def _find_faults(app: App, principal: Principal, references: list[str]) -> dict[str, Fault]:
    """Return the problems of the rules' references, by reference."""
    suggestions, faults = Suggestions(), dict[str, Fault]()
    ids: list[str] | None = None
    for reference in references:
        try:
            stored = await load(app, principal, reference)
        except NotFound as error:
            if ids is None:
                ids = await load_known_ids(app, principal)
            wanted, at, chosen = reference.partition("@")
            meant = None if wanted in ids else suggestions.closest(wanted, ids)
            faults[reference] = Fault(f"unknown-{error.kind}", str(error), meant and f"{meant}{at}{chosen}")
        except Damaged as error:
            faults[reference] = Fault("damaged", str(error))
        else:
            if missing := missing_inputs(Definition.model_validate(stored.body)):
                message = f"a document cannot run {reference!r}, which requires the input {_listed(missing)}"
                faults[reference] = Fault("missing-input", message)
    return faults


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
