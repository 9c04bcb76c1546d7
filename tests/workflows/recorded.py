"""What each recorded history shows, read from its own content; and all that the histories together have to show."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from docrail.dag.engine.events import ResolutionKind
from docrail.dag.language.definition import OnFailure, TriggerRule
from docrail.dag.language.statuses import SkipReason
from docrail.dag.language.step_kinds import StepKind, Then, WaitFor
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import (
    ABORT,
    ANSWER,
    CHUNK_THINNED,
    CHUNK_TYPE,
    CLOSE_REVIEW,
    ESCALATE_REVIEW,
    LOAD_STATE,
    LOAD_VALUES,
    PAUSE,
    RECORD_DEAD_LETTER,
    RECORD_DECISION,
    RECORD_OVERDUE,
    RESOLVE,
    RESUME,
    STORE_VALUE,
)
from tests.workflows.conftest import HISTORIES

NOT_OF_RUNS = ("export", "document_chunk")
"""How the names of those histories begin that are of exports, which follow no definition, and of several runs."""

Reported = dict[str, Any]
"""A step: the fields of its definition, and under `reported` those of its report."""


@dataclass(frozen=True)
class Recorded:
    """One history."""

    name: str
    request: dict[str, Json]
    status: str
    """How the workflow ended, as a run's status."""
    steps: tuple[Reported, ...]
    happened: frozenset[str]
    """Event types without their prefix, `activity NAME`, `signal NAME`, `update NAME ARGUMENT …`, `child TYPE`."""
    is_chunk: bool

    @property
    def definition(self) -> dict[str, Json]:
        """Return what the run follows."""
        found: dict[str, Json] = self.request["definition"]
        return found


@cache
def recorded() -> tuple[Recorded, ...]:
    """Return what every recorded history of a run shows."""
    return tuple(_read(path) for path in sorted(HISTORIES.glob("*.json")) if not path.stem.startswith(NOT_OF_RUNS))


def _read(path: Path) -> Recorded:
    events = [_attributes(event) for event in json.loads(path.read_text())["events"]]
    started, ended = events[0][1], events[-1]
    request = _decoded(started["input"])[0]
    is_chunk = started["workflowType"]["name"] == CHUNK_TYPE
    request = request["run"] if is_chunk else request
    report = _report(ended)
    reported = report.get("steps", {})
    steps = [{**step, "reported": reported.get(step["id"], {})} for step in request["definition"]["steps"]]
    status = report.get("status") or ended[0].removeprefix("WORKFLOW_EXECUTION_").lower().replace(
        "canceled", "cancelled"
    )
    happened = frozenset(word for event in events for word in _words(*event))
    return Recorded(path.stem, request, status, tuple(steps), happened, is_chunk)


def _attributes(event: dict[str, Json]) -> tuple[str, dict[str, Json]]:
    found: dict[str, Json] = next((value for key, value in event.items() if key.endswith("EventAttributes")), {})
    return event["eventType"].removeprefix("EVENT_TYPE_"), found


def _decoded(payloads: dict[str, Json]) -> list[Json]:
    return [json.loads(base64.b64decode(each["data"])) for each in payloads.get("payloads", ()) if "data" in each]


def _report(ended: tuple[str, dict[str, Json]]) -> dict[str, Json]:
    """Return the run's report; nothing of a chunk, and of a cancelled run, which leaves none."""
    kind, attributes = ended
    held = attributes.get("result") if kind == "WORKFLOW_EXECUTION_COMPLETED" else None
    if kind == "WORKFLOW_EXECUTION_FAILED":
        held = attributes["failure"]["applicationFailureInfo"].get("details")
    report: dict[str, Json] = _decoded(held or {})[0] if held else {}
    return report


def _words(kind: str, attributes: dict[str, Json]) -> list[str]:
    words = [kind]
    match kind:
        case "ACTIVITY_TASK_SCHEDULED":
            words.append(f"activity {attributes['activityType']['name']}")
        case "WORKFLOW_EXECUTION_SIGNALED":
            words.append(f"signal {attributes['signalName']}")
        case "START_CHILD_WORKFLOW_EXECUTION_INITIATED":
            words.append(f"child {attributes['workflowType']['name']}")
        case "WORKFLOW_EXECUTION_UPDATE_ACCEPTED":
            asked = attributes["acceptedRequest"]["input"]
            given = [each for each in _decoded(asked.get("args", {})) if isinstance(each, str)]
            words += [f"update {asked['name']}", *(f"update {asked['name']} {each}" for each in given)]
    return words


Claim = Callable[[Recorded], bool]


def _happened(*words: str, status: str | None = None) -> Claim:
    return lambda history: history.happened.issuperset(words) and status in (None, history.status)


def _step(claim: Callable[[Reported], Any]) -> Claim:
    """Return the claim that some step is like that."""
    return lambda history: any(claim(step) for step in history.steps)


