"""What an author probably meant: words of other engines, fields in the wrong place, short forms, durations."""

import re
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from dag.checks.inputs import TYPES
from dag.checks.outline import is_edge
from dag.checks.shapes import fixed_fields, model_at
from dag.definition import DEFAULTABLE, Definition, Input, Step, is_id
from dag.kinds import Abort, Case, Compensate, ForEach, Human, Model, Nested, OnTimeout, StepKind, Wait, WaitFor
from dag.values import Json

_FOREIGN: Mapping[type[BaseModel], Mapping[str, str]] = {
    Definition: {
        **dict.fromkeys(("name", "workflow_id", "dag_id"), "id"),
        **dict.fromkeys(("nodes", "tasks", "jobs", "commands", "activities"), "steps"),
        **dict.fromkeys(("parameters", "params", "variables", "vars", "input"), "inputs"),
        **dict.fromkeys(("result", "results", "returns", "output"), "outputs"),
        "description": "title",
    },
    Step: {
        **dict.fromkeys(("name", "step_id", "task_id"), "id"),
        **dict.fromkeys(
            ("fn", "function", "command", "module", "action", "uses", "run", "task", "activity"), "handler"
        ),
        **dict.fromkeys(("needs", "after", "requires", "upstream", "parents", "runAfter"), "depends_on"),
        **dict.fromkeys(("if", "when", "only_if"), "condition"),
        **dict.fromkeys(("with", "args", "arguments", "parameters", "input"), "config"),
        **dict.fromkeys(("loop", "foreach", "forEach", "map", "with_items", "matrix"), "for_each"),
        **dict.fromkeys(("sleep", "delay", "pause", "timer", "signal", "webhook"), "wait"),
        **dict.fromkeys(("approval", "review", "manual", "ask"), "human"),
        **dict.fromkeys(("subworkflow", "sub_workflow", "child", "nested", "call"), "workflow"),
        **dict.fromkeys(("choice", "branch", "router", "case"), "switch"),
        **dict.fromkeys(("stop", "terminate", "cancel"), "abort"),
        **dict.fromkeys(("undo", "rollback", "revert", "compensation"), "compensate"),
        **dict.fromkeys(("allow_failure", "continue_on_error", "ignore_errors"), "optional"),
        **dict.fromkeys(("retry", "retries", "retry_policy"), "max_retries"),
        "description": "title",
        "timeout": "timeout_seconds",
        "type": "handler",
    },
    Wait: {
        **dict.fromkeys(("type", "kind", "event", "on"), "for"),
        **dict.fromkeys(("duration", "delay", "time"), "seconds"),
        "schema": "accept",
        "timeout": "timeout_seconds",
    },
    Human: {
        **dict.fromkeys(("schema", "fields", "accept", "inputs"), "form"),
        **dict.fromkeys(("question", "text", "message", "prompt"), "title"),
        **dict.fromkeys(("assignee", "role", "team", "group"), "queue"),
        "timeout": "timeout_seconds",
    },
    Nested: {
        **dict.fromkeys(("name", "definition", "workflow"), "id"),
        **dict.fromkeys(("config", "params", "with", "input"), "inputs"),
    },
    Compensate: {
        **dict.fromkeys(("params", "with", "args", "input", "inputs"), "config"),
        **dict.fromkeys(("fn", "uses", "run", "step", "id", "name"), "handler"),
    },
    Abort: {**dict.fromkeys(("message", "error", "text", "why"), "reason")},
    Case: {
        **dict.fromkeys(("if", "condition", "case"), "when"),
        **dict.fromkeys(("then", "goto", "next", "name", "to"), "branch"),
        **dict.fromkeys(("default", "otherwise"), "else"),
    },
    OnTimeout: {**dict.fromkeys(("do", "action", "on_timeout"), "then")},
    ForEach: {
        **dict.fromkeys(("in", "list", "over", "values", "elements"), "items"),
        **dict.fromkeys(("id", "name", "key_by"), "key"),
        **dict.fromkeys(("max_parallel", "parallel", "concurrency"), "max_concurrency"),
    },
}
"""Words that people bring from elsewhere, and ours for the same thing."""

