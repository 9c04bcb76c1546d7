"""Lists of commands without edges: a chain of steps in which `previous` is the step before."""

import pytest

from docrail.dag.language.definition import Definition, to_json
from docrail.dag.validation.validate import check_definition, validate
from docrail.dag.values.json_values import Json
from tests.dag.catalogue import CATALOGUE

DEMO = """\
- handler: anything
  params: {url: "https://example.org/review", payload: {reply_to: {$path: [run, callbacks, wait]}}}
- wait: {for: webhook}
- handler: anything
  params: {body: {$path: [previous]}, take_params: [decision]}
- condition: previous.decision != "process"
  abort: {reason: "the customer said {{ previous.decision }}"}
- handler: extract_invoice
  params: {document_id: {$path: [document, id]}}
- handler: anything
  params: {url: "https://example.org/pay", payload: {amount: {$path: [previous, total]}}}
"""


def read(text: str) -> tuple[Definition, list[str]]:
    definition, problems = check_definition(text, CATALOGUE)
    assert definition is not None, problems
    return definition, [problem.code for problem in problems]


def edges(definition: Definition) -> dict[str, list[str]]:
    return {step.id: list(step.depends_on) for step in definition.steps}


def test_the_demos_commands_are_a_chain() -> None:
    definition, problems = read(DEMO)
    assert definition.id == "commands"
    assert problems == ["no-id"]
    assert edges(definition) == {
        "anything": [],
        "wait": ["anything"],
        "anything_2": ["wait"],
        "abort": ["anything_2"],
        "extract_invoice": ["anything_2", "abort"],  # the abort may be skipped
        "anything_3": ["extract_invoice"],
    }


def test_previous_becomes_the_id_of_the_step_before_and_passes_over_an_abort() -> None:
    steps = {step.id: step for step in read(DEMO)[0].steps}
    assert steps["anything_2"].config["body"] == {"$path": ["wait"]}
    assert steps["abort"].condition == 'anything_2.decision != "process"'
    assert steps["abort"].abort is not None
    assert steps["abort"].abort.reason == "the customer said {{ anything_2.decision }}"
    assert steps["anything_3"].config["payload"] == {"amount": {"$path": ["extract_invoice", "total"]}}


def test_a_chain_is_stored_as_any_other_definition() -> None:
    stored = to_json(read(DEMO)[0])
    again, problems = validate(stored, None, CATALOGUE)
    assert problems == []
    assert again is not None
    assert to_json(again) == stored


def test_steps_under_a_name_are_a_chain_if_something_reads_previous() -> None:
    text = (
        "id: demo\nsteps:\n  - {id: a, handler: anything}\n  - {handler: anything, config: {x: '{{ previous.x }}'}}\n"
    )
    definition, problems = read(text + "outputs: {y: '{{ previous.y }}'}\n")
    assert problems == []
    assert edges(definition) == {"a": [], "anything": ["a"]}
    assert definition.outputs == {"y": "{{ anything.y }}"}


def test_steps_under_a_name_that_read_nothing_of_each_other_start_together() -> None:
    definition, _ = read("id: demo\nsteps: [{id: a, handler: anything}, {id: b, handler: anything}]\n")
    assert edges(definition) == {"a": [], "b": []}


