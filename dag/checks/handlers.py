"""Checks that each step's handler exists and that its `config` fits the handler's model, as far as it is literal."""

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dag.checks.fields import report_validation_error
from dag.checks.findings import Findings
from dag.checks.outline import Outline, StepOutline
from dag.checks.wording import known_names, quote
from dag.problems import Path
from dag.templates import has_template
from dag.values import Json


class HandlerModels(Protocol):
    """What a validator has to know of a handler: the models of what it takes and of what it gives."""

    @property
    def config(self) -> type[BaseModel]:
        """Return the model of a step's `config`."""
        ...

    @property
    def output(self) -> type[BaseModel]:
        """Return the model of the step's output."""
        ...


Catalogue = Mapping[str, HandlerModels]


def check_handlers(outline: Outline, catalogue: Catalogue, findings: Findings) -> None:
    """Report unknown handlers, and literal parts of a `config` that its handler's model refuses."""
    for step in outline.steps:
        handler = step.fields.get("handler")
        if not isinstance(handler, str):
            continue
        if handler not in catalogue:
            meant = findings.suggestions.closest(handler, catalogue)
            message = f"{step.name}: there is no handler '{quote(handler)}'"
            if meant is None:
                message += known_names(catalogue)
            findings.error("unknown-handler", (*step.path, "handler"), message, meant)
        else:
            _check_config(step, handler, catalogue[handler].config, findings)


def _check_config(step: StepOutline, handler: str, model: type[BaseModel], findings: Findings) -> None:
    config = step.fields.get("config", {})
    if not isinstance(config, dict):
        return
    try:
        model.model_validate(config)
    except ValidationError as error:
        report_validation_error(
            error,
            model,
            config,
            findings,
            base=(*step.path, "config"),
            owner=f"the config of handler '{handler}'",
            ignore=lambda fault: _may_be_right(fault, config),
        )


def _may_be_right(fault: ErrorDetails, config: dict[str, Json]) -> bool:
    """Tell whether the fault may be gone once the config's templates have their values."""
    value: Json = config
    loc: Path = fault["loc"]
    for depth, key in enumerate(loc):
        if has_template(value):
            return True
        below = _part(value, key)
        if below is _NOTHING:
            # A field that is not there is not there, whatever the templates beside it will say;
            # a deeper key that is no part of the value is pydantic's name for a choice within a union.
            certain = fault["type"] == "missing" and depth == len(loc) - 1
            return not certain and _holds_template(value)
        value = below
    return fault["type"] != "extra_forbidden" and _holds_template(value)


_NOTHING = object()


def _part(value: Json, key: str | int) -> Json:
    if isinstance(value, dict):
        return value.get(key, _NOTHING)
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return value[key]
    return _NOTHING


def _holds_template(value: Json) -> bool:
    if has_template(value):
        return True
    if isinstance(value, dict):
        return any(_holds_template(item) for item in value.values())
    return isinstance(value, list) and any(_holds_template(item) for item in value)
