"""The whole validation: everything at once, defaults resolved, one identity, and the limits."""

import pytest

from docrail.dag.language.definition import Definition
from docrail.dag.language.source.source import read_source
from docrail.dag.validation.validate import check_definition, validate
from docrail.dag.values.json_values import Json, canonical, digest
from docrail.dag.values.problems import Problem, render
from tests.dag.catalogue import CATALOGUE, EXTRACT, SAVE, change, problems_of


def accepted(text: str) -> Definition:
    definition, problems = check_definition(text, CATALOGUE)
    assert definition is not None, problems
    return definition


def many_steps(count: int) -> dict[str, Json]:
    return {"id": "wide", "steps": [{"id": f"s{number}", "handler": "anything"} for number in range(count)]}


def codes(value: Json) -> list[str]:
    return [problem.code for problem in validate(value, None, CATALOGUE)[1]]


def test_five_different_mistakes_give_five_problems_with_places() -> None:
    text = """\
id: invoice
steps:
  - id: extract
    handler: extract_invoise
    config: {document_id: doc_1}
  - id: save_json
    handler: save_json
    depends_on: [extrakt]
    timeout_seconds: soon
    config: {invoise: "{{ extract.invoice_ref }}"}
outputs: {review: "{{ create_review.id }}"}
"""
    assert problems_of(text) == [
        (
            "4:14 unknown-handler steps[0].handler",
            "step 'extract': there is no handler 'extract_invoise'",
            "extract_invoice",
        ),
        (
            "8:18 unknown-step steps[1].depends_on[0]",
            "step 'save_json' depends on 'extrakt', which is not a step",
            "extract",
        ),
        ("9:22 wrong-type steps[1].timeout_seconds", "'timeout_seconds' must be a number, found the text 'soon'"),
        (
            "10:14 unknown-field steps[1].config.invoise",
            "the config of handler 'save_json' has no field 'invoise'",
            "invoice",
        ),
        ("11:19 unknown-name outputs.review", "there is no step 'create_review' to read from"),
    ]


def test_a_right_definition_has_no_problems() -> None:
    assert problems_of(EXTRACT + SAVE) == []


def test_every_default_is_resolved() -> None:
    step = accepted(EXTRACT).model_dump(mode="json")["steps"][0]
    assert step["max_retries"] == 3
    assert step["retry_config"]["initial_delay"] == 10.0
    assert step["depends_on"] == []


def test_defaults_reach_every_step_that_does_not_say_otherwise() -> None:
    text = "defaults: {max_retries: 7, retry_config: {initial_delay: 1, jitter: 0}}\n" + EXTRACT
    own = SAVE + "    max_retries: 0\n    retry_config: {jitter: 0.25}\n"
    extract, save = accepted(text + own).steps
    assert (extract.max_retries, extract.retry_config.initial_delay, extract.retry_config.jitter) == (7, 1, 0)
    assert (save.max_retries, save.retry_config.initial_delay, save.retry_config.jitter) == (0, 1, 0.25)


def test_the_seeds_words_mean_the_same_definition() -> None:
    text = EXTRACT + SAVE
    aliased = text.replace(" id: ", " node_id: ").replace("depends_on", "dependencies").replace("config", "params")
    assert digest(accepted(aliased).model_dump(mode="json")) == digest(accepted(text).model_dump(mode="json"))


@pytest.mark.parametrize(
    "text", ["inputs: {a: {type: string}}\n" + EXTRACT, "defaults: {max_retries: 1}\n" + EXTRACT + SAVE]
)
def test_a_definition_dumped_and_read_again_is_the_same(text: str) -> None:
    dumped = accepted(text).model_dump(mode="json")
    again, problems = validate(dumped, None, CATALOGUE)
    assert problems == []
    assert again is not None
    assert canonical(again.model_dump(mode="json")) == canonical(dumped)


def test_yaml_and_json_say_the_same() -> None:
    definition = accepted(EXTRACT + SAVE)
    assert accepted(definition.model_dump_json()) == definition


def test_a_misspelled_dependency_does_not_make_its_references_wrong() -> None:
    assert [where for where, *_ in problems_of(change("[extract]", "[extrct]"))] == [
        "8:18 unknown-step steps[1].depends_on[0]"
    ]


