"""Fields: unknown, missing, mistyped, out of range, in the words of the author."""

import pytest

from tests.dag.catalogue import EXTRACT, SAVE, Problems, change, problems_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "id: invoice\n",
            [
                ("1:1 missing-field steps", "the definition needs the field 'steps'"),
            ],
            id="no-steps",
        ),
        pytest.param(
            "id: invoice\nsteps: []\n",
            [
                ("2:8 wrong-value steps", "'steps' must have at least 1 entry, found an empty list"),
            ],
            id="empty-steps",
        ),
        pytest.param(
            "id: invoice\nsteps:\n",
            [
                (
                    "2:7 wrong-type steps",
                    "'steps' must be a list of steps, each beginning with `- id: NAME`, found null",
                ),
            ],
            id="steps-are-null",
        ),
        pytest.param(
            "steps:\n  - {id: a, handler: anything}\n",
            [
                ("1:1 missing-field id", "the definition needs the field 'id'"),
            ],
            id="no-id",
        ),
        pytest.param(
            change("id: invoice", "id: my-invoice"),
            [
                (
                    "1:5 bad-id id",
                    "'my-invoice' cannot be an id: it must begin with a letter and contain only letters, digits and _",
                    "my_invoice",
                ),
            ],
            id="id-with-a-dash",
        ),
        pytest.param(
            "dsl: 2\n" + EXTRACT,
            [
                ("1:6 wrong-value dsl", "'dsl' must be 1, found the number 2"),
            ],
            id="wrong-dsl",
        ),
        pytest.param(
            "stpes: []\n" + EXTRACT,
            [
                ("1:1 unknown-field stpes", "the definition has no field 'stpes'", "steps"),
            ],
            id="unknown-field-of-the-definition",
        ),
        pytest.param(
            "on_failure: stop\n" + EXTRACT,
            [
                (
                    "1:13 wrong-value on_failure",
                    "'on_failure' must be 'continue', 'fail_fast' or 'park', found the text 'stop'",
                    "fail_fast",
                ),
            ],
            id="on-failure-that-is-unknown",
        ),
        pytest.param(
            "limits: {max_concurrency: 0, dispatch: layer}\n" + EXTRACT,
            [
                ("1:27 wrong-value limits.max_concurrency", "'max_concurrency' must be at least 1, found the number 0"),
                (
                    "1:40 wrong-value limits.dispatch",
                    "'dispatch' must be 'ready' or 'layers', found the text 'layer'",
                    "layers",
                ),
            ],
            id="limits",
        ),
        pytest.param(
            change("depends_on", "depend_on"),
            [
                ("8:5 unknown-field steps[1].depend_on", "step 'save_json' has no field 'depend_on'", "depends_on"),
            ],
            id="misspelt-field-of-a-step",
        ),
        pytest.param(
            change("    handler: save_json", "    handlr: save_json"),
            [
                ("7:5 unknown-field steps[1].handlr", "step 'save_json' has no field 'handlr'", "handler"),
            ],
            id="misspelt-required-field",
        ),
        pytest.param(
            change("    handler: save_json\n", ""),
            [
                (
                    "6:5 no-kind steps[1]",
                    ("step 'save_json' has no kind: give it one of handler, wait, human, workflow, abort or switch"),
                ),
            ],
            id="step-without-handler",
        ),
        pytest.param(
            "id: invoice\nsteps:\n  - handler: anything\n",
            [
                ("3:5 missing-field steps[0].id", "the step needs the field 'id'"),
            ],
            id="step-without-id",
        ),
        pytest.param(
            "id: invoice\nsteps: [extract, {id: a, handler: anything}]\n",
            [
                ("2:9 wrong-type steps[0]", "'steps[0]' must be an object, found the text 'extract'"),
            ],
            id="step-that-is-a-text",
        ),
        pytest.param(
            change("[extract]", "extract"),
            [
                (
                    "8:17 wrong-type steps[1].depends_on",
                    "'depends_on' must be a list of ids, as in [extract, save], found the text 'extract'",
                    "[extract]",
                ),
            ],
            id="text-where-a-list-belongs",
        ),
        pytest.param(
            change("[extract]", "[extract, 3]"),
            [
                ("8:27 wrong-type steps[1].depends_on[1]", "'depends_on[1]' must be a text, found the number 3"),
            ],
            id="number-within-a-list",
        ),
        pytest.param(
            EXTRACT + "    max_retries: three\n",
            [
                (
                    "6:18 wrong-type steps[0].max_retries",
                    "'max_retries' must be a whole number, found the text 'three'",
                ),
            ],
            id="text-where-a-number-belongs",
        ),
        pytest.param(
            EXTRACT + '    timeout_seconds: "300"\n',
            [
                (
                    "6:22 wrong-type steps[0].timeout_seconds",
                    "'timeout_seconds' must be a number, found the text '300'",
                    "300",
                ),
            ],
            id="quoted-number",
        ),
        pytest.param(
            EXTRACT + "    timeout_seconds: 0\n",
            [
                (
                    "6:22 wrong-value steps[0].timeout_seconds",
                    "'timeout_seconds' must be at least 0.001, found the number 0",
                ),
            ],
            id="number-out-of-range",
        ),
        pytest.param(
            EXTRACT + "    optional: yes\n",
            [
                ("6:15 wrong-type steps[0].optional", "'optional' must be true or false, found the text 'yes'", "true"),
            ],
            id="yes-is-a-text",
        ),
        pytest.param(
            change("    depends_on", "    trigger_rule: all_sucess\n    depends_on"),
            [
                (
                    "8:19 wrong-value steps[1].trigger_rule",
                    (
                        "'trigger_rule' must be 'none_failed', 'all_success', 'all_done', 'one_success', "
                        "'one_failed' or 'all_failed', found the text 'all_sucess'"
                    ),
                    "all_success",
                ),
            ],
            id="misspelt-rule",
        ),
        pytest.param(
            EXTRACT + "    retry_config: {jitter: 2, exponential: 3}\n",
            [
                ("6:28 wrong-value steps[0].retry_config.jitter", "'jitter' must be at most 1, found the number 2"),
                (
                    "6:31 unknown-field steps[0].retry_config.exponential",
                    "'retry_config' has no field 'exponential'",
                    "exponential_base",
                ),
            ],
            id="retry-config",
        ),
        pytest.param(
            EXTRACT + "    title: " + "x" * 201 + "\n",
            [
                (
                    "6:12 wrong-value steps[0].title",
                    (
                        "'title' must have at most 200 characters, found the text "
                        "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
                    ),
                ),
            ],
            id="title-too-long",
        ),
        pytest.param(
            EXTRACT + "    colour: red\n",
            [
                (
                    "6:5 unknown-field steps[0].colour",
                    (
                        "step 'extract' has no field 'colour'; there are abort, cache, compensate, condition, config, "
                        "depends_on, for_each, handler, heartbeat_seconds, human, id, max_retries, optional, priority, "
                        "resource_tag, retry_config, switch, timeout_seconds, title, total_timeout_seconds, "
                        "trigger_rule, wait, workflow"
                    ),
                ),
            ],
            id="field-that-is-unknown",
        ),
        pytest.param(
            change("    config: {inv", "    dependencies: [extract]\n    config: {inv"),
            [
                (
                    "9:5 alias-conflict steps[1].dependencies",
                    "'dependencies' is an alias of 'depends_on'; keep one of them",
                ),
            ],
            id="alias-next-to-its-own-word",
        ),
        pytest.param(
            change("depends_on: [extract]", "dependencies: 3"),
            [
                (
                    "8:19 wrong-type steps[1].dependencies",
                    "'dependencies' must be a list of ids, as in [extract, save], found the number 3",
                ),
            ],
            id="wrong-type-under-an-alias",
        ),
        pytest.param(
            "defaults: {max_retry: 3, timeout_seconds: -1, retry_config: {jitter: 2}, condition: x}\n" + EXTRACT + SAVE,
            [
                ("1:12 unknown-field defaults.max_retry", "'defaults' has no field 'max_retry'", "max_retries"),
                (
                    "1:43 wrong-value defaults.timeout_seconds",
                    "'timeout_seconds' must be at least 0.001, found the number -1",
                ),
                ("1:70 wrong-value defaults.retry_config.jitter", "'jitter' must be at most 1, found the number 2"),
                (
                    "1:74 unknown-field defaults.condition",
                    (
                        "'defaults' has no field 'condition'; there are heartbeat_seconds, max_retries, "
                        "resource_tag, retry_config, timeout_seconds, total_timeout_seconds"
                    ),
                ),
            ],
            id="wrong-defaults-are-problems_of-once",
        ),
        pytest.param(
            "defaults: []\n" + EXTRACT,
            [
                ("1:11 wrong-type defaults", "'defaults' must be an object, found an empty list"),
            ],
            id="defaults-that-are-a-list",
        ),
        pytest.param(
            change("id: extract\n", "id: inputs\n", EXTRACT),
            [
                (
                    "3:9 reserved-word steps[0].id",
                    "'inputs' has a meaning of its own in expressions, so it cannot be a step's id",
                    "inputs_step",
                ),
            ],
            id="id-that-is-a-reserved-word",
        ),
        pytest.param(
            change("id: save_json", "id: extract"),
            [
                ("6:9 duplicate-id steps[1].id", "the id 'extract' is already used by steps[0] on line 3"),
            ],
            id="id-used-twice",
        ),
        pytest.param(
            EXTRACT + "    max_retries: 99999999999999999999\n",
            [
                ("6:18 not-json steps[0].max_retries", "the value is a whole number that does not fit 64 bits"),
            ],
            id="number-that-is-not-finite-in-64-bits",
        ),
    ],
)
def test_a_wrong_field_is_reported_with_its_place(text: str, expected: Problems) -> None:
    assert problems_of(text) == expected