def _both(*claims: Claim) -> Claim:
    return lambda history: all(claim(history) for claim in claims)


def _is(status: str, **fields: Json) -> Callable[[Reported], bool]:
    """Return how a step ended."""
    return lambda step: step["reported"].get("status") == status and fields.items() <= step["reported"].items()


def _does(kind: StepKind) -> Claim:
    return _step(lambda step: kind in step and _is("completed")(step) and not step.get("for_each"))


def _waits(kind: str, waits_for: WaitFor | None = None) -> Callable[[Reported], bool]:
    return lambda step: kind in step and (waits_for is None or step[kind]["for"] == waits_for)


def _answered(kind: str, waits_for: WaitFor | None = None) -> Claim:
    return _step(lambda step: _waits(kind, waits_for)(step) and step["reported"].get("answered_by"))


def _unanswered(kind: str, waits_for: WaitFor | None, then: str) -> Claim:
    """Return the claim that no answer came in time, and that `on_timeout` applied."""
    late = _waits(kind, waits_for)

    def claim(step: Reported) -> bool:
        if not late(step) or step["reported"].get("decided_by") != "timeout":
            return False
        rule: dict[str, Json] = step[kind].get("on_timeout") or {}
        return then == (rule.get("then") or "branch")

    return _step(claim)


def _rule(rule: TriggerRule, *, runs: bool) -> Claim:
    statuses = ("completed", "failed", "cancelled") if runs else ("skipped",)
    not_by_rule = (SkipReason.CONDITION_FALSE, SkipReason.ABORTED)

    def claim(step: Reported) -> bool:
        is_meant = step["trigger_rule"] == rule and step["depends_on"] and step["reported"].get("status") in statuses
        return bool(is_meant) and step["reported"].get("reason") not in not_by_rule

    return _step(claim)


def _error(words: str) -> Claim:
    return _step(lambda step: words in ((step["reported"].get("error") or {}).get("message") or ""))


def _list(**fields: Json) -> Callable[[Reported], bool]:
    """Return whether a step runs over a list, as `fields` say."""
    return lambda step: bool(step.get("for_each")) and fields.items() <= step["for_each"].items()


def _items(claim: Callable[[Reported], bool], at_all: Callable[[Reported], bool] = _list()) -> Claim:  # noqa: B008 - a constant
    return _step(lambda step: at_all(step) and step["reported"].get("items") and claim(step))


def _with(setting: str, value: str, claim: Claim) -> Claim:
    return lambda history: history.definition.get(setting) == value and claim(history)


FAILED = _step(_is("failed"))
IN_CHUNKS = f"child {CHUNK_TYPE}"
UNDONE = _step(lambda step: step["reported"].get("compensation") == "completed")
STAYS = _step(lambda step: step["reported"].get("compensation") == "failed")

KINDS: Mapping[str, Claim] = {
    **{f"{kind} completes": _does(kind) for kind in StepKind if kind is not StepKind.ABORT},
    "abort ends the run": _both(_does(StepKind.ABORT), _happened(status="aborted")),
    "wait for signal is answered": _answered("wait", WaitFor.SIGNAL),
    "wait for webhook is answered": _answered("wait", WaitFor.WEBHOOK),
    "wait for timer ends": _step(lambda step: _waits("wait", WaitFor.TIMER)(step) and _is("completed")(step)),
    "human is answered": _answered("human"),
    "several people agree": _step(lambda step: ", " in (step["reported"].get("answered_by") or "")),
    "list of handlers": _items(lambda step: "handler" in step and _is("completed")(step)),
    "list of nested runs": _items(lambda step: "workflow" in step and _is("completed")(step)),
    "empty list": _items(lambda step: step["reported"]["items"]["total"] == 0),
    "long list in chunks": _happened(IN_CHUNKS, status="completed"),
    "places pass from chunk to chunk": _happened(f"signal {CHUNK_THINNED}"),
    "chunk": lambda history: history.is_chunk and history.status == "completed",
    "run inside another": lambda history: "~" in history.request["run_id"] and not history.is_chunk,
    "large outputs are stored": _happened(f"activity {STORE_VALUE}"),
    "large outputs are read": _happened(f"activity {LOAD_VALUES}"),
    "cached output": _step(lambda step: step["reported"].get("cached")),
    "layers": lambda history: history.definition.get("limits", {}).get("dispatch") == "layers",
}
"""Every kind of step and of list, going well."""

RULES: Mapping[str, Claim] = {
    **{f"rule {rule} is met": _rule(rule, runs=True) for rule in TriggerRule},
    **{f"rule {rule} is not met": _rule(rule, runs=False) for rule in TriggerRule if rule is not TriggerRule.ALL_DONE},
    **{f"skipped for {reason}": _step(_is("skipped", reason=reason)) for reason in SkipReason},
}

