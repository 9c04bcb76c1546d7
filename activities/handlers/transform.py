"""Handler `transform`: return its config with the templates resolved, or derive one value from another."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, RootModel, model_validator

from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.wording import describe
from docrail.handlers import Handler, StepCall, Tools

Operation = Literal[
    "uppercase",
    "lowercase",
    "trim",
    "length",
    "reverse",
    "sum",
    "join",
    "first",
    "last",
    "sort",
    "unique",
    "merge",
    "pick",
]


class Config(BaseModel, extra="allow", frozen=True):
    """Any fields: they are returned under their names. The fields below have a special meaning."""

    operation: Operation | None = Field(default=None, description="how `result` is derived from `data`")
    data: Json = Field(default=None, description="the operand of `operation`; without an operation it becomes `result`")
    input: Json = Field(default=None, description="alias of `data`")
    fields: list[str] = Field(default_factory=list, description="the fields that `pick` selects")
    separator: str = Field(default=" ", description="separator of `join`")

    @model_validator(mode="after")
    def _has_one_value(self) -> Self:
        given = self.model_fields_set & {"data", "input"}
        if len(given) > 1:
            raise ValueError("'input' is an alias of 'data': expected only one of them")
        if self.operation is not None and not given:
            raise ValueError(f"the operation {self.operation!r} needs 'data'")
        return self


class Output(RootModel[dict[str, Json]]):
    """The mapping, with `result` if there is `data`."""

    root: dict[str, Json] = Field(
        description="the config's fields by name; with `data`, also `result`; with `operation`, `result` replaces "
        "the fields that describe it"
    )


async def run(call: StepCall[Config], _tools: Tools) -> Output:
    """Return the mapping. Raises: TypeError, KeyError if `operation` does not fit its data (never retried)."""
    config = call.config
    given = {name: value for name, value in config.model_dump().items() if name in config.model_fields_set}
    mapping = {**given, **(config.model_extra or {})}
    value = mapping.get("data", mapping.get("input"))
    if config.operation is not None:
        return Output({**(config.model_extra or {}), "result": _apply(config.operation, value, config)})
    if "data" in mapping or "input" in mapping:
        mapping.setdefault("result", value)
    return Output(mapping)


def _apply(operation: str, value: Json, config: Config) -> Json:
    kinds, work = _OPERATIONS[operation]
    if not isinstance(value, kinds):
        wanted = " or ".join(_KINDS[kind] for kind in kinds)
        raise TypeError(f"the operation {operation!r} expects {wanted} as data, found {describe(value)}")
    try:
        return work(value, config)
    except TypeError:
        if operation not in _NEEDS:
            raise
        raise TypeError(
            f"the operation {operation!r} expects a list of {_NEEDS[operation]}, found other items"
        ) from None


def _merge(objects: list[Json]) -> Json:
    merged: dict[str, Json] = {}
    for found in objects:
        if not isinstance(found, dict):
            raise TypeError(f"the operation 'merge' expects a list of objects, found {describe(found)} in it")
        merged.update(found)
    return merged


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value)


_KINDS: Mapping[type, str] = {str: "a text", list: "a list", dict: "an object"}

_NEEDS: Mapping[str, str] = {"sum": "numbers", "sort": "either texts or numbers"}

_OPERATIONS: Mapping[str, tuple[tuple[type, ...], Callable[[Any, Config], Json]]] = {
    "uppercase": ((str,), lambda text, _: text.upper()),
    "lowercase": ((str,), lambda text, _: text.lower()),
    "trim": ((str,), lambda text, _: text.strip()),
    "length": ((str, list, dict), lambda value, _: len(value)),
    "reverse": ((str, list), lambda value, _: value[::-1]),
    "sum": ((list,), lambda numbers, _: sum(numbers)),
    "join": ((list,), lambda items, config: config.separator.join(map(_as_text, items))),
    "first": ((list,), lambda items, _: items[0] if items else None),
    "last": ((list,), lambda items, _: items[-1] if items else None),
    "sort": ((list,), lambda items, _: sorted(items)),
    "unique": ((list,), lambda items, _: list({canonical(item): item for item in reversed(items)}.values())[::-1]),
    "merge": ((list,), lambda objects, _: _merge(objects)),
    "pick": ((dict,), lambda found, config: {name: found[name] for name in config.fields}),
}

HANDLER = Handler("transform", Config, Output, run, aliases=("data_processor",), is_light=True)
