"""Read a document as a definition, or report everything that is wrong with it, as a compiler does."""

from collections.abc import Collection, Mapping

from docrail.dag.language.definition import Definition
from docrail.dag.language.source.source import place, read_source
from docrail.dag.validation.document.fields import check_fields
from docrail.dag.validation.document.outline import Outline, read_outline
from docrail.dag.validation.document.schemas import check_inputs
from docrail.dag.validation.lint.branches import check_dead_branches, check_unanswered
from docrail.dag.validation.lint.nested import ALL_PUBLISHED, Unpublished, check_nested
from docrail.dag.validation.lint.secrets import check_secrets
from docrail.dag.validation.rules.budget import check_length, check_reserved_keys, check_size, check_steps
from docrail.dag.validation.rules.graph import check_dependencies, check_ids
from docrail.dag.validation.rules.handlers import Catalogue, check_handlers, with_own_names
from docrail.dag.validation.rules.kinds import check_kinds
from docrail.dag.validation.rules.references import check_references
from docrail.dag.validation.rules.resources import check_fairness_key, check_resource_tags
from docrail.dag.validation.rules.test_cases import check_trials
from docrail.dag.validation.rules.waits import check_deadline, check_delays
from docrail.dag.validation.spellings.chain import is_list_of_steps, name_list
from docrail.dag.validation.spellings.normalise import NO_FALLBACKS, give_ends, normalise, repair
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_rules import check_json
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Places, Problem
from docrail.dag.values.wording import describe


def check_definition(
    text: str | bytes,
    catalogue: Catalogue,
    resource_tags: Collection[str] | None = None,
    unpublished: Unpublished = ALL_PUBLISHED,
    *,
    fallbacks: Mapping[str, Json] = NO_FALLBACKS,
) -> tuple[Definition | None, list[Problem]]:
    """Return the definition in `text`, None if there is an error, and all problems in text order (see `validate`)."""
    source = read_source(text)
    if not source.complete:
        return None, list(source.problems)
    definition, found = validate(
        source.value, source.places, catalogue, resource_tags, unpublished, fallbacks=fallbacks
    )
    # Problems that follow from parts that could not be read are omitted.
    unread = {problem.path for problem in source.problems if problem.code != "duplicate-key"}
    problems = sorted([*source.problems, *(problem for problem in found if problem.path not in unread)], key=place)
    return (None if source.problems else definition), problems


def validate(
    value: Json,
    places: Places | None,
    catalogue: Catalogue,
    resource_tags: Collection[str] | None = None,
    unpublished: Unpublished = ALL_PUBLISHED,
    *,
    fallbacks: Mapping[str, Json] = NO_FALLBACKS,
) -> tuple[Definition | None, list[Problem]]:
    """Return the definition with every default filled in, None if there is an error, and all problems in text order.

    `resource_tags`: the tags that have limits; if None, tags are not checked. `unpublished`: definitions that steps
    name and that are known not to be published, with the ids that may have been meant. `fallbacks`: the installation's
    defaults of `max_retries` and `retry_config`, for steps whose author gives none. A valid definition may come with
    warnings. Equal definitions dump to equal JSON, whichever aliases the author used.
    """
    findings = Findings(places)
    definition = _read(value, catalogue, resource_tags, findings, fallbacks)
    if definition is not None:
        check_nested(definition, unpublished, findings)
    return (None if findings.has_errors else definition), findings.problems()


def _read(
    value: Json,
    catalogue: Catalogue,
    resource_tags: Collection[str] | None,
    findings: Findings,
    fallbacks: Mapping[str, Json],
) -> Definition | None:
    if not check_json(value, findings):
        return None
    check_reserved_keys(value, findings)
    if is_bare := is_list_of_steps(value):
        value = name_list(value, findings)
    if not _is_readable(value, findings):
        return None
    document = normalise(value, findings, fallbacks, is_bare=is_bare)
    definition = check_fields(document, findings)
    repaired = repair(document, findings, fallbacks)
    if ("steps",) in findings.renames:  # steps under a misspelt field were not checked yet
        check_fields(repaired, findings)
        repaired = repair(repaired, findings, fallbacks)
    outline = read_outline(repaired)
    check_inputs(outline, findings)
    if not check_steps(outline, findings):
        return None
    check_ids(repaired.get("id"), outline, findings)
    check_kinds(outline, findings)
    above = check_dependencies(outline, findings)
    check_handlers(outline, catalogue, findings)
    check_references(outline, above, catalogue, findings)
    check_resource_tags(value.get("defaults"), outline, resource_tags, findings)
    check_secrets(outline, findings)
    check_delays(value.get("defaults"), outline, findings)
    check_unanswered(outline, findings)
    check_dead_branches(outline, findings)
    _check_whole(repaired, outline, findings)
    check_trials(repaired.get("tests"), outline, catalogue, findings)
    if definition is None:
        return None
    check_size(definition, findings)
    return give_ends(with_own_names(definition, catalogue))


def _check_whole(document: dict[str, Json], outline: Outline, findings: Findings) -> None:
    """Check the fields that are about the whole run."""
    check_deadline(document, findings)
    check_fairness_key(document.get("priority"), outline, findings)


def _is_readable(value: Json, findings: Findings) -> bool:
    if not isinstance(value, dict):
        findings.error("wrong-type", (), f"expected an object with 'id' and 'steps', found {describe(value)}")
        return False
    return check_length(value, findings)
