"""The schema for editors: every definition of ours fits it, typical mistakes do not, it keeps up with the models."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from docrail.activities.registry import load_catalogue
from docrail.dag.language.definition import DEFAULTABLE, STEP_ALIASES, Definition, Step, to_json
from docrail.dag.validation.definition_schema import TEXT_FORMS, definition_schema
from docrail.dag.validation.validate import check_definition
from docrail.dag.values.json_values import Json
from docrail.services.definitions.service import shipped_files
from tests.docs_runner import ROOT, Block, blocks_of

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))


@cache
def schema() -> dict[str, Any]:
    return definition_schema(load_catalogue())


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(schema())


def faults(document: Json) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator().iter_errors(document)]


def shown() -> list[Block]:
    """Return the definitions that pages show, right and wrong ones."""
    found = (block for page in PAGES for block in blocks_of(page))
    return [block for block in found if block.language == "yaml" and "\nsteps:" in block.text]


def models(model: Any, seen: set[Any]) -> Iterator[type[BaseModel]]:
    """Yield a model and every model below it."""
    if isinstance(model, type) and issubclass(model, BaseModel) and model not in seen:
        seen.add(model)
        yield model
        for field in model.model_fields.values():
            yield from models(field.annotation, seen)
    for part in get_args(model):
        yield from models(part, seen)


def step(**fields: Json) -> dict[str, Json]:
    return {"id": "a", "handler": "noop", **fields}


EXPECTING: dict[str, Json] = {"name": "it", "expect": {"status": "completed"}}
"""A test that says what it expects."""


def with_steps(*steps: Json, **fields: Json) -> dict[str, Json]:
    return {"id": "x", "steps": list(steps), **fields}


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("path", shipped_files(), ids=lambda path: path.stem)
def test_a_shipped_definition_fits_as_written_and_as_stored(path: Path) -> None:
    definition, _ = check_definition(path.read_text(), load_catalogue())
    assert definition is not None
    assert faults(yaml.safe_load(path.read_text())) == []
    assert faults(to_json(definition)) == []


@pytest.mark.parametrize("block", shown(), ids=str)
def test_a_definition_of_a_page_fits_as_written_and_as_stored_if_it_is_valid(block: Block) -> None:
    definition, _ = check_definition(block.text, load_catalogue())
    if definition is not None:
        assert faults(yaml.safe_load(block.text)) == []
        assert faults(to_json(definition)) == []


def test_most_definitions_that_pages_show_are_valid() -> None:
    valid = [block for block in shown() if check_definition(block.text, load_catalogue())[0] is not None]
    assert 4 <= len(valid) >= len(shown()) - 3


@pytest.mark.parametrize(
    "document",
    [
        with_steps({"node_id": "a", "handler": "echo", "params": {"value": 1}, "dependencies": []}),
        with_steps(step(), defaults={"max_retries": 1, "retry_config": {"jitter": 0}}),
        with_steps({"id": "a", "handler": "sleep", "config": {"seconds": "{{ inputs.n }}"}}, inputs={}),
        with_steps({"id": "a", "handler": "sleep", "config": {"seconds": {"$path": ["inputs", "n"]}}}),
        with_steps({"id": "a", "handler": "save_json", "config": {"invoice": "{{ b.invoice_ref }}"}}),
        with_steps({"id": "a", "handler": "input", "config": {"$path": ["inputs"]}}),
        with_steps(step(), inputs={"n": {"type": "string", "required": True, "minLength": 1, "pattern": "^a"}}),
        [{"handler": "echo", "config": {"value": 1}}, {"handler": "echo", "params": {"value": "{{ previous.value }}"}}],
        with_steps({"handler": "noop"}, {"handler": "echo", "config": {"value": "{{ previous }}"}}),
        with_steps({"id": "a", "wait": {"for": "signal", "timeout_seconds": 5, "on_timeout": "fail"}}),
        with_steps(
            {"id": "a", "wait": {"for": "timer", "seconds": "{{ inputs.n }}"}}, inputs={"n": {"type": "number"}}
        ),
        with_steps(
            {"id": "a", "human": {"timeout_seconds": 5, "on_timeout": {"escalate_to": "boss", "branch": "late"}}},
            step(id="b", depends_on=["a.late"]),
        ),
        with_steps({"id": "a", "workflow": {"id": "other", "inputs": {"n": "{{ item }}"}}, "for_each": {"items": [1]}}),
        with_steps({"id": "a", "switch": [{"when": "1 == 1", "branch": "one"}, {"else": "two"}]}),
        with_steps(step(), {"id": "b", "abort": "no", "depends_on": ["a"]}),
        with_steps(step(), outputs={"anything": [1, {"a": "{{ a }}"}]}, dsl=1),
    ],
)
def test_valid_definitions_fit_the_schema(document: Json) -> None:
    assert faults(document) == []


@pytest.mark.parametrize(
    ("mistake", "place"),
    [
        ([], "$"),
        ([step(depends_on=["b"]), {"handler": "noop"}], "$[1]"),
        ([step(handler="nop")], "$[0].handler"),
        ({"steps": [step()]}, "$"),
        ({"id": "x"}, "$"),
        (with_steps(), "$.steps"),
        (with_steps(step(), stpes=[]), "$"),
        (with_steps(step(), id="has space"), "$.id"),
        (with_steps(step(), dsl=2), "$.dsl"),
        (with_steps(step(), on_failure="stop"), "$.on_failure"),
        (with_steps(step(), limits={"max_concurency": 1}), "$.limits"),
        (with_steps(step(), limits={"max_concurrency": 0}), "$.limits.max_concurrency"),
        (with_steps(step(), defaults={"config": {}}), "$.defaults"),
        (with_steps(step(), defaults={"max_retries": -1}), "$.defaults.max_retries"),
        (with_steps(step(), inputs={"n": {"required": True}}), "$.inputs.n"),
        (with_steps(step(), inputs={"n": {"type": "text"}}), "$.inputs.n.type"),
        (with_steps(step(), inputs={"n": {"type": "string", "requird": True}}), "$.inputs.n"),
        (with_steps(step(handler="nop")), "$.steps[0].handler"),
        (with_steps({"id": "a"}), "$.steps[0]"),
        (with_steps({"handler": "noop"}, step(depends_on=[])), "$.steps[0]"),
        (with_steps(step(node_id="b")), "$.steps[0]"),
        (with_steps(step(depends_on=[], dependencies=[])), "$.steps[0]"),
        (with_steps(step(depends_on="b")), "$.steps[0].depends_on"),
        (with_steps(step(dependson=["b"])), "$.steps[0]"),
        (with_steps(step(id="inputs")), "$.steps[0].id"),
        (with_steps(step(id="1st")), "$.steps[0].id"),
        (with_steps(step(trigger_rule="any")), "$.steps[0].trigger_rule"),
        (with_steps(step(max_retries="3")), "$.steps[0].max_retries"),
        (with_steps(step(timeout_seconds=0)), "$.steps[0].timeout_seconds"),
        (with_steps(step(retry_config={"intial_delay": 1})), "$.steps[0].retry_config"),
        (with_steps(step(condition=True)), "$.steps[0].condition"),
        (with_steps(step(wait={"for": "signal"})), "$.steps[0]"),
        (with_steps({"id": "a", "wait": {"for": "email"}}), "$.steps[0].wait.for"),
        (with_steps({"id": "a", "wait": {"for": "timer"}}), "$.steps[0].wait"),
        (with_steps({"id": "a", "wait": {"for": "signal", "seconds": 5}}), "$.steps[0].wait"),
        (with_steps({"id": "a", "wait": {"for": "signal", "timeout_seconds": 5}}), "$.steps[0].wait"),
        (with_steps({"id": "a", "human": {"timeout_seconds": 5}}), "$.steps[0].human"),
        (with_steps({"id": "a", "wait": {"for": "signal"}, "config": {}}), "$.steps[0]"),
        (with_steps({"id": "a", "abort": {"why": "no"}}), "$.steps[0].abort"),
        (with_steps({"id": "a", "abort": "x", "for_each": {"items": []}}), "$.steps[0]"),
        (with_steps({"id": "a", "switch": [{"when": "1 == 1"}]}), "$.steps[0].switch[0]"),
        (
            with_steps({"id": "a", "switch": [{"when": "1 == 1", "branch": "b", "else": "c"}]}),
            "$.steps[0].switch[0]",
        ),
        (with_steps(step(), tests=[{"name": "it"}]), "$.tests[0]"),
        (with_steps(step(), tests=[{"name": "it", "expect": {"status": "done"}}]), "$.tests[0].expect.status"),
        (with_steps(step(), tests=[{**EXPECTING, "steps": {"a": {}}}]), "$.tests[0].steps.a"),
        (
            with_steps(step(), tests=[{**EXPECTING, "steps": {"a": {"output": {}, "failure": "X"}}}]),
            "$.tests[0].steps.a",
        ),
        (with_steps(step(), tests=[{**EXPECTING, "steps": {"a": {"output": {}, "answer": 1}}}]), "$.tests[0].steps.a"),
        (with_steps(step(handler="sleep")), "$.steps[0]"),
        (with_steps(step(handler="sleep", config={})), "$.steps[0].config"),
        (with_steps(step(handler="sleep", params={"second": 1})), "$.steps[0].params"),
        (with_steps(step(handler="sleep", config={"seconds": "soon"})), "$.steps[0].config.seconds"),
        (with_steps(step(handler="sleep", config={"seconds": {"$path": []}})), "$.steps[0].config.seconds"),
        (with_steps(step(handler="save_json", config={"invoice": {"sha256": "x"}})), "$.steps[0].config.invoice"),
    ],
)
def test_a_typical_mistake_is_reported_at_its_place(mistake: Json, place: str) -> None:
    assert place in {error.json_path for error in validator().iter_errors(mistake)}
    definition, _ = check_definition(json.dumps(mistake), load_catalogue())
    assert definition is None


def test_every_handler_and_the_config_of_each_is_in_it() -> None:
    parts = schema()["$defs"]
    names = [name for handler in load_catalogue().values() for name in (handler.name, *handler.aliases)]
    assert parts[Step.__name__]["properties"]["handler"]["enum"] == names
    for name, handler in load_catalogue().items():
        assert set(parts[f"config.{name}"].get("properties", ())) == set(
            handler.config.model_json_schema().get("properties", ())
        )


def test_every_field_and_every_word_for_it_is_in_it() -> None:
    parts = schema()["$defs"]
    assert set(parts[Step.__name__]["properties"]) == {*Step.model_fields, *STEP_ALIASES}
    fields = parts[Definition.__name__]["properties"]
    assert set(fields) == {*Definition.model_fields, "defaults"}
    assert tuple(fields["defaults"]["properties"]) == DEFAULTABLE


def test_fields_that_may_be_written_as_text_are_known() -> None:
    """A new model with a text form must get its line: schemas do not show validators."""
    takes_text = {
        model
        for model in models(Definition, set())
        if any(found.info.mode == "before" for found in model.__pydantic_decorators__.model_validators.values())
    }
    assert takes_text == set(TEXT_FORMS)


def objects() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object that an author may write, by name; one that may be a text instead, too."""
    for name, part in schema()["$defs"].items():
        for form in (part, *part.get("anyOf", ())):
            if isinstance(form, dict) and "properties" in form:
                yield name, form


def test_editors_have_something_to_say_of_every_field() -> None:
    silent = [
        f"{name}.{field}"
        for name, form in objects()
        for field, problems_of in form["properties"].items()
        if isinstance(problems_of, bool) or not problems_of.get("description")
    ]
    assert silent == []


def test_a_fields_description_is_its_docstring() -> None:
    problems_of = schema()["$defs"]["Step"]["properties"]["max_retries"]["description"]
    assert problems_of == "Retries after the first attempt: 3 means up to four attempts."


def test_editors_show_descriptions_and_no_made_up_titles() -> None:
    text = json.dumps(schema())
    assert re.findall(r'"title": "[^"]*"', text) == ['"title": "Docrail definition"']


def test_it_refers_to_nothing_outside() -> None:
    references = re.findall(r'"\$ref": "([^"]*)"', json.dumps(schema()))
    assert {reference for reference in references if not reference.startswith("#/$defs/")} == set()
    assert {reference.removeprefix("#/$defs/") for reference in references} <= set(schema()["$defs"])
