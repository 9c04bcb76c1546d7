"""Handlers by their names: aliases mean the handler, and a stored definition has its own name."""

from types import MappingProxyType

from docrail.dag.validation.validate import validate
from docrail.dag.values.json_values import Json
from tests.dag.catalogue import AnyConfig, AnyOutput, Models, SaveConfig, SaveOutput

SAVE = Models("save_json", SaveConfig, SaveOutput, aliases=("json_writer",))
ANY = Models("anything", AnyConfig, AnyOutput)
CATALOGUE = {"save_json": SAVE, "json_writer": SAVE, "anything": ANY}
INVOICE = {"document_id": "d", "sha256": "s"}


def definition(handler: str, config: Json) -> dict[str, Json]:
    return {"id": "test", "steps": [{"id": "save", "handler": handler, "config": config}]}


def test_an_alias_becomes_the_handlers_own_name() -> None:
    by_alias, problems = validate(definition("json_writer", {"invoice": INVOICE}), None, CATALOGUE)
    by_name, _ = validate(definition("save_json", {"invoice": INVOICE}), None, CATALOGUE)
    assert problems == []
    assert by_alias is not None
    assert by_alias == by_name
    assert by_alias.steps[0].handler == "save_json"


def test_a_config_under_an_alias_is_checked_against_its_handler() -> None:
    made, problems = validate(definition("json_writer", {"invoices": INVOICE}), None, CATALOGUE)
    assert made is None
    assert [problem.message for problem in problems] == ["the config of handler 'json_writer' has no field 'invoices'"]


def test_the_output_under_an_alias_is_known() -> None:
    document = definition("json_writer", {"invoice": INVOICE})
    document["outputs"] = {"path": "{{ save.pth }}"}
    _, problems = validate(document, None, CATALOGUE)
    assert [(problem.code, problem.suggestion) for problem in problems] == [("unknown-output", "path")]


def test_a_typo_in_an_alias_is_reported_by_the_alias() -> None:
    _, [problem] = validate(definition("json_writter", {}), None, CATALOGUE)
    assert (problem.code, problem.suggestion) == ("unknown-handler", "json_writer")


class WithBroken(dict[str, Models]):
    """A catalogue that knows of a handler that cannot be used."""

    broken = MappingProxyType({"translate": "handlers/translate.py:3: no such module", "anything": "its name is taken"})


def test_a_broken_handler_is_reported_with_its_error_and_no_suggestion() -> None:
    document = definition("translate", {"text": "a"})
    document["steps"].append({"id": "undone", "handler": "anything", "compensate": {"handler": "translate"}})
    _, problems = validate(document, None, WithBroken(CATALOGUE))
    error = "the handler 'translate' cannot be used: handlers/translate.py:3: no such module"
    assert [(problem.code, problem.message, problem.suggestion) for problem in problems] == [
        ("broken-handler", f"step 'save': {error}", None),
        ("broken-handler", f"compensate of step 'undone': {error}", None),
    ]


def test_a_name_that_a_broken_handler_shares_means_the_handler_that_works() -> None:
    made, problems = validate(definition("anything", {}), None, WithBroken(CATALOGUE))
    assert (made is not None, problems) == (True, [])
