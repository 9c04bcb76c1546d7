"""Reads a document as a definition, or tells everything that is wrong with it, as a compiler does."""

from collections.abc import Collection

from dag.checks.beginning import give_ends
from dag.checks.budget import check_size, check_steps
from dag.checks.chain import is_list_of_steps, name_list
from dag.checks.delays import check_delays
from dag.checks.doubts import check_doubts
from dag.checks.fields import check_fields
from dag.checks.findings import Findings
from dag.checks.graph import check_dependencies, check_ids
from dag.checks.handlers import Catalogue, check_handlers, with_own_names
from dag.checks.inputs import check_inputs
from dag.checks.kinds import check_kinds
from dag.checks.nested import ALL_PUBLISHED, Unpublished, check_nested
from dag.checks.normalise import normalise, repair
from dag.checks.outline import read_outline
from dag.checks.references import check_references
from dag.checks.reserved import check_reserved_keys
from dag.checks.resources import check_fairness_key, check_resource_tags
from dag.checks.secrecy import check_secrets
from dag.checks.silence import check_silence
from dag.checks.trials import check_trials
from dag.checks.values import check_json
from dag.checks.wording import describe
from dag.definition import Definition
from dag.problems import Places, Problem
from dag.values import Json


def validate(
    value: Json,
    places: Places | None,
    catalogue: Catalogue,
    resource_tags: Collection[str] | None = None,
    unpublished: Unpublished = ALL_PUBLISHED,
) -> tuple[Definition | None, list[Problem]]:
    """Return the definition with every default resolved, None if there is an error, and all problems in text order.

    `resource_tags` are those that are limited; without them, tags are not checked. `unpublished`: definitions that
    steps name and that are known not to be published, and what they may have been meant as. A definition may come
    with warnings.
    Equal definitions dump to equal JSON, whatever words the author used.
    """
    findings = Findings(places)
    definition = _read(value, catalogue, resource_tags, findings)
    if definition is not None:
        check_nested(definition, unpublished, findings)
    return (None if findings.has_errors else definition), findings.problems()


def _read(
    value: Json, catalogue: Catalogue, resource_tags: Collection[str] | None, findings: Findings
) -> Definition | None:
    if not check_json(value, findings):
        return None
    check_reserved_keys(value, findings)
    is_bare = is_list_of_steps(value)
    if is_bare:
        value = name_list(value, findings)
    if not isinstance(value, dict):
        findings.error("wrong-type", (), f"a definition is an object with 'id' and 'steps', found {describe(value)}")
        return None
    document = normalise(value, findings, is_bare=is_bare)
    definition = check_fields(document, findings)
    repaired = repair(document, findings)
    if ("steps",) in findings.renames:  # steps under a misspelt word have not been looked at yet
        check_fields(repaired, findings)
        repaired = repair(repaired, findings)
    outline = read_outline(repaired)
    check_inputs(outline, findings)
    if not check_steps(outline, findings):
        return None
    check_ids(outline, findings)
    check_kinds(outline, findings)
    above = check_dependencies(outline, findings)
    check_handlers(outline, catalogue, findings)
    check_references(outline, above, catalogue, findings)
    check_resource_tags(value.get("defaults"), outline, resource_tags, findings)
    check_secrets(outline, findings)
    check_delays(value.get("defaults"), outline, findings)
    check_silence(outline, findings)
    check_doubts(outline, findings)
    check_fairness_key(repaired.get("priority"), outline, findings)
    check_trials(repaired.get("tests"), outline, catalogue, findings)
    if definition is None:
        return None
    check_size(definition, findings)
    return give_ends(with_own_names(definition, catalogue))