def test_steps_under_a_misspelled_word_are_still_known() -> None:
    text = change("steps:", "stps:").replace("depends_on", "dependencies") + 'outputs: {a: "{{ extract.total }}"}\n'
    assert [where for where, *_ in problems_of(text)] == ["2:1 unknown-field stps"]


def test_a_field_given_twice_refuses_a_definition_and_hides_nothing() -> None:
    assert [where for where, *_ in problems_of(EXTRACT + "title: a\ntitle: b\n")] == ["7:1 duplicate-key title"]
    assert [where for where, *_ in problems_of(EXTRACT + "title: a\ntitle: 3\n")] == [
        "7:1 duplicate-key title",
        "7:8 wrong-type title",
    ]


def test_a_warning_does_not_refuse_a_definition() -> None:
    text = "inputs: {n: {type: integer, required: true, default: 3}}\n" + EXTRACT
    assert [where for where, *_ in problems_of(text)] == ["1:45 warning unused-default inputs.n.default"]
    assert accepted(text).inputs["n"].default == 3


def test_without_places_problems_have_paths_only() -> None:
    _, problems = validate({"id": "a", "steps": [{"id": "b", "handler": "nothing_like_it"}]}, None, {})
    message = "step 'b': there is no handler 'nothing_like_it'"
    assert problems == [Problem("unknown-handler", message, "steps[0].handler")]


def test_without_places_problems_stand_in_the_order_of_their_paths() -> None:
    steps = [{"id": "s2", "handler": "qqqq"}, {"id": "s2"}]
    _, problems = validate({"id": "a", "steps": steps}, None, CATALOGUE)
    assert [problem.path for problem in problems] == ["steps[0].handler", "steps[1]", "steps[1].id"]


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        2**63,
        "a\0b",
        "\ud800",
        {1: "a"},
        {"a\0": 1},
        (1, 2),
        b"bytes",
    ],
)
def test_invalid_json_is_refused(value: Json) -> None:
    step = {"id": "a", "handler": "anything", "config": {"x": value}}
    _, problems = validate({"id": "a", "steps": [step]}, None, CATALOGUE)
    assert [(problem.code, problem.path) for problem in problems] == [("not-json", "steps[0].config.x")]


def test_nesting_has_a_limit() -> None:
    deep: Json = []
    for _ in range(10_000):
        deep = [deep]
    assert codes({"id": "a", "steps": [{"id": "a", "handler": "anything", "config": {"x": deep}}]}) == ["not-json"]


def test_five_thousand_steps_are_not_too_many_but_their_bytes_are() -> None:
    assert codes(many_steps(5_000)) == ["too-large"]
    assert codes(many_steps(5_001)) == ["too-many-steps"]
    assert codes(many_steps(3_000)) == []


def test_the_number_of_expressions_is_limited() -> None:
    step = {"id": "a", "handler": "anything", "config": {"text": "{{ inputs }}" * 20_001}}
    assert codes({"id": "a", "steps": [step]}) == ["too-many-expressions"]


def test_predicted_history_events_are_limited() -> None:
    assert codes(many_steps(6_665)) == ["too-many-steps"]
    assert codes(many_steps(6_666)) == ["too-many-steps", "too-many-events"]


def test_a_long_chain_with_a_cycle_at_its_end_is_checked_without_recursion() -> None:
    value = many_steps(3_000)
    for number, step in enumerate(value["steps"]):
        step["depends_on"] = [f"s{(number - 1) % 3_000}"]
    assert codes(value) == ["cycle"]


def test_beyond_a_hundred_problems_only_their_number_is_reported() -> None:
    value = many_steps(150)
    for step in value["steps"]:
        step["handler"] = "qqqq"
    _, problems = validate(value, None, CATALOGUE)
    assert len(problems) == 101
    assert problems[-1].message == "50 more problems are not shown"


def test_an_error_is_never_hidden_by_warnings() -> None:
    inputs = {f"n{number}": {"type": "integer", "required": True, "default": 3} for number in range(150)}
    _, problems = validate({"id": "a", "inputs": inputs, "steps": []}, None, CATALOGUE)
    assert [problem.code for problem in problems if problem.severity == "error"] == ["wrong-value"]


def test_a_problem_reads_as_a_compiler_prints() -> None:
    source = read_source("id: invoice\nsteps: []\n")
    _, [problem] = validate(source.value, source.places, CATALOGUE)
    assert (
        render(problem) == "definition:2:8: error wrong-value: 'steps' must have at least 1 entry, found an empty list"
    )
