"""Suggest what an author probably meant: terms of other engines, misplaced fields, short forms, durations.

In one file because the tables of foreign terms and the notes on them are maintained together.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel

from docrail.dag.language.definition import DEFAULTABLE, Definition, Input, RunPriority, Step
from docrail.dag.language.step_kinds import (
    Abort,
    Assignees,
    Cache,
    Case,
    Compensate,
    ForEach,
    Human,
    Model,
    Nested,
    OnTimeout,
    StepKind,
    Wait,
    WaitFor,
)
from docrail.dag.language.test_cases import Expectation, ExpectedStep, Failure, Mock, Trial
from docrail.dag.language.version_refs import parse_ref
from docrail.dag.validation.document.outline import is_edge
from docrail.dag.values.json_schema import TYPES
from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.model_fields import fixed_fields, model_at
from docrail.dag.values.problems import Path, is_id

_FOREIGN: Mapping[type[BaseModel], Mapping[str, str]] = {
    Definition: {
        **dict.fromkeys(("name", "workflow_id", "dag_id"), "id"),
        **dict.fromkeys(("nodes", "tasks", "jobs", "commands", "activities"), "steps"),
        **dict.fromkeys(("parameters", "params", "variables", "vars", "input"), "inputs"),
        **dict.fromkeys(("result", "results", "returns", "output"), "outputs"),
        **dict.fromkeys(("deadline", "due", "sla", "sla_seconds"), "deadline_seconds"),
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
        **dict.fromkeys(("choice", "router", "case"), "switch"),
        **dict.fromkeys(("stop", "terminate", "cancel"), "abort"),
        **dict.fromkeys(("undo", "rollback", "revert", "compensation"), "compensate"),
        **dict.fromkeys(("allow_failure", "continue_on_error", "ignore_errors"), "optional"),
        **dict.fromkeys(("retry", "retries", "retry_policy"), "max_retries"),
        **dict.fromkeys(("deadline", "deadline_seconds"), "total_timeout_seconds"),
        **dict.fromkeys(("memoize", "memo", "cached", "cache_policy"), "cache"),
        **dict.fromkeys(("rate_limit", "rate", "throttle", "resource", "pool"), "resource_tag"),
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
        **dict.fromkeys(("assignee", "assigned_to", "role", "team", "owner"), "assignees"),
        "timeout": "timeout_seconds",
    },
    Assignees: {
        **dict.fromkeys(("role", "team", "groups", "queue", "name"), "group"),
        **dict.fromkeys(("count", "required", "quorum", "approvers", "min_approvals"), "approvals"),
        **dict.fromkeys(("four_eyes", "exclude_submitter", "not_submitter", "not_me"), "not_the_submitter"),
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
    Cache: {
        **dict.fromkeys(("ttl", "seconds", "max_age", "expires_in", "expires_after", "timeout_seconds"), "ttl_seconds"),
        **dict.fromkeys(("keys", "key_by", "id", "name"), "key"),
    },
    OnTimeout: {
        **dict.fromkeys(("do", "action", "on_timeout"), "then"),
        **dict.fromkeys(("goto", "next", "step", "to"), "branch"),
        **dict.fromkeys(("escalate", "escalation", "queue", "notify"), "escalate_to"),
    },
    ForEach: {
        **dict.fromkeys(("in", "list", "over", "values", "elements"), "items"),
        **dict.fromkeys(("id", "name", "key_by"), "key"),
        **dict.fromkeys(("max_parallel", "parallel", "parallelism", "concurrency", "workers"), "max_concurrency"),
    },
    Trial: {
        **dict.fromkeys(("mocks", "mock", "stubs", "given_steps"), "steps"),
        **dict.fromkeys(("expected", "then", "want", "assert", "asserts"), "expect"),
        **dict.fromkeys(("title", "id", "description", "case"), "name"),
        **dict.fromkeys(("input", "params", "parameters", "given"), "inputs"),
    },
    Mock: {
        **dict.fromkeys(("result", "returns", "gives", "value", "outputs"), "output"),
        **dict.fromkeys(("error", "fails", "raises", "fail"), "failure"),
        **dict.fromkeys(("decision", "reply", "response", "answered"), "answer"),
        **dict.fromkeys(("timeout", "timed_out", "times-out"), "times_out"),
    },
    Failure: {**dict.fromkeys(("class", "error", "kind", "name"), "type"), "retriable": "retryable"},
    Expectation: {
        **dict.fromkeys(("state", "result", "ends"), "status"),
        **dict.fromkeys(("compensated", "compensations", "rolled_back"), "undone"),
        "output": "outputs",
    },
    ExpectedStep: {
        **dict.fromkeys(("input", "inputs", "given", "called_with"), "config"),
        **dict.fromkeys(("outputs", "result"), "output"),
        "state": "status",
    },
}
"""Terms of other engines, and the field here with the same meaning."""

COMMANDS: Mapping[str, StepKind] = {
    **dict.fromkeys(("WaitForResponse", "wait_for_response", "timer", "signal", "webhook"), StepKind.WAIT),
    **dict.fromkeys(("EvaluateIfThenElse", "evaluate_if_then_else", "if", "choice"), StepKind.SWITCH),
    **dict.fromkeys(("approval", "review"), StepKind.HUMAN),
    **{kind.value: kind for kind in StepKind},
}
"""Handler names, including names of commands, that are a kind of step here."""

EXAMPLES: Mapping[StepKind, str] = {
    StepKind.HANDLER: "handler: NAME",
    StepKind.WAIT: "wait: {for: signal}",
    StepKind.HUMAN: "human: {title: QUESTION}",
    StepKind.WORKFLOW: "workflow: {id: NAME}",
    StepKind.ABORT: "abort: {reason: TEXT}",
    StepKind.SWITCH: "switch: [{when: EXPRESSION, branch: NAME}, {else: NAME}]",
}
"""The shortest valid form of each kind."""

NAMES: Mapping[str, str] = dict.fromkeys(
    ("input", "params", "parameters", "args", "vars", "variables", "trigger", "ctx", "context"), "inputs"
)
"""Names with which expressions of other engines begin, and the equivalent here."""

SECRETS = frozenset({"secret", "secrets", "env"})
"""Names under which authors look for secrets."""

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|w|weeks?)\b,?\s*", re.ASCII)

_ISO = re.compile(r"p(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?", re.ASCII)

_CLOCK = re.compile(r"()()(\d+):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
"""Hours, minutes and optional seconds, matching the last groups of `_ISO`."""

_TRUTHS = {"yes": "true", "on": "true", "no": "false", "off": "false"}

_COUNTS: Mapping[type[BaseModel], str] = {Wait: "for: timer, seconds", Cache: "ttl_seconds", RunPriority: "key"}
"""The meaning of a number written in place of an object, by model."""

_SWITCHED_ON: Mapping[type[BaseModel], str] = {
    Human: "{title: QUESTION}",
    Wait: "{for: signal}",
    Cache: "{ttl_seconds: SECONDS}",
}
"""The meaning of `true` written in place of an object, by model."""

_LONGEST_LIST = 40
"""Characters of a list that a suggestion repeats."""


def translate(model: type[BaseModel] | None, word: str) -> str | None:
    """Return the field of `model` that another engine calls `word`."""
    return None if model is None else _FOREIGN.get(model, {}).get(word)


def homes_of(model: type[BaseModel] | None, word: str) -> list[str]:
    """Return where `word` is a valid field if not in `model` itself: fields of `model`, or the surrounding step."""
    if model is None or not issubclass(model, Model) or translate(model, word) is not None:
        return []
    if model is Definition and word in DEFAULTABLE:
        return ["'defaults'"]
    homes = [f"'{name}'" for name in fixed_fields(model) or () if word in _fields_below(model, name)]
    return homes or (["the step itself"] if model is not Definition and word in Step.model_fields else [])


def _fields_below(model: type[BaseModel], name: str) -> Iterator[str]:
    below = model_at(model, (name,)) or model_at(model, (name, 0))
    yield from (below and fixed_fields(below)) or ()


def meant_value(rule: str, found: Json, model: type[BaseModel] | None, path: Path) -> str | None:
    """Return what `found` at `path`, which breaks `rule` (`must be a number`), was probably meant to be.

    `model` is the model that reads it, if any.
    """
    if rule == "must be an object":
        return _as_schema(found, path) if model is None else _written_out(model, found)
    if not isinstance(found, str):
        return meant_name(found) if names_branch(path) else _edges_in(found, path)
    match rule:
        case "must be a list":
            entries = re.split(r"[\s,]+", found.strip())
            return f"[{', '.join(entries)}]" if all(map(is_edge, entries)) else None
        case "must be true or false":
            return _TRUTHS.get(found.lower())
        case "must be a number" | "must be a whole number":
            is_version = path[-1:] == ("version",) and re.fullmatch("v[1-9][0-9]*", found)
            return found[1:] if is_version else seconds_in(found)
        case _:
            return None


def _edges_in(found: Json, path: Path) -> str | None:
    """Return the list that `depends_on: {route: large}` means."""
    if path[-1:] != ("depends_on",) or not isinstance(found, dict):
        return None
    edges = [f"{step}.{branch}" for step, branch in found.items()]
    return f"[{', '.join(edges)}]" if edges and all(map(is_edge, edges)) else None


def _as_schema(found: Json, path: Path) -> str | None:
    """Return the JSON Schema that a list of names, or of possible answers, means."""
    if not isinstance(found, list) or not found or not all(isinstance(name, str) and is_id(name) for name in found):
        return None
    match path[-1:]:
        case ("accept",):
            return f"{{enum: [{', '.join(found)}]}}"
        case ("form",):
            return f"{{type: object, properties: {{{', '.join(f'{name}: {{type: …}}' for name in found)}}}}}"
        case _:
            return None


def _written_out(model: type[BaseModel], found: Json) -> str | None:
    """Return the object that a shorter value in its place means."""
    match found:
        case bool():
            return _SWITCHED_ON.get(model) if found else None
        case int() | float():
            return f"{{{_COUNTS[model]}: {found}}}" if model in _COUNTS else None
        case list() if model is ForEach:
            return f"{{items: {canonical(found)}}}" if len(canonical(found)) <= _LONGEST_LIST else "{items: [...]}"
        case str():
            return _for_text(model, found)
        case _:
            return None


def _for_text(model: type[BaseModel], found: str) -> str | None:
    ref = parse_ref(found) if model is Nested else None
    if ref is not None and ref.version is not None:
        return f"{{id: {ref.definition_id}, version: {ref.version}}}"
    fitting: Mapping[type[BaseModel], tuple[str, bool]] = {
        Wait: ("for", found in set(WaitFor)),
        Nested: ("id", is_id(found)),
        Human: ("queue", is_id(found)),
        Assignees: ("group", is_id(found)),
        Compensate: ("handler", is_id(found)),
        Case: ("else", is_id(found) and found not in Case.model_fields and found != "else"),
        Input: ("type", found in TYPES and found != "null"),
    }
    if model is ForEach and "{{" in found and '"' not in found:
        return f'{{items: "{found}"}}'
    name, fits = fitting.get(model, ("", False))
    return f"{{{name}: {found}}}" if fits else None


def seconds_in(text: str) -> str | None:
    """Return the number in `text`; a duration such as `5m` in seconds."""
    written = text.strip().lower()
    if re.fullmatch(r"\d+(?:\.\d+)?", written, re.ASCII):
        return f"{float(written):.15g}"
    if match := _ISO.fullmatch(written) or _CLOCK.fullmatch(written):
        parts = list(zip(match.groups(), "wdhms", strict=True))
    else:
        parts = _PART.findall(written) if re.fullmatch(f"(?:{_PART.pattern})+", written, re.ASCII) else []
    seconds = sum(float(count) * _UNITS[unit[0]] for count, unit in parts if count)
    return f"{seconds:.15g}" if seconds else None


_A_CHOICE = (
    "a choice is a step of its own, switch: [{when: EXPRESSION, branch: NAME}, {else: NAME}]; "
    "the steps of a branch say depends_on: [STEP.NAME]"
)

_A_WAY = "name the branch here, branch: NAME; write its steps in the definition's 'steps', with depends_on: [STEP.NAME]"

_NOTES: Mapping[type[BaseModel], Mapping[str, str]] = {
    Step: dict.fromkeys(("branch", "branches", "then", "else", "otherwise", "elif", "cases"), _A_CHOICE),
    Case: dict.fromkeys(("steps", "step", "do", "run", "handler", "id"), _A_WAY),
    OnTimeout: dict.fromkeys(("steps", "run", "handler", "id"), _A_WAY),
    Wait: {
        **dict.fromkeys(("url", "path", "callback", "callback_url"), "its URL is {{ run.callbacks.STEP }}"),
        **dict.fromkeys(
            ("until", "at", "date", "cron"), "write how long a timer waits in 'seconds', which may be a template"
        ),
    },
    Human: {
        **dict.fromkeys(("options", "choices", "buttons", "actions"), "write a decision's fields and values in 'form'"),
        **dict.fromkeys(("due", "deadline", "sla", "due_at"), "write how long people have in 'timeout_seconds'"),
    },
    Assignees: {
        **dict.fromkeys(("user", "users", "people", "names", "emails"), "name their 'group' instead of people"),
    },
    ForEach: {
        **dict.fromkeys(("as", "var", "variable", "item", "loop_var"), "an element is always called 'item'"),
        **dict.fromkeys(("batch_size", "chunk_size", "batch"), "items run one by one, 'max_concurrency' at a time"),
    },
    Nested: {
        **dict.fromkeys(("alias", "ref", "tag"), "without 'version' it is the version of new runs"),
        **dict.fromkeys(("async", "detached", "fire_and_forget"), "the step always waits for the run's end"),
    },
}
"""Notes by the model in which the word is written."""

_MEANT: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("continue", "ignore", "proceed", "go_on", "skip"), ("collect", "continue")),
    **dict.fromkeys(("stop", "cancel", "terminate", "abort", "fail"), ("fail_fast", "abort")),
    **dict.fromkeys(("wait", "hold", "pause", "manual"), ("park",)),
    **dict.fromkeys(("always", "finished", "settled", "complete"), ("all_done",)),
    **dict.fromkeys(("any", "any_success", "first_success"), ("one_success",)),
    **dict.fromkeys(("any_failed", "on_failure", "on_error", "failure"), ("one_failed",)),
    **dict.fromkeys(("success", "on_success", "all"), ("all_success",)),
    **dict.fromkeys(("event", "message", "answer", "api"), ("signal",)),
    **dict.fromkeys(("http", "callback", "url"), ("webhook",)),
    **dict.fromkeys(("time", "delay", "sleep", "duration"), ("timer",)),
    **dict.fromkeys(("text", "str", "date", "datetime"), ("string",)),
    **dict.fromkeys(("int", "long"), ("integer",)),
    **dict.fromkeys(("float", "double", "decimal", "money"), ("number",)),
    "bool": ("boolean",),
    **dict.fromkeys(("list", "tuple"), ("array",)),
    **dict.fromkeys(("dict", "map", "json"), ("object",)),
}
"""Common words in place of an enum value, and the values that may be meant."""

_APPROVALS = frozenset({"approve", "approved", "accept", "accepted", "yes", "ok", "pass"})

_SILENCE = "; a missing answer is never an approval"

_ENDS: Mapping[str, str] = {
    **dict.fromkeys(("skip", "ignore", "proceed", "complete", "completed", "go_on"), "continue"),
    **dict.fromkeys(("failed", "error", "raise"), "fail"),
    **dict.fromkeys(("stop", "cancel", "aborted", "terminate", "end"), "abort"),
}


def note_on(model: type[BaseModel] | None, word: str) -> str | None:
    """Return what to do instead of writing `word`, which no field of `model` replaces."""
    return None if model is None else _NOTES.get(model, {}).get(word)


def meant_choice(found: str, choices: Iterable[str]) -> str | None:
    """Return the one of `choices` that `found` means in other engines."""
    known = set(choices)
    return next((word for word in _MEANT.get(found.lower(), ()) if word in known), None)


def meant_end(found: str, *, is_name: bool) -> tuple[str, str | None]:
    """Return a remark on `found` as the value of `on_timeout`, and what is meant; an id may name a branch."""
    if found.lower() in _APPROVALS:
        return _SILENCE, None
    return "", _ENDS.get(found.lower()) or (f"{{branch: {found}}}" if is_name else None)


def remark_on_then(found: Json) -> str:
    """Return a remark on `found` as the value of `on_timeout.then`: anything but a word probably means a branch."""
    if isinstance(found, str) and found.lower() in _APPROVALS:
        return _SILENCE
    return "; for other steps to follow, write branch: NAME instead, and depends_on: [STEP.NAME] in those steps"


def names_branch(path: Path) -> bool:
    """Return whether the value at `path` is the name of a branch: of a switch's case, or of a timeout."""
    return path[-2:] in (("on_timeout", "branch"), ("on_deadline", "branch")) or (
        path[-3:-2] == ("switch",) and path[-1] in ("branch", "else")
    )


def meant_name(found: Json) -> str | None:
    """Return the only name in a larger value that was written in place of a name."""
    parts = found if isinstance(found, list) else []
    if isinstance(found, dict):
        parts = [found[key] for key in ("branch", "name", "id", "step") if key in found][:1]
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) and is_id(parts[0]) else None
