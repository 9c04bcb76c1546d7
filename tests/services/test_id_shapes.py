"""An id of another kind of object is recognised, with the command that takes it."""

import pytest

from docrail.services.errors import NotFound

EXECUTION, DOCUMENT, REVIEW = f"exe_{'0' * 26}", f"doc_{'z' * 26}", f"rev_{'a' * 26}"


@pytest.mark.parametrize(
    ("kind", "wanted", "advice"),
    [
        ("run", EXECUTION, f"that is the id of an execution, GET /v1/workflow/{EXECUTION} shows its run"),
        ("run", DOCUMENT, f"that is the id of a document, `docrail run list --document {DOCUMENT}` lists its runs"),
        ("run", REVIEW, f"that is the id of a review item, `docrail review show {REVIEW}` shows it"),
        ("run", "invoice", "a run's id is DEFINITION.KEY, `docrail run list` lists them"),
        ("execution", "invoice.4711", "that is the id of a run, `docrail run explain invoice.4711` explains it"),
        ("document", REVIEW, f"that is the id of a review item, `docrail review show {REVIEW}` shows it"),
        (
            *("review item", DOCUMENT),
            f"that is the id of a document, `docrail run list --document {DOCUMENT}` lists its runs",
        ),
    ],
)
def test_an_id_of_another_kind_of_object_is_recognised(kind: str, wanted: str, advice: str) -> None:
    assert str(NotFound(kind, wanted)) == f"there is no {kind} {wanted!r}: {advice}"


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("run", f"invoice.{EXECUTION}"),
        ("run", "invoice.4711~parse"),
        ("execution", EXECUTION),
        ("execution", "exe_1"),
        ("document", "a.b\n"),
        ("document", DOCUMENT),
        ("definition", "doc_check"),
        ("step", f"{EXECUTION} parse"),
    ],
)
def test_an_id_that_may_be_of_the_kind_or_is_none_gets_no_advice(kind: str, wanted: str) -> None:
    assert str(NotFound(kind, wanted)) == f"there is no {kind} {wanted!r}"
