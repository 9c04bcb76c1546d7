"""Expressions and templates: syntax, and whether what they read is there when they read it."""

import json

import pytest

from tests.dag.catalogue import EXTRACT, SAVE, Problems, change, problems_of

CONDITION = EXTRACT + SAVE + "    condition: "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            CONDITION + "extract.total >\n",
            [
                (
                    "10:16 bad-expression steps[1].condition",
                    "the expression ends too early: something is missing at its end",
                ),
            ],
            id="expression-that-ends-early",
        ),
        pytest.param(
            CONDITION + '"{{ extract.total > 3 }}"\n',
            [
                (
                    "10:16 bad-expression steps[1].condition",
                    "this is already an expression: write it without {{ }}",
                    "extract.total > 3",
                ),
            ],
            id="condition-in-braces",
        ),
        pytest.param(
            CONDITION + "extract.total is gt\n",
            [("10:16 bad-expression steps[1].condition", "`is gt` takes one value")],
            id="test-without-what-it-compares-with",
        ),
        pytest.param(
            change("{{ extract.invoice_ref }}", "{{ extract.total | round(1, 2, 3) }}"),
            [
                (
                    "9:23 bad-expression steps[1].config.invoice",
                    "`round` cannot be called like this; write it as in `| round(2)`",
                )
            ],
            id="filter-with-too-much",
        ),
        pytest.param(
            CONDITION + 'open("x")\n',
            [
                (
                    "10:16 bad-expression steps[1].condition",
                    "calls are not allowed; use a filter, as in `items | length`",
                ),
            ],
            id="call",
        ),
        pytest.param(
            CONDITION + "extract.lines | shuffle\n",
            [
                (
                    "10:16 bad-expression steps[1].condition",
                    (
                        "there is no filter 'shuffle'; filters are default, length, round, int, float, lower, "
                        "upper, trim, join, sum, min, max, first, last, sort, map, select, selectattr, reject, "
                        "rejectattr, list, unique"
                    ),
                ),
            ],
            id="unknown-filter",
        ),
        pytest.param(
            change("{{ extract.invoice_ref }}", "{{ extract.invoice_ref"),
            [
                (
                    "9:23 bad-expression steps[1].config.invoice",
                    "`{{` is not closed by `}}`",
                ),
            ],
            id="template-that-is-not-closed",
        ),
        pytest.param(
            change('"{{ extract.invoice_ref }}"', "{$path: extract}"),
            [
                (
                    "9:23 bad-expression steps[1].config.invoice",
                    "{$path: ...} takes a list of texts and no other field",
                ),
            ],
            id="path-that-is-a-text",
        ),
        pytest.param(
            CONDITION + "extrat.total > 1\n",
            [
                ("10:16 unknown-name steps[1].condition", "there is no step 'extrat' to read from", "extract"),
            ],
            id="unknown-step",
        ),
        pytest.param(
            CONDITION + "input.sla > 1\n",
            [
                ("10:16 unknown-name steps[1].condition", "there is no step 'input' to read from", "inputs"),
            ],
            id="unknown-word-like-inputs",
        ),
        pytest.param(
            CONDITION + "item.x\n",
            [
                (
                    "10:16 unknown-name steps[1].condition",
                    "'item' has a value only in a step with 'for_each': in its config, inputs or 'for_each.key'",
                ),
            ],
            id="word-of-a-later-version",
        ),
        pytest.param(
            "inputs: {document_id: {type: string}}\n" + CONDITION + "inputs.documentid\n",
            [
                ("11:16 unknown-input steps[1].condition", "there is no input 'documentid'", "document_id"),
            ],
            id="unknown-input",
        ),
        pytest.param(
            "inputs: {document_id: {type: string}}\n" + CONDITION + "inputs.country\n",
            [
                ("11:16 unknown-input steps[1].condition", "there is no input 'country'; there is only document_id"),
            ],
            id="unknown-input-like-nothing",
        ),
        pytest.param(
            CONDITION + "steps.extract.error.type == 'OSError'\n",
            [
                (
                    "10:16 unknown-attribute steps[1].condition",
                    "'steps.extract.error' is a text: it has no 'type'",
                    "steps.extract.error",
                ),
            ],
            id="part-of-a-status-word",
        ),
        pytest.param(
            CONDITION + 'steps.extract.state == "completed"\n',
            [
                (
                    "10:16 unknown-attribute steps[1].condition",
                    (
                        "'steps.extract' has no 'state'; there are answered_by, attempts, branch, decided_by, error, "
                        "output, reason, status"
                    ),
                    "status",
                ),
            ],
            id="unknown-status-word",
        ),
        pytest.param(
            CONDITION + 'steps.extrat.status == "completed"\n',
            [
                ("10:16 unknown-step steps[1].condition", "there is no step 'extrat' to read from", "extract"),
            ],
            id="status-of-an-unknown-step",
        ),
        pytest.param(
            change("    depends_on: [extract]\n", ""),
            [
                (
                    "8:23 not-upstream steps[1].config.invoice",
                    (
                        "step 'save_json' reads from 'extract', but does not wait for it: add 'extract' to its "
                        "depends_on"
                    ),
                ),
            ],
            id="step-that-is-not-upstream",
        ),
        pytest.param(
            change("    handler: extract_invoice", "    condition: save_json.path\n    handler: extract_invoice"),
            [
                ("4:16 not-upstream steps[0].condition", "step 'extract' reads from 'save_json', which runs after it"),
            ],
            id="step-that-runs-later",
        ),
        pytest.param(
            CONDITION + "save_json.path\n",
            [
                ("10:16 not-upstream steps[1].condition", "step 'save_json' reads from itself"),
            ],
            id="step-itself",
        ),
        pytest.param(
            change("extract.invoice_ref", "extract.invoice_rf"),
            [
                (
                    "9:23 unknown-output steps[1].config.invoice",
                    "the output 'extract' of handler 'extract_invoice' has no field 'invoice_rf'",
                    "invoice_ref",
                ),
            ],
            id="unknown-field-of-an-output",
        ),
        pytest.param(
            change('"{{ extract.invoice_ref }}"', "{$path: [extract, totals]}"),
            [
                (
                    "9:23 unknown-output steps[1].config.invoice",
                    "the output 'extract' of handler 'extract_invoice' has no field 'totals'",
                    "total",
                ),
            ],
            id="unknown-field-by-path",
        ),
        pytest.param(
            CONDITION + 'extract.invoice_ref.sha == "x"\n',
            [
                (
                    "10:16 unknown-output steps[1].condition",
                    "the output 'extract.invoice_ref' of handler 'extract_invoice' has no field 'sha'",
                    "sha256",
                ),
            ],
            id="unknown-field-below-a-field",
        ),
        pytest.param(
            CONDITION + "extract.lines[0].amuont > 1\n",
            [
                (
                    "10:16 unknown-output steps[1].condition",
                    "the output 'extract.lines[0]' of handler 'extract_invoice' has no field 'amuont'",
                    "amount",
                ),
            ],
            id="unknown-field-of-a-list-element",
        ),
        pytest.param(
            CONDITION + "steps.extract.output.totl > 1\n",
            [
                (
                    "10:16 unknown-output steps[1].condition",
                    "the output 'extract' of handler 'extract_invoice' has no field 'totl'",
                    "total",
                ),
            ],
            id="unknown-field-by-the-long-way",
        ),
        pytest.param(
            EXTRACT + 'outputs: {a: "{{ extract.nothing }}", b: {c: ["{{ nowhere }}"]}}\n',
            [
                (
                    "6:14 unknown-output outputs.a",
                    (
                        "the output 'extract' of handler 'extract_invoice' has no field 'nothing'; there are "
                        "extras, invoice_ref, lines, total"
                    ),
                ),
                ("6:47 unknown-name outputs.b.c[0]", "there is no step 'nowhere' to read from"),
            ],
            id="outputs",
        ),
    ],
)
def test_a_wrong_reference_is_reported_with_its_place(text: str, expected: Problems) -> None:
    assert problems_of(text) == expected


@pytest.mark.parametrize(
    "condition",
    [
        'extract.invoice_ref.sha256 == "x"',
        "extract.extras.anything",
        "extract.lines | length > 0 and extract.lines[0].amount > 1",
        "steps.extract.output.total is none",
        'steps.extract.status in ["completed", "skipped"]',
        'run.id == workflow.id or document["file name"]',
        "inputs.n",
    ],
)
def test_upstream_outputs_may_be_read(condition: str) -> None:
    assert problems_of("inputs: {n: {type: integer}}\n" + CONDITION + json.dumps(condition) + "\n") == []


@pytest.mark.parametrize("output", ["save_json.path", "save_json.folder", "free.anything.at_all"])
def test_a_computed_field_and_any_field_of_an_open_model_may_be_read(output: str) -> None:
    free = "  - {id: free, handler: anything}\n"
    assert problems_of(EXTRACT + SAVE + free + f'outputs: {{a: "{{{{ {output} }}}}"}}\n') == []
