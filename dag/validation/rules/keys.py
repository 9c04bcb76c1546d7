"""Check `for_each` and `cache`: a list to run over, and keys that distinguish its elements, or different work.

Other fields must not make a cached output wrong.
"""

import re

from docrail.dag.language.expressions.expression import compile_expression
from docrail.dag.language.expressions.templates import compile_template, has_template, is_one_expression
from docrail.dag.language.step_kinds import MAX_ITEMS
from docrail.dag.validation.document.outline import OWN_WORDS, Outline, StepOutline, templates_in
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_parts import along
from docrail.dag.values.json_schema import TYPES
from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.problems import Path, is_id
from docrail.dag.values.wording import describe, quote

_OF_ITEMS = frozenset({"item", "index"})
_INPUT = re.compile(r"\{\{\s*inputs\.([A-Za-z][A-Za-z0-9_]*)\s*\}\}")
"""A template that is only one input."""


def check_for_each(step: StepOutline, outline: Outline, findings: Findings) -> None:
    """Report items that cannot be a list, or a list that is too long, and keys that are equal for all items."""
    for_each, path = step.part("for_each"), (*step.path, "for_each")
    items = for_each.get("items")
    if "items" in for_each and (fault := _fault_of(items)):
        message = f"'items' must be {fault}, found {describe(items)}"
        findings.error("wrong-type", (*path, "items"), message, _as_template(items))
    elif declared := _other_type(items, outline):
        name, type_ = declared
        message = f"'items' must be a list, and the input '{name}' is declared as {type_}"
        findings.error("wrong-type", (*path, "items"), message)
    elif isinstance(items, list) and len(items) > MAX_ITEMS:
        message = f"'items' has {len(items)} entries, more than {MAX_ITEMS}: pass parts of the list to several steps"
        findings.error("too-many-items", (*path, "items"), message)
    key = for_each.get("key")
    if isinstance(key, str) and _is_constant(key, outline):
        message = "'key' reads neither 'item' nor 'index', so every item would have the same key"
        findings.error("same-key", (*path, "key"), message)
    elif isinstance(key, str) and isinstance(items, list):
        _check_keys(items, key, (*path, "items"), findings)


def _check_keys(items: list[Json], key: str, path: Path, findings: Findings) -> None:
    """Report literal elements with the key of an earlier one."""
    try:
        keys = compile_expression(key).path
    except ExpressionError:
        return  # reported with the references
    if keys is None or keys[0] != "item":
        return
    first_of: dict[str, int] = {}
    for number, item in enumerate(items):
        *above, value = along(item, keys[1:])
        if len(above) < len(keys) - 1 or isinstance(value, dict | list) or has_template(value):
            continue
        text = value if isinstance(value, str) else canonical(value)
        if (first := first_of.setdefault(text, number)) != number:
            message = f"items[{first}] also has the key '{quote(text)}', and keys must differ: change one"
            findings.error("same-key", (*path, number), message)


def _fault_of(items: Json) -> str | None:
    """Return what `items` should be, None if it may be valid."""
    if has_template(items):
        return None if is_one_expression(items) else "one {{ expression }} with nothing around it, or a list"
    return None if isinstance(items, list) else "a list, or an {{ expression }} that gives one"


def _other_type(items: Json, outline: Outline) -> tuple[str, str] | None:
    """Return the input that `items` is and its declared type, if that is not a list."""
    found = _INPUT.fullmatch(items) if isinstance(items, str) else None
    declared = (outline.inputs or {}).get(found[1]) if found else None
    type_ = declared.get("type") if isinstance(declared, dict) else None
    return (found[1], type_) if found and isinstance(type_, str) and type_ in TYPES and type_ != "array" else None


def _as_template(items: Json) -> str | None:
    """Return the template that a text such as `inputs.pages` was meant to be."""
    parts = items.split(".") if isinstance(items, str) else []
    return f'"{{{{ {items} }}}}"' if len(parts) > 1 and all(map(is_id, parts)) else None


def _is_constant(key: str, outline: Outline) -> bool:
    """Return whether an expression has the same value for each item, as far as its names are known."""
    try:
        roots = {root for root, *_ in compile_expression(key).references}
    except ExpressionError:
        return False  # reported with the references
    return roots <= outline.ids | OWN_WORDS


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
