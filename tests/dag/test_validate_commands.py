"""Commands by their class names: each is a step."""

import json

import pytest

from docrail.activities.registry import load_catalogue
from docrail.dag.language.definition import Definition
from docrail.dag.validation.spellings.commands import COMMANDS
from docrail.dag.validation.validate import check_definition
from docrail.dag.values.json_values import Json

REVIEW = {"workflow_id": ["workflow", "id"], "filename": ["document", "filename"], "words": ["a", "b"]}
CONTENT = {"amount": ["document", "parsed_content", "amount"], "iban": ["document", "parsed_content", "iban"]}
DECISION = {"if": [["previous", "decision"], "equals", "process"], "then": "continue", "else": "abort"}
DEMO: list[dict[str, Json]] = [
    {"module": "SendWebhookEvent", "params": {"url": "https://client.example/review", "payload": REVIEW}},
    {"module": "WaitForResponse", "params": {}},
    {"module": "ParseHTTPRequest", "params": {"take_params": ["decision"]}},
    {"module": "EvaluateIfThenElse", "params": DECISION},
    {"module": "ParseDocument", "params": {}},
    {"module": "SendWebhookEvent", "params": {"url": "https://client.example/pay", "payload": CONTENT}},
]
OURS: dict[str, dict[str, Json]] = {
    "send_webhook_event": {
        "handler": "send_webhook",
        "config": {
            "url": "https://client.example/review",
            "payload": {
                "workflow_id": {"$path": ["workflow", "id"]},
                "filename": {"$path": ["document", "file_name"]},
                "words": ["a", "b"],
            },
        },
    },
    "wait_for_response": {"depends_on": ["send_webhook_event"], "wait": {"for": "signal"}},
    "parse_http_request": {
        "depends_on": ["wait_for_response"],
        "handler": "parse_http_request",
        "config": {"body": {"$path": ["wait_for_response"]}, "take_params": ["decision"]},
    },
    "evaluate_if_then_else": {
        "depends_on": ["parse_http_request"],
        "condition": 'not (parse_http_request.decision == "process")',
        "abort": {"reason": 'previous.decision == "process" does not hold'},
    },
    "parse_document": {
        "depends_on": ["parse_http_request", "evaluate_if_then_else"],
        "handler": "extract_invoice",
        "config": {"document_id": {"$path": ["document", "document_id"]}},
    },
    "send_webhook_event_2": {
        "depends_on": ["parse_document"],
        "handler": "send_webhook",
        "config": {
            "url": "https://client.example/pay",
            "payload": {
                "amount": {"$path": ["parse_document", "total"]},
                "iban": {"$path": ["parse_document", "iban"]},
            },
        },
    },
}


def read(document: Json) -> tuple[Definition | None, list[str]]:
    definition, problems = check_definition(json.dumps(document), load_catalogue())
    return definition, [f"{problem.path}: {problem.message}" for problem in problems if problem.severity == "error"]


def steps_of(document: Json) -> dict[str, dict[str, Json]]:
    definition, problems = read(document)
    assert definition is not None, problems
    dumped = [step.model_dump(mode="json", exclude_defaults=True) for step in definition.steps]
    return {step.pop("id"): step for step in dumped}


def test_the_demo_is_a_chain_of_our_steps() -> None:
    assert steps_of(DEMO) == OURS


def test_the_stored_names_of_the_modules_mean_the_same() -> None:
    stored = [{**step, "module": f"Elixir.Demo.Commands.{step['module']}"} for step in DEMO]
    assert steps_of(stored) == steps_of(DEMO)
    assert {step["module"] for step in DEMO} == set(COMMANDS)


def test_a_wait_takes_its_parameters() -> None:
    params = {"for": "webhook", "timeout_seconds": 60, "on_timeout": "abort"}
    steps = steps_of([{"handler": "noop"}, {"handler": "WaitForResponse", "params": params}])
    assert steps["wait_for_response"]["wait"] == {
        "for": "webhook",
        "timeout_seconds": 60.0,
        "on_timeout": {"then": "abort"},
    }


@pytest.mark.parametrize(
    ("params", "condition", "reason"),
    [
        ({"if": [["previous", "n"], ":equals", 1], "then": ":abort"}, "transform.n == 1", "previous.n == 1 holds"),
        (
            {"if": [["previous", "n"], "greater_than_or_equal_to", 2], "else": "abort"},
            "not (transform.n >= 2)",
            "previous.n >= 2 does not hold",
        ),
        (
            {"if": 'previous["n"] in [1]', "else": "abort"},
            'not (transform["n"] in [1])',
            'previous["n"] in [1] does not hold',
        ),
        (
            {"if": [["previous", "n"], "equals", None], "then": "abort"},
            "transform.n == none",
            "previous.n == none holds",
        ),
    ],
)
def test_a_decision_between_going_on_and_aborting_is_a_conditional_abort(
    params: Json, condition: str, reason: str
) -> None:
    look = {"handler": "transform", "config": {"n": 1}}
    steps = steps_of([look, {"handler": "EvaluateIfThenElse", "params": params}])
    decision = steps["evaluate_if_then_else"]
    assert (decision["condition"], decision["abort"]) == (condition, {"reason": reason})


def test_a_decision_between_branches_is_a_switch() -> None:
    params = {"if": "look.n == 1", "then": "small", "else": "large"}
    route = {"id": "route", "handler": "EvaluateIfThenElse", "depends_on": ["look"], "config": params}
    look = {"id": "look", "handler": "transform", "config": {"n": 1}}
    small = {"id": "small", "handler": "noop", "depends_on": ["route.small"]}
    steps = steps_of({"id": "routed", "steps": [look, route, small]})
    assert steps["route"]["switch"] == [{"when": "look.n == 1", "branch": "small"}, {"else": "large"}]


def test_problems_are_reported_where_they_were_written() -> None:
    wait = {"handler": "WaitForResponse", "params": {"timeout": 5}}
    _, problems = read([{"handler": "noop"}, wait, {"handler": "EvaluateIfThenElse"}])
    assert [problem.partition(": ")[0] for problem in problems] == [
        "[1].params.on_timeout",
        "[1].params.timeout",
        "[2].handler",
    ]
    assert problems[2].endswith("written `switch: [{when: EXPRESSION, branch: NAME}, {else: NAME}]`")