WAITS: Mapping[str, Claim] = {
    f"no answer {name}: {then}": _unanswered(kind, waits_for, then)
    for name, kind, waits_for in (
        ("signal", "wait", WaitFor.SIGNAL),
        ("webhook", "wait", WaitFor.WEBHOOK),
        ("human", "human", None),
    )
    for then in (*Then, "branch")
}

FAILURES: Mapping[str, Claim] = {
    **{f"{mode} with a failed step": _with("on_failure", mode, FAILED) for mode in OnFailure},
    **{f"parked step gets {kind}": _happened(f"update {RESOLVE} {kind}") for kind in ResolutionKind},
    "error that is not retried": _step(_is("failed", attempts=1)),
    "retries that end well": _step(lambda step: _is("completed")(step) and step["reported"].get("attempts", 0) > 1),
    "retries that end": _step(lambda step: _is("failed")(step) and step["reported"].get("attempts", 0) > 1),
    "start-to-close timeout": _error("one attempt took longer"),
    "schedule-to-close timeout": _error("all attempts together took longer"),
    "heartbeat timeout": _error("no heartbeat"),
    "template that cannot be resolved": _step(
        lambda step: (step["reported"].get("error") or {}).get("type") == "TemplateError"
    ),
    "optional step fails": _both(_step(lambda s: s["optional"] and _is("failed")(s)), _happened(status="completed")),
    "outputs that cannot be resolved": _both(
        _happened(status="failed"), lambda history: bool(history.definition["outputs"])
    ),
    "nested run fails": _step(lambda step: "workflow" in step and _is("failed")(step)),
    "items fail, the rest runs": _items(_is("failed"), _list(on_item_error="collect")),
    "items fail, the rest is stopped": _items(_is("failed"), _list(on_item_error="fail_fast")),
    "so many items may fail": _items(lambda step: _is("completed")(step) and step["reported"]["items"]["failed"] > 0),
    "items of a long list fail": _happened(IN_CHUNKS, f"activity {RECORD_DEAD_LETTER}"),
    "failed items of a long list run again": _happened(IN_CHUNKS, f"update {RESOLVE} {ResolutionKind.RETRY}"),
    "failure is recorded in the inbox": _happened(f"activity {RECORD_DEAD_LETTER}"),
    "undone after a failure": _both(UNDONE, _happened(status="failed")),
    "undone after an abort": _both(UNDONE, _happened(status="aborted")),
    "undoing fails": STAYS,
    "deadline passes": _happened(f"activity {RECORD_OVERDUE}"),
    "question is escalated": _happened(f"activity {ESCALATE_REVIEW}"),
    "too few people agree": _both(_happened(f"activity {RECORD_DECISION}"), _unanswered("human", None, Then.FAIL)),
    "retry goes on from a state": lambda history: history.request.get("resumed") is not None,
    "retry goes on from a state too large to travel": _happened(f"activity {LOAD_STATE}"),
}

STOPS: Mapping[str, Claim] = {
    **{f"run ends {status}": _happened(status=status) for status in ("completed", "failed", "aborted", "cancelled")},
    **{f"update {name}": _happened(f"update {name}") for name in (PAUSE, RESUME, ABORT, ANSWER, RESOLVE)},
    **{f"signal {name}": _happened(f"signal {name}") for name in (PAUSE, RESUME, ABORT, ANSWER)},
    "abort while a step runs": _both(_happened("ACTIVITY_TASK_CANCELED", status="aborted")),
    "abort while people are asked": _happened(f"update {ABORT}", f"activity {CLOSE_REVIEW}", status="aborted"),
    "abort while a step is parked": _both(_with("on_failure", "park", FAILED), _happened(f"update {ABORT}")),
    "abort while paused": _happened(f"update {PAUSE}", f"update {ABORT}", status="aborted"),
    "abort flows into nested runs": _happened("CHILD_WORKFLOW_EXECUTION_CANCELED", status="aborted"),
    "nested run is cancelled from outside": _both(
        _happened("WORKFLOW_EXECUTION_CANCEL_REQUESTED"),
        lambda history: "~" in history.request["run_id"] and not history.is_chunk,
    ),
    "abort stops chunks": _happened(IN_CHUNKS, f"update {ABORT}", status="aborted"),
    "chunk is stopped": lambda history: history.is_chunk and "WORKFLOW_EXECUTION_CANCEL_REQUESTED" in history.happened,
    "chunk is paused": lambda history: history.is_chunk and history.happened >= {f"signal {PAUSE}", f"signal {RESUME}"},
    "failure stops what runs": _both(_with("on_failure", "fail_fast", FAILED), _happened("ACTIVITY_TASK_CANCELED")),
}

SHOWN: Mapping[str, Claim] = {**KINDS, **RULES, **WAITS, **FAILURES, **STOPS}
"""What the recorded histories have to show, each by one of them at least."""


def showing(mode: str) -> list[str]:
    """Return the names of the histories that show it."""
    return [history.name for history in recorded() if SHOWN[mode](history)]