COMMANDS: Mapping[str, StepKind] = {
    **dict.fromkeys(("WaitForResponse", "wait_for_response", "timer", "signal", "webhook"), StepKind.WAIT),
    **dict.fromkeys(("EvaluateIfThenElse", "evaluate_if_then_else", "if", "choice"), StepKind.SWITCH),
    **dict.fromkeys(("approval", "review"), StepKind.HUMAN),
    **{kind.value: kind for kind in StepKind},
}
"""Names given as a handler's, the seeds' commands among them, for what is a kind of step here."""

EXAMPLES: Mapping[StepKind, str] = {
    StepKind.HANDLER: "handler: NAME",
    StepKind.WAIT: "wait: {for: signal}",
    StepKind.HUMAN: "human: {title: QUESTION}",
    StepKind.WORKFLOW: "workflow: {id: NAME}",
    StepKind.ABORT: "abort: {reason: TEXT}",
    StepKind.SWITCH: "switch: [{when: EXPRESSION, branch: NAME}, {else: NAME}]",
}
"""The shortest right form of each kind."""

NAMES: Mapping[str, str] = dict.fromkeys(
    ("input", "params", "parameters", "args", "vars", "variables", "trigger", "ctx", "context"), "inputs"
)
"""Names that expressions of other engines begin with, and ours."""

SECRETS = frozenset({"secret", "secrets", "env"})
"""Names that people look for secrets under."""

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)?", re.ASCII)
_TRUTHS = {"yes": "true", "on": "true", "no": "false", "off": "false"}


def translate(model: type[BaseModel] | None, word: str) -> str | None:
    """Return our word for another engine's `word` as a field of `model`."""
    return None if model is None else _FOREIGN.get(model, {}).get(word)


def homes_of(model: type[BaseModel] | None, word: str) -> list[str]:
    """Return where `word`, which is no field of `model`, is one: in which fields of it, or in the step around it."""
    if model is None or not issubclass(model, Model) or translate(model, word) is not None:
        return []
    if model is Definition and word in DEFAULTABLE:
        return ["'defaults'"]
    homes = [f"'{name}'" for name in fixed_fields(model) or () if word in _fields_below(model, name)]
    return homes or (["the step itself"] if model is not Definition and word in Step.model_fields else [])


def _fields_below(model: type[BaseModel], name: str) -> Iterator[str]:
    below = model_at(model, (name,)) or model_at(model, (name, 0))
    yield from (below and fixed_fields(below)) or ()


def meant_value(rule: str, found: Json, model: type[BaseModel] | None) -> str | None:
    """Return what `found`, which breaks `rule` (`must be a number`), was probably meant to be; `model` reads it."""
    if rule == "must be an object" and model is not None:
        return _written_out(model, found)
    if not isinstance(found, str):
        return None
    match rule:
        case "must be a list":
            entries = re.split(r"[\s,]+", found.strip())
            return f"[{', '.join(entries)}]" if all(map(is_edge, entries)) else None
        case "must be true or false":
            return _TRUTHS.get(found.lower())
        case "must be a number" | "must be a whole number":
            return _seconds(found)
        case _:
            return None


def _written_out(model: type[BaseModel], found: Json) -> str | None:
    """Return the object that a scalar in its place stands for."""
    if isinstance(found, int | float) and not isinstance(found, bool):
        return f"{{for: timer, seconds: {found}}}" if model is Wait else None
    if not isinstance(found, str):
        return None
    fitting: Mapping[type[BaseModel], tuple[str, bool]] = {
        Wait: ("for", found in set(WaitFor)),
        Nested: ("id", is_id(found)),
        Compensate: ("handler", is_id(found)),
        Input: ("type", found in TYPES and found != "null"),
    }
    if model is ForEach and "{{" in found and '"' not in found:
        return f'{{items: "{found}"}}'
    name, fits = fitting.get(model, ("", False))
    return f"{{{name}: {found}}}" if fits else None


def _seconds(text: str) -> str | None:
    """Return the number in `text`; a duration such as `5m` in seconds."""
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None:
        return None
    return f"{float(match[1]) * _UNITS[(match[2] or 's')[0]]:g}"
