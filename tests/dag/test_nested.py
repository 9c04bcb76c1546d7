"""In which order definitions are published that run each other."""

import pytest

from docrail.dag.language.definition import Definition
from docrail.dag.validation.lint.nested import publishing_order


def of(definition_id: str, *nested: str, version: int | None = None) -> Definition:
    """Return a definition whose steps run the nested ones."""
    steps = [{"id": f"run_{inner}", "workflow": {"id": inner, "version": version}} for inner in nested]
    return Definition.model_validate({"id": definition_id, "steps": steps or [{"id": "a", "handler": "noop"}]})


@pytest.mark.parametrize(
    ("definitions", "order"),
    [
        ([of("outer", "inner"), of("inner")], [1, 0]),
        ([of("outer", "inner", version=1), of("inner")], [1, 0]),
        ([of("inner"), of("outer", "inner")], [0, 1]),
        ([of("a"), of("b"), of("c")], [0, 1, 2]),
        ([of("outer", "middle"), of("middle", "inner"), of("inner", "elsewhere")], [2, 1, 0]),
        ([of("outer", "inner"), of("inner", "outer"), of("other")], [0, 1, 2]),
        ([], []),
    ],
    ids=["inside second", "a version of it", "inside first", "strangers", "deep", "a circle", "none"],
)
def test_nested_definitions_are_published_first(definitions: list[Definition], order: list[int]) -> None:
    assert publishing_order(definitions) == order


def test_versions_of_one_definition_keep_their_order_for_the_last_is_what_new_runs_get() -> None:
    first, second = of("outer", "inner"), of("outer")
    assert publishing_order([first, second, of("inner")]) == [2, 0, 1]
    assert publishing_order([of("outer", "inner"), of("inner"), of("inner")]) == [1, 2, 0]
