"""Handlers and their config: literal parts are checked against the model, templates are left to the run."""

import pytest

from tests.dag.catalogue import Problems, change, problems_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            change("handler: save_json", "handler: save_jsn"),
            [
                (
                    "7:14 unknown-handler steps[1].handler",
                    "step 'save_json': there is no handler 'save_jsn'",
                    "save_json",
                ),
            ],
            id="unknown-handler",
        ),
        pytest.param(
            change("handler: save_json", "handler: email"),
            [
                (
                    "7:14 unknown-handler steps[1].handler",
                    "step 'save_json': there is no handler 'email'; there are anything, extract_invoice, save_json",
                ),
            ],
            id="unknown-handler-like-nothing",
        ),
        pytest.param(
            change("document_id: doc_1", ""),
            [
                (
                    "5:13 missing-field steps[0].config.document_id",
                    "the config of handler 'extract_invoice' needs the field 'document_id'",
                ),
            ],
            id="missing-field",
        ),
        pytest.param(
            "id: invoice\nsteps:\n  - {id: extract, handler: extract_invoice}\n",
            [
                (
                    "3:5 missing-field steps[0].config.document_id",
                    "the config of handler 'extract_invoice' needs the field 'document_id'",
                ),
            ],
            id="no-config-at-all",
        ),
        pytest.param(
            change("document_id: doc_1", "documnt_id: doc_1"),
            [
                (
                    "5:14 unknown-field steps[0].config.documnt_id",
                    "the config of handler 'extract_invoice' has no field 'documnt_id'",
                    "document_id",
                ),
            ],
            id="misspelt-field",
        ),
        pytest.param(
            change('ref }}"}', 'ref }}", copy: "{{ extract.total }}"}'),
            [
                (
                    "9:52 unknown-field steps[1].config.copy",
                    "the config of handler 'save_json' has no field 'copy'",
                    "copies",
                ),
            ],
            id="unknown-field-with-a-template",
        ),
        pytest.param(
            change("doc_1", "[1]"),
            [
                ("5:27 wrong-type steps[0].config.document_id", "'document_id' must be a text, found a list"),
            ],
            id="wrong-type",
        ),
        pytest.param(
            change("doc_1", "doc_1, pages: [1, two]"),
            [
                ("5:45 wrong-type steps[0].config.pages[1]", "'pages[1]' must be a whole number, found the text 'two'"),
            ],
            id="wrong-type-within-a-list",
        ),
        pytest.param(
            change("doc_1", "doc_1, pages: [1, 2, 3, 4]"),
            [
                ("5:41 wrong-value steps[0].config.pages", "'pages' must have at most 3 entries, found a list"),
            ],
            id="list-too-long",
        ),
        pytest.param(
            change("doc_1", "doc_1, mode: exakt"),
            [
                (
                    "5:40 wrong-value steps[0].config.mode",
                    "'mode' must be 'fast' or 'exact', found the text 'exakt'",
                    "exact",
                ),
            ],
            id="unknown-choice",
        ),
        pytest.param(
            change('ref }}"}', 'ref }}", copies: 0}'),
            [
                ("9:60 wrong-value steps[1].config.copies", "'copies' must be at least 1, found the number 0"),
            ],
            id="number-too-small-next-to-a-template",
        ),
        pytest.param(
            change('"{{ extract.invoice_ref }}"', '{document_id: 3, sha: "{{ extract.total }}"}'),
            [
                ("9:23 missing-field steps[1].config.invoice.sha256", "'invoice' needs the field 'sha256'"),
                (
                    "9:37 wrong-type steps[1].config.invoice.document_id",
                    "'document_id' must be a text, found the number 3",
                ),
            ],
            id="literal-part-of-an-object-with-a-template",
        ),
        pytest.param(
            change("{document_id: doc_1}", "doc_1"),
            [
                ("5:13 wrong-type steps[0].config", "'config' must be an object, found the text 'doc_1'"),
            ],
            id="config-that-is-a-text",
        ),
        pytest.param(
            change("config: {document_id: doc_1}", "params: {document_id: 7}"),
            [
                ("5:27 wrong-type steps[0].params.document_id", "'document_id' must be a text, found the number 7"),
            ],
            id="config-under-its-alias",
        ),
    ],
)
def test_a_wrong_config_is_reported_with_its_place(text: str, expected: Problems) -> None:
    assert problems_of(text) == expected
