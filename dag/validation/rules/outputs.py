"""Find paths into the output of a step that can never exist, as far as the definition fixes the output."""

from dataclasses import dataclass

from docrail.dag.language.step_kinds import StepKind, Then, WaitFor
from docrail.dag.validation.document.outline import StepOutline
from docrail.dag.validation.rules.handlers import Catalogue
from docrail.dag.values.json_values import Json
from docrail.dag.values.model_fields import UnknownField, find_unknown_field

_OF_ITEMS = ("total", "completed", "failed", "items")
_OF_ITEM = ("key", "status", "output", "error")
_OF_ERROR = ("type", "message")
"""The fields in the output of a step that runs over a list (engine/map_items.py)."""

_TIMED_OUT = "timed_out"
"""The only field in the output of a step that timed out."""

_OPENING = frozenset(
    {"additionalProperties", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "propertyNames"}
)
"""Schema keywords that may describe fields besides those in `properties`."""

Keys = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnknownOutput:
    """A path that leaves the possible output `depth` keys down, where only `known` exist.

    `what` and `whose` are used in messages: the output '...' of handler 'extract'.
    """

    depth: int
    known: Keys
    whose: str
    note: str = ""
    """What may have been meant."""
    what: str = "output"
    is_certain: bool = True
    """False if the definition does not forbid the field, but does not mention it."""


def find_unknown_output(  # noqa: PLR0911 - a case a kind
    step: StepOutline, catalogue: Catalogue, path: Keys
) -> UnknownOutput | None:
    """Follow `path` into the output of `step`; return where it asks for a field that can never exist."""
    if not path:
        return None
    repeats = step.fields.get("for_each") is not None
    match step.kind:
        case StepKind.HANDLER | StepKind.WORKFLOW if repeats:
            return _in_items(step, catalogue, path)
        case StepKind.HANDLER:
            return _in_handler(step, catalogue, path)
        case StepKind.SWITCH:
            return None if path[0] == "branch" else UnknownOutput(0, ("branch",), "of a switch")
        case StepKind.WAIT if step.part("wait").get("for") == WaitFor.TIMER:
            return UnknownOutput(0, (), "of a timer")
        case StepKind.WAIT:
            return _in_answer(step, "wait", "accept", path)
        case StepKind.HUMAN:
            return _in_answer(step, "human", "form", path)
        case _:
            return None


def _in_handler(step: StepOutline, catalogue: Catalogue, path: Keys) -> UnknownOutput | None:
    handler = step.fields["handler"] if step.kind is StepKind.HANDLER else None
    if not isinstance(handler, str) or handler not in catalogue:
        return None
    unknown = find_unknown_field(catalogue[handler].output, path)
    return None if unknown is None else UnknownOutput(unknown.depth, unknown.known, f"of handler '{handler}'")


def _in_items(step: StepOutline, catalogue: Catalogue, path: Keys) -> UnknownOutput | None:
    match path:
        case ["items", key, *_] if not _is_index(key):
            return UnknownOutput(1, (), "of for_each", ": it is a list, so write items[0] for its first element")
        case ["items", _, "output", *rest]:
            unknown = _in_handler(step, catalogue, tuple(rest))
            return unknown and UnknownOutput(unknown.depth + 3, unknown.known, unknown.whose)
        case ["items", _, "error", key, *_] if key not in _OF_ERROR:
            return UnknownOutput(3, _OF_ERROR, "of for_each")
        case ["items", _, key, *_] if key not in _OF_ITEM:
            return UnknownOutput(2, _OF_ITEM, "of for_each", "; the item's own output is in 'output'")
        case [key, *_] if key not in _OF_ITEMS:
            return UnknownOutput(0, _OF_ITEMS, "of for_each", "; an item's output is in 'items', as in items[0].output")
        case _:
            return None


def _in_answer(step: StepOutline, kind: str, schema: str, path: Keys) -> UnknownOutput | None:
    waiting = step.part(kind)
    unknown, is_certain = _in_schema(waiting.get(schema), path)
    if unknown is None:
        return None
    known = unknown.known
    if unknown.depth == 0 and (step.deadline_branch or _may_time_out(waiting.get("on_timeout"))):
        known = (*known, _TIMED_OUT)
    if path[unknown.depth] in known:
        return None
    whose = f"that '{schema}' allows" if is_certain else f"as '{schema}' describes it"
    return UnknownOutput(unknown.depth, known, whose, what="answer", is_certain=is_certain)


def _may_time_out(rule: Json) -> bool:
    """Return whether the step completes without an answer."""
    if isinstance(rule, dict):
        return rule.get("branch") is not None or rule.get("then") == Then.CONTINUE
    return bool(rule == Then.CONTINUE)


def _in_schema(schema: Json, path: Keys) -> tuple[UnknownField | None, bool]:
    """Follow `path` into `schema`; return where it asks for an unknown field, and whether that is certain."""
    for depth, key in enumerate(path):
        match schema:
            case {"properties": dict() as fields} if key in fields:
                schema = fields[key]
            case {"properties": dict() as fields} if (is_certain := _lacks(schema, key)) is not None:
                return UnknownField(depth, tuple(fields)), is_certain
            case {"items": dict() as items} if _is_index(key):
                schema = items
            case _:
                break
    return None, True


def _lacks(schema: dict[str, Json], key: str) -> bool | None:
    """Return whether an object of `schema` never has the field `key`; False if it is only not mentioned.

    A schema that lists some fields allows others, but authors rarely rely on that. None: the field may exist.
    """
    if "patternProperties" in schema:
        return None
    if schema.get("additionalProperties") is False:
        return True
    is_open = bool(_OPENING & schema.keys()) or not schema["properties"]
    return None if is_open or key in (schema.get("required") or ()) else False


def _is_index(key: str) -> bool:
    return key.lstrip("-").isdecimal()
