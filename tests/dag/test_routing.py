"""Routing rules: the first that matches decides, impossible ones are refused when submitted, no document is lost."""

from typing import Any

import pytest

from docrail.dag.language.routing import MAX_RULES, Facts, Route, Rule, find_route
from docrail.dag.language.source.source import read_source
from docrail.dag.validation.routing import Fault, references_of, validate_routing
from docrail.dag.values.json_values import Json

PDF = Facts("acme", "application/pdf", 20_000, "email", "Invoice 4711.PDF")
XML = Facts("acme", "application/xml", 900, "", "r.xml")


def rules(*pairs: tuple[str | None, str]) -> list[Rule]:
    return [Rule(when=condition, definition=definition) for condition, definition in pairs]


def problems(value: Json, faults: dict[str, Fault] | None = None) -> list[tuple[str, str, str | None]]:
    _, found = validate_routing(value, None, faults or {})
    return [(problem.code, problem.path, problem.suggestion) for problem in found]


def one(**rule: Any) -> Json:
    return {"rules": [{"definition": "invoice", **rule}]}


def test_the_first_rule_that_holds_decides() -> None:
    listed = rules(('type == "application/xml"', "xml"), ("size > 10000", "large"), (None, "rest"))
    assert find_route(listed, XML) == Route(0, "xml")
    assert find_route(listed, PDF) == Route(1, "large")
    assert find_route(listed[:1], PDF) == Route()


def test_without_rules_nothing_is_chosen() -> None:
    assert find_route([], PDF) == Route()


@pytest.mark.parametrize(
    "condition",
    [
        'tenant == "acme"',
        'type in ["application/pdf", "image/png"]',
        "size >= 20000 and size < 20001",
        'source == "email"',
        '"4711" in file_name',
        '".pdf" in (file_name | lower)',
        'not (source == "")',
    ],
)
def test_a_rule_reads_what_is_known_of_a_document(condition: str) -> None:
    assert find_route(rules((condition, "found")), PDF) == Route(0, "found")


@pytest.mark.parametrize("condition", ['size > "a"', "size", "type.main == 1 / 0", "("])
def test_a_rule_that_cannot_be_evaluated_is_passed_over_and_reported(condition: str) -> None:
    route = find_route(rules((condition, "broken"), (None, "rest")), PDF)
    assert (route.rule, route.definition, list(route.faults)) == (1, "rest", [0])


def test_valid_rules_have_no_problems() -> None:
    value = {"rules": [{"when": "size > 5", "definition": "a@4", "title": "Large"}, {"definition": "b@pilot"}]}
    routing, found = validate_routing(value, None, {})
    assert found == []
    assert routing is not None
    assert [rule.definition for rule in routing.rules] == ["a@4", "b@pilot"]


def test_no_rules_are_valid_too() -> None:
    assert problems({"rules": []}) == []
    assert problems({}) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], ("wrong-type", "$", None)),
        ({"rule": []}, ("unknown-field", "rule", "rules")),
        ({"rules": {}}, ("wrong-type", "rules", None)),
        (one(whn="size > 1"), ("unknown-field", "rules[0].whn", "when")),
        (one(when=True), ("wrong-type", "rules[0].when", None)),
        (one(when="size >"), ("bad-expression", "rules[0].when", None)),
        (one(when="siz > 1"), ("unknown-name", "rules[0].when", "size")),
        (one(when="inputs.amount > 1"), ("unknown-name", "rules[0].when", None)),
        (one(when="steps.a.status == 1"), ("unknown-name", "rules[0].when", None)),
        (one(when="size"), ("bad-condition", "rules[0].when", None)),
        (one(when='size > "large"'), ("bad-condition", "rules[0].when", None)),
        (one(when="type.main == 1"), ("bad-condition", "rules[0].when", None)),
        (one(definition="invoice@"), ("bad-reference", "rules[0].definition", None)),
        (one(definition=4), ("wrong-type", "rules[0].definition", None)),
        ({"rules": [{"when": "size > 1"}]}, ("missing-field", "rules[0].definition", None)),
        ({"rules": [{"definition": "a"}, {"definition": "b"}]}, ("unreachable-rule", "rules[1]", None)),
        ({"rules": [{"definition": "a", "when": "size == 1"}] * (MAX_RULES + 1)}, ("wrong-value", "rules", None)),
        ({"rules": [float("nan")]}, ("not-json", "rules[0]", None)),
    ],
)
def test_rules_that_cannot_match_are_reported(value: Json, expected: tuple[str, str, str | None]) -> None:
    assert problems(value) == [expected]


def test_problems_known_to_the_registry_are_reported_at_their_place() -> None:
    fault = Fault("unknown-definition", "there is no definition 'invoce'", "invoice")
    assert problems(one(definition="invoce"), {"invoce": fault}) == [
        ("unknown-definition", "rules[0].definition", "invoice")
    ]


def test_all_problems_come_at_once_in_the_order_of_the_text() -> None:
    source = read_source("rules:\n  - {when: siz > 1, definition: a}\n  - {when: size, definiton: b}\n")
    _, found = validate_routing(source.value, source.places, {"a": Fault("unknown-definition", "no a")})
    assert [(problem.code, problem.line, problem.column) for problem in found] == [
        ("unknown-name", 2, 12),
        ("unknown-definition", 2, 33),
        ("bad-condition", 3, 12),
        ("unknown-field", 3, 18),
    ]


def test_a_warning_does_not_refuse_the_rules() -> None:
    routing, found = validate_routing({"rules": [{"definition": "a"}, {"definition": "b"}]}, None, {})
    assert routing is not None
    assert [problem.severity for problem in found] == ["warning"]


@pytest.mark.parametrize("value", [None, 7, {}, {"rules": 7}, {"rules": [7, {"definition": 7}, {"definition": "a b"}]}])
def test_references_are_read_from_whatever_is_there(value: Json) -> None:
    assert references_of(value) == []


def test_each_reference_is_looked_up_once() -> None:
    assert references_of({"rules": [{"definition": "a"}, {"definition": "b@2"}, {"definition": "a"}]}) == ["a", "b@2"]
