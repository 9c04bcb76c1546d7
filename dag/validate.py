"""Reads a document as a definition, or tells everything that is wrong with it, as a compiler does."""

from dag.checks.budget import check_size, check_steps
from dag.checks.fields import check_fields
from dag.checks.findings import Findings
from dag.checks.graph import check_dependencies, check_ids
from dag.checks.handlers import Catalogue, check_handlers
from dag.checks.inputs import check_inputs
from dag.checks.normalise import normalise, repair
from dag.checks.outline import read_outline
from dag.checks.references import check_references
from dag.checks.values import check_json
from dag.checks.wording import describe
from dag.definition import Definition
from dag.problems import Places, Problem
from dag.values import Json


def validate(value: Json, places: Places | None, catalogue: Catalogue) -> tuple[Definition | None, list[Problem]]:
    """Return the definition with every default resolved, None if there is an error, and all problems in text order.

    A definition may come with warnings. Equal definitions dump to equal JSON, whatever words the author used.
    """
    findings = Findings(places)
    definition = _read(value, catalogue, findings)
    return (None if findings.has_errors else definition), findings.problems()


def _read(value: Json, catalogue: Catalogue, findings: Findings) -> Definition | None:
    if not check_json(value, findings):
        return None
    if not isinstance(value, dict):
        findings.error("wrong-type", (), f"a definition is an object with 'id' and 'steps', found {describe(value)}")
        return None
    document = normalise(value, findings)
    definition = check_fields(document, findings)
    outline = read_outline(repair(document, findings))
    check_inputs(outline, findings)
    if not check_steps(outline, findings):
        return None
    check_ids(outline, findings)
    above = check_dependencies(outline, findings)
    check_handlers(outline, catalogue, findings)
    check_references(outline, above, catalogue, findings)
    if definition is not None:
        check_size(definition, findings)
    return definition
