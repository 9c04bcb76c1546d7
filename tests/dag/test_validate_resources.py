"""Resource tags, priorities and fairness keys: problems are reported with their places."""

import pytest

from docrail.dag.validation.validate import check_definition
from docrail.dag.values.problems import render
from tests.dag.catalogue import CATALOGUE, EXTRACT

TAGS = {"gemini_api": 10.0, "database": 50.0}
TAGGED = EXTRACT + "    resource_tag: gemini_api\n"
KEYED = "inputs: {customer: {type: string}}\npriority: {key: 2, fairness_key: '%s'}\n" + EXTRACT


def problems_of(text: str, tags: dict[str, float] | None = TAGS) -> list[str]:
    definition, problems = check_definition(text, CATALOGUE, tags)
    assert (definition is None) == bool(problems)
    return [render(problem, "it") for problem in problems]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TAGGED, id="tag"),
        pytest.param("defaults: {resource_tag: database}\n" + EXTRACT, id="tag-for-all-steps"),
        pytest.param(
            "defaults: {resource_tag: database}\n" + EXTRACT + "    resource_tag: null\n", id="step-without-its-default"
        ),
        pytest.param(EXTRACT + "    priority: 1\n", id="step-priority"),
        pytest.param("priority: {key: 5}\n" + EXTRACT, id="run-priority"),
        pytest.param(KEYED % "{{ inputs.customer }}", id="fairness-key-of-an-input"),
        pytest.param(KEYED % "night batch", id="fairness-key-as-a-text"),
    ],
)
def test_valid_resources_are_accepted(text: str) -> None:
    assert problems_of(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            TAGGED.replace("gemini_api", "gemini-api"),
            "it:6:19: error bad-id: 'gemini-api' cannot be an id: it must begin with a letter and contain only "
            "letters, digits and _ (did you mean 'gemini_api'?)",
            id="tag-that-is-no-id",
        ),
        pytest.param(
            TAGGED.replace("gemini_api", "gemini_apy"),
            "it:6:19: error unknown-resource-tag: step 'extract': there is no resource tag 'gemini_apy' (did you "
            "mean 'gemini_api'?)",
            id="misspelt-tag",
        ),
        pytest.param(
            TAGGED.replace("gemini_api", "printer"),
            "it:6:19: error unknown-resource-tag: step 'extract': there is no resource tag 'printer'; there are "
            "database, gemini_api",
            id="unknown-tag",
        ),
        pytest.param(
            "defaults: {resource_tag: databse}\n" + EXTRACT,
            "it:1:26: error unknown-resource-tag: 'defaults': there is no resource tag 'databse' (did you mean "
            "'database'?)",
            id="unknown-tag-for-all-steps",
        ),
        pytest.param(
            EXTRACT + "    priority: 0\n",
            "it:6:15: error wrong-value: 'priority' must be at least 1, found the number 0",
            id="step-priority-before-the-first",
        ),
        pytest.param(
            "priority: {key: urgent}\n" + EXTRACT,
            "it:1:17: error wrong-type: 'key' must be a whole number, found the text 'urgent'",
            id="run-priority-as-a-word",
        ),
        pytest.param(
            "priority: {key: 1, fairnes_key: a}\n" + EXTRACT,
            "it:1:20: error unknown-field: 'priority' has no field 'fairnes_key' (did you mean 'fairness_key'?)",
            id="misspelt-fairness-key",
        ),
        pytest.param(
            KEYED % "{{ inputs.custmer }}",
            "it:2:34: error unknown-input: there is no input 'custmer' (did you mean 'customer'?)",
            id="fairness-key-of-an-unknown-input",
        ),
        pytest.param(
            KEYED % "{{ extract.total }}",
            "it:2:34: error unknown-name: the fairness key is evaluated before the run starts: it can read only "
            "'inputs', not 'extract'",
            id="fairness-key-of-a-step",
        ),
        pytest.param(
            KEYED % "{{ open(inputs.customer) }}",
            "it:2:34: error bad-expression: calls are not allowed; use a filter, as in `items | length`",
            id="fairness-key-that-is-no-expression",
        ),
    ],
)
def test_invalid_resources_are_reported_with_their_place(text: str, expected: str) -> None:
    assert problems_of(text) == [expected]


def test_without_any_tag_that_is_said() -> None:
    assert problems_of(TAGGED, {}) == [
        "it:6:19: error unknown-resource-tag: step 'extract': there is no resource tag 'gemini_api'; no tag has a limit"
    ]


def test_unknown_tags_are_not_checked() -> None:
    assert problems_of(TAGGED, None) == []
