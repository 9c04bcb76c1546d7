"""Check `cache`: the key must distinguish different work, and other fields must not make a cached output wrong."""

from docrail.dag.language.expressions.templates import compile_template
from docrail.dag.validation.document.outline import StepOutline, templates_in
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_values import Json

_OF_ITEMS = frozenset({"item", "index"})


def check_cache(step: StepOutline, findings: Findings) -> None:
    """Report a cached step with a compensation, and a key that is equal for different configs."""
    if step.fields.get("cache") is None:
        return
    if step.fields.get("compensate") is not None:
        message = (
            f"{step.name} has both 'cache' and 'compensate': with an output from the cache it has done "
            "nothing, and would undo the work of another run; keep one of them"
        )
        findings.error("misplaced-field", (*step.path, "cache"), message, at_key=True)
    key = step.part("cache").get("key")
    if key is not None:
        _check_key(step, key, findings)


def _check_key(step: StepOutline, key: Json, findings: Findings) -> None:
    in_key, in_config = _roots(key), _roots(step.fields.get("config"))
    if in_key is None or in_config is None:
        return  # reported with the references
    path = (*step.path, "cache", "key")
    if in_config & _OF_ITEMS and not in_key & _OF_ITEMS:
        message = "'key' reads neither 'item' nor 'index', so every item would get the output of the first"
        findings.error("same-key", path, message)
    elif in_config and not in_key:
        message = "'key' reads no value, so every run gets the same output, even with another config"
        findings.warning("same-key", path, message)


def _roots(value: Json) -> set[str] | None:
    """Return the root names that the templates in `value` read; None if one is invalid."""
    try:
        templates = [compile_template(template) for _, template in templates_in((), value)]
    except ExpressionError:
        return None
    return {path[0] for template in templates for path in template.references}
