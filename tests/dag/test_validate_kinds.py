"""Kinds of steps that are right: accepted without a word, stored as they are, with defaults for handlers only."""

import pytest

from docrail.dag.engine.plan import compile_plan
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.step_kinds import MAX_ITEMS, StepKind
from docrail.dag.validation.rules.kinds import NOUNS, REPEATABLE
from docrail.dag.validation.validate import check_definition, validate
from docrail.dag.values.json_values import Json, canonical
from tests.dag.catalogue import CATALOGUE

APPROVAL = """\
dsl: 1
id: customer_approval
inputs: {document_id: {type: string, required: true}, amounts: {type: array}}
defaults: {max_retries: 7, timeout_seconds: 60}
steps:
  - id: ask_customer
    handler: anything
    config: {body: {workflow_id: {$path: [workflow, id]}, reply_to: "{{ run.callbacks.customer_reply }}"}}
  - id: customer_reply
    depends_on: [ask_customer]
    wait:
      for: webhook
      accept: {type: object, required: [decision], properties: {decision: {enum: [process, reject]}}}
      timeout_seconds: 259200
      on_timeout: {branch: late}
  - {id: remind, depends_on: [customer_reply.late], handler: anything}
  - {id: pause, wait: {for: timer, seconds: "{{ inputs.amounts | length * 60 }}"}}
  - id: rejected
    depends_on: [customer_reply]
    condition: customer_reply.decision != "process"
    abort: "customer said {{ customer_reply.decision }}"
  - id: parse
    handler: extract_invoice
    depends_on: [customer_reply, rejected]
    config: {document_id: "{{ inputs.document_id }}"}
  - id: route
    depends_on: [parse]
    switch:
      - {when: parse.total >= 1000, branch: large}
      - {when: parse.total < 0, branch: large}
      - {else: small}
  - id: approve
    depends_on: [route.large]
    human:
      title: "Pay {{ parse.total }}?"
      show: {lines: "{{ parse.lines }}"}
      form: {type: object, properties: {pay: {type: boolean}}, additionalProperties: false}
      timeout_seconds: 3600
      on_timeout: {escalate_to: managers, then: continue}
  - id: pay
    depends_on: [route.small, approve]
    condition: route.branch == "small" or (approve.timed_out is not defined and approve.pay)
    workflow: {id: payment, version: 3, inputs: {total: 1}}
  - id: pay_parts
    depends_on: [approve]
    condition: route.branch == "large" and (approve.timed_out is defined or approve.pay)
    workflow: {id: payment, inputs: {total: "{{ item }}", number: "{{ index + 1 }}"}}
    for_each: {items: "{{ inputs.amounts }}", key: '"{{ part }}" if item is none else item'}
  - id: pages
    depends_on: [parse]
    handler: extract_invoice
    for_each: {items: [a, b], key: item, max_concurrency: 2, on_item_error: fail_fast, max_failures: 1}
    config: {document_id: "{{ item }}"}
outputs:
  paid: "{{ pay_parts.completed }}"
  first: "{{ pages.items[0].output.total }}"
  all: "{{ pages.items | map(attribute='output') | list }}"
  why: "{{ pages.items[1].error.message }}"
"""


def accepted(text: str) -> Definition:
    definition, problems = check_definition(text, CATALOGUE)
    assert definition is not None
    assert problems == []
    return definition


def test_a_definition_of_every_kind_is_accepted_without_a_word() -> None:
    assert {step.kind for step in accepted(APPROVAL).steps} == set(StepKind)


def test_every_kind_has_a_name_in_messages() -> None:
    assert set(NOUNS) == set(StepKind)
    assert {"handler", "workflow"} == set(REPEATABLE)


def test_defaults_reach_handlers_only() -> None:
    stored = {step["id"]: step for step in to_json(accepted(APPROVAL))["steps"]}
    assert stored["parse"]["max_retries"] == stored["pages"]["max_retries"] == 7
    assert all("max_retries" not in stored[name] for name in ("customer_reply", "approve", "pay", "route", "rejected"))
    assert stored["customer_reply"]["wait"]["timeout_seconds"] == 259_200


def test_a_stored_definition_reads_back_the_same() -> None:
    stored = to_json(accepted(APPROVAL))
    again, problems = validate(stored, None, CATALOGUE)
    assert problems == []
    assert again is not None
    assert canonical(to_json(again)) == canonical(stored)


def test_edges_to_branches_reach_the_plan() -> None:
    plan = compile_plan(accepted(APPROVAL))
    pay, route, approve = plan.step("pay"), plan.step("route"), plan.step("approve")
    assert pay.parents == (route.index, approve.index)
    assert pay.branches == {route.index: ("small",)}
    assert approve.branches == {route.index: ("large",)}


@pytest.mark.parametrize(
    ("step", "events"),
    [
        ({"handler": "anything"}, 6),
        ({"handler": "anything", "compensate": {"handler": "anything"}}, 12),
        ({"wait": {"for": "signal"}}, 8),
        ({"human": {}}, 28),
        ({"workflow": {"id": "other"}}, 9),
    ],
)
def test_predicted_events_depend_on_the_kind(step: Json, events: int) -> None:
    fitting = (40_000 - 10) // events
    if fitting >= 5_000:
        fitting = 4_999  # there are no more steps than that
        step = {**step, "for_each": {"items": [1, 2]}}
        fitting = (40_000 - 10) // (2 * events)
    steps = [{"id": f"s{number}", **step} for number in range(fitting + 1)]
    assert [problem.code for problem in validate({"id": "a", "steps": steps[:-1]}, None, CATALOGUE)[1]] == []
    assert [problem.code for problem in validate({"id": "a", "steps": steps}, None, CATALOGUE)[1]] == [
        "too-many-events"
    ]


def test_a_switch_and_an_abort_write_no_events() -> None:
    steps = [{"id": f"s{number}", "switch": [{"else": "on"}]} for number in range(2_500)]
    steps += [{"id": f"a{number}", "condition": "workflow.version > 2", "abort": "x"} for number in range(2_500)]
    assert validate({"id": "a", "steps": steps}, None, CATALOGUE)[1] == []


def test_a_written_list_may_have_as_many_items_as_a_run_takes() -> None:
    step: Json = {"id": "a", "handler": "anything", "for_each": {"items": [0] * MAX_ITEMS}}
    assert validate({"id": "a", "steps": [step]}, None, CATALOGUE)[1] == []
    step["for_each"]["items"].append(0)
    problems = validate({"id": "a", "steps": [step]}, None, CATALOGUE)[1]
    assert [(problem.code, problem.path) for problem in problems] == [("too-many-items", "steps[0].for_each.items")]
