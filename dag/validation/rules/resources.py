"""Check what work waits for: resource tags that have limits, and a fairness key that reads only inputs."""

from collections.abc import Collection

from docrail.dag.language.expressions.templates import compile_template
from docrail.dag.validation.document.outline import Outline
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path, is_id
from docrail.dag.values.wording import quote


def check_resource_tags(defaults: Json, outline: Outline, tags: Collection[str] | None, findings: Findings) -> None:
    """Report tags that are not among `tags`, for which no worker would take the step. None: tags are unknown here."""
    if tags is None:
        return
    default = defaults.get("resource_tag") if isinstance(defaults, dict) else None
    _check_tag(default, ("defaults", "resource_tag"), "'defaults'", tags, findings)
    for step in outline.steps:
        tag = step.fields.get("resource_tag")
        if tag != default:  # a wrong tag in `defaults` is reported once
            _check_tag(tag, (*step.path, "resource_tag"), step.name, tags, findings)


def _check_tag(tag: Json, path: Path, owner: str, tags: Collection[str], findings: Findings) -> None:
    if not isinstance(tag, str) or not is_id(tag) or tag in tags:
        return  # an invalid tag is reported with the fields
    message = f"{owner}: there is no resource tag '{quote(tag)}'"
    findings.unknown("unknown-resource-tag", path, message, tag, tags, if_none="; no tag has a limit")


def check_fairness_key(priority: Json, outline: Outline, findings: Findings) -> None:
    """Report a fairness key that is invalid, or that reads values not available when a run is started."""
    key = priority.get("fairness_key") if isinstance(priority, dict) else None
    if not isinstance(key, str):
        return
    path: Path = ("priority", "fairness_key")
    try:
        references = compile_template(key).references
    except ExpressionError as error:
        findings.error("bad-expression", path, error.message)
        return
    for root, *rest in references:
        if root != "inputs":
            message = (
                f"the fairness key is evaluated before the run starts: it can read only 'inputs', not '{quote(root)}'"
            )
            findings.error("unknown-name", path, message)
        elif rest and outline.inputs is not None and rest[0] not in outline.inputs:
            message = f"there is no input '{quote(rest[0])}'"
            findings.unknown("unknown-input", path, message, rest[0], outline.inputs)