def test_a_bare_list_with_edges_is_no_chain() -> None:
    definition, _ = read("- {id: a, handler: anything}\n- {id: b, handler: anything, dependencies: []}\n")
    assert edges(definition) == {"a": [], "b": []}


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("{{ previous }}", "{{ a }}"),
        ("previous {{ previous.previous + x.previous }}", "previous {{ a.previous + x.previous }}"),
        ("{{ previous[\"previous\"] }} {{ previous['previous'] }}", "{{ a[\"previous\"] }} {{ a['previous'] }}"),
        ("{{ [previous, {'k': previous}] }}", "{{ [a, {'k': a}] }}"),
        ("{{ previously or my_previous }}", "{{ previously or my_previous }}"),
        ({"$path": ["previous", "previous"]}, {"$path": ["a", "previous"]}),
        ({"$path": ["document", "previous"]}, {"$path": ["document", "previous"]}),
        ([{"x": ["{{ previous }}"]}, 3], [{"x": ["{{ a }}"]}, 3]),
    ],
)
def test_only_the_name_is_replaced(written: Json, stored: Json) -> None:
    steps = [
        {"id": "a", "handler": "anything"},
        {"id": "x", "handler": "anything", "condition": "previous.go", "config": {"v": written}},
    ]
    definition, _ = validate({"id": "demo", "inputs": {}, "steps": steps}, None, CATALOGUE)
    if definition is not None:  # some of them read what is not there
        assert definition.steps[1].config == {"v": stored}
        assert definition.steps[1].condition == "a.go"


def test_previous_is_read_wherever_an_expression_may_stand() -> None:
    steps: list[Json] = [
        {"id": "a", "handler": "anything"},
        {"id": "b", "wait": {"for": "timer", "seconds": "{{ previous.s }}"}},
        {"id": "c", "human": {"title": "{{ previous }}", "show": {"x": "{{ previous }}"}}},
        {"id": "d", "workflow": {"id": "o", "inputs": {"x": "{{ previous.x }}"}}},
        {"id": "e", "switch": [{"when": "previous.x", "branch": "y"}, {"else": "n"}]},
        {"id": "f", "handler": "anything", "for_each": {"items": "{{ previous.branch }}", "key": "[item, previous]"}},
    ]
    definition, problems = validate({"id": "demo", "steps": steps}, None, CATALOGUE)
    assert problems == []
    assert definition is not None
    assert "previous" not in definition.model_dump_json()


def test_a_step_after_steps_that_may_be_skipped_waits_back_to_one_that_runs() -> None:
    text = "- {id: a, handler: anything}\n" + "".join(
        f'- {{id: {name}, handler: anything, condition: "1 > 2"}}\n' for name in "bc"
    )
    assert edges(read(text + "- {id: d, handler: anything}\n")[0]) == {
        "a": [],
        "b": ["a"],
        "c": ["a", "b"],
        "d": ["a", "b", "c"],
    }


def test_a_first_step_that_may_be_skipped_has_a_step_before_it() -> None:
    definition, _ = read('- {id: closed, condition: "1 > 2", abort: closed}\n- {id: start, handler: anything}\n')
    assert edges(definition) == {"closed": ["start_2"], "start": ["closed", "start_2"], "start_2": []}


def test_many_steps_in_a_row_that_may_be_skipped_are_refused() -> None:
    steps = [{"handler": "anything", "condition": "1 > 2"} for _ in range(60)]
    problems = validate(steps, None, CATALOGUE)[1]
    assert [problem.code for problem in problems if problem.code != "missing-field"] == ["no-id", "too-many-conditions"]


def test_ids_are_made_of_what_a_step_does() -> None:
    steps = [
        {"handler": "ParseHTTPRequest"},
        {"handler": "a b-c"},
        {"handler": "item"},
        {"workflow": {"id": "Payment"}},
        {"human": {}},
        {"human": {}},
        {"handler": "x" * 70},
        {"id": "human_2", "switch": [{"else": "x"}]},
        {"handler": 3},
    ]
    problems = validate(steps, None, {})[1]
    named = [
        problem.message.partition("'")[2].partition("'")[0] for problem in problems if "there is no" in problem.message
    ]
    assert named == ["parse_http_request", "a_b_c", "item_2", "x" * 58]


def test_a_long_chain_is_linked_in_linear_time() -> None:
    steps = [{"handler": "anything", "config": {"x": "{{ previous.x }}" if number else 0}} for number in range(2_000)]
    definition, problems = validate(steps, None, CATALOGUE)
    assert [problem.code for problem in problems] == ["no-id"]
    assert definition is not None
    assert definition.steps[-1].depends_on == ("anything_1999",)
