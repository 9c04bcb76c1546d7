"""The secrets that a step may get: those named in its definition, whatever a run's values contain."""

from docrail.dag.engine.plan import compile_plan
from docrail.dag.language.secret_names import secrets_in
from docrail.dag.values.json_values import Json
from tests.dag.definitions import definition, step


def test_names_are_reported_once_and_in_order_wherever_they_are() -> None:
    config: Json = {"b": ["secret://two", {"c": "Bearer secret://one"}], "a": "secret://two:secret://three", "n": 1}
    assert secrets_in(config) == ("two", "one", "three")


def test_plain_text_names_no_secret() -> None:
    assert secrets_in({"a": "secret://", "b": "secret:///etc/passwd", "secret://key": True, "c": "secrets"}) == ()


def test_a_literal_within_an_expression_is_the_authors_too() -> None:
    assert secrets_in("Bearer {{ 'secret://live' if inputs.live else 'secret://test' }}") == ("live", "test")


def test_a_name_that_a_template_completes_is_not_named() -> None:
    assert secrets_in("secret://{{ inputs.name }}") == ()


def test_a_plan_knows_the_names_of_a_step_and_of_what_undoes_it_apart() -> None:
    undo = {"handler": "send", "config": {"headers": {"A": "secret://undo", "B": "{{ inputs.note }}"}}}
    config = {"headers": {"A": "secret://do"}}
    [compiled] = compile_plan(definition(step("a", config=config, compensate=undo))).steps
    assert (compiled.secrets, compiled.compensation_secrets) == (("do",), ("undo",))
