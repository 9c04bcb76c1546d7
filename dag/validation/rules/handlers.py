"""Check that each step's handler exists and that the literal parts of its `config` fit the handler's model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from docrail.dag.language.definition import Definition, Step
from docrail.dag.language.expressions.templates import has_template
from docrail.dag.validation.document.fields import report_validation_error
from docrail.dag.validation.document.outline import Outline, templates_in
from docrail.dag.validation.document.suggestions import COMMANDS, EXAMPLES
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_parts import along
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path
from docrail.dag.values.wording import known_names, quote


class HandlerModels(Protocol):
    """What validation needs of a handler: its names, and the models of its config and its output."""

    @property
    def name(self) -> str:
        """Return the name that runs use."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Return the other names that a definition may use."""

    @property
    def config(self) -> type[BaseModel]:
        """Return the model of a step's `config`."""

    @property
    def output(self) -> type[BaseModel]:
        """Return the model of the step's output."""


@runtime_checkable
class HasBroken(Protocol):
    """A catalogue that also knows handlers that failed to load."""

    @property
    def broken(self) -> Mapping[str, str]:
        """Return their errors, with file and line, by the handler's name."""


Catalogue = Mapping[str, HandlerModels]
"""Handlers by name. Looking up an alias finds its handler; iteration yields each handler once."""


def check_handlers(outline: Outline, catalogue: Catalogue, findings: Findings) -> None:
    """Report unknown handlers, and literal parts of a `config` that the handler's model refuses."""
    for step in outline.steps:
        _check_use(_Use(step.name, step.path, step.fields), catalogue, findings)
        if isinstance(undo := step.fields.get("compensate"), dict):
            use = _Use(f"compensate of {step.name}", (*step.path, "compensate"), undo)
            _check_use(use, catalogue, findings)


@dataclass(frozen=True, slots=True)
class _Use:
    """A use of a handler with its config: a step, or its compensation."""

    name: str
    path: Path
    fields: dict[str, Json]


def _check_use(use: _Use, catalogue: Catalogue, findings: Findings) -> None:
    handler = use.fields.get("handler")
    if not isinstance(handler, str) or (*use.path, "handler") in findings.reported:
        return
    if handler in catalogue:
        _check_config(use, handler, catalogue[handler].config, findings)
        return
    if isinstance(catalogue, HasBroken) and (error := catalogue.broken.get(handler)):
        message = f"{use.name}: the handler '{quote(handler)}' cannot be used: {error}"
        findings.error("broken-handler", (*use.path, "handler"), message)
        return
    message = f"{use.name}: there is no handler '{quote(handler)}'"
    if kind := COMMANDS.get(handler):
        message += f": that is a kind of step, written `{EXAMPLES[kind]}`"
        findings.error("unknown-handler", (*use.path, "handler"), message)
        return
    names = [name for known in catalogue.values() for name in (known.name, *known.aliases)]
    meant = findings.suggestions.closest(handler, names)
    message += "" if meant else known_names(catalogue)
    findings.error("unknown-handler", (*use.path, "handler"), message, meant)


def with_own_names(definition: Definition, catalogue: Catalogue) -> Definition:
    """Return the definition with every handler under its own name, whichever alias the author used."""
    steps = tuple(_with_own_names(step, catalogue) for step in definition.steps)
    return definition.model_copy(update={"steps": steps})


def _with_own_names(step: Step, catalogue: Catalogue) -> Step:
    if step.handler is not None and step.handler in catalogue:
        step = step.model_copy(update={"handler": catalogue[step.handler].name})
    if step.compensate is not None and step.compensate.handler in catalogue:
        undo = step.compensate.model_copy(update={"handler": catalogue[step.compensate.handler].name})
        step = step.model_copy(update={"compensate": undo})
    return step


def _check_config(use: _Use, handler: str, model: type[BaseModel], findings: Findings) -> None:
    config = use.fields.get("config", {})
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
            base=(*use.path, "config"),
            owner=f"the config of handler '{handler}'",
            ignore=lambda fault: _may_be_right(fault, config),
        )


def _may_be_right(fault: ErrorDetails, config: dict[str, Json]) -> bool:
    """Return whether the problem may disappear once the config's templates are resolved."""
    *above, last = along(config, fault["loc"])
    is_there = len(above) == len(fault["loc"])
    if any(map(has_template, above if is_there else (*above, last))):
        return True
    # A missing field is missing whatever the templates next to it give; a deeper key that is no part of the value is
    # pydantic's name for a choice within a union.
    is_certain = fault["type"] == ("extra_forbidden" if is_there else "missing") and len(above) >= len(fault["loc"]) - 1
    return not is_certain and next(templates_in((), last), None) is not None
