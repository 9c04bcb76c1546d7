"""Normalise a document: replace aliases, link commands to a chain, and merge `defaults` into the steps.

Also fills in the config of `input` steps (the run's inputs) and `output` steps (the outputs of their parents by id).
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pydantic import ValidationError

from docrail.dag.language.definition import DEFAULTABLE, STEP_ALIASES, Definition, Step
from docrail.dag.language.expressions.templates import PATH_KEY
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.validation.document.fields import read_step, report_unknown, report_validation_error
from docrail.dag.validation.spellings.chain import link
from docrail.dag.validation.spellings.commands import read_commands
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_parts import along, replaced
from docrail.dag.values.json_values import Json
from docrail.dag.values.wording import describe

NO_FALLBACKS: Mapping[str, Json] = MappingProxyType({})
"""The defaults of an installation that changes none."""


def normalise(
    document: dict[str, Json],
    findings: Findings,
    fallbacks: Mapping[str, Json] = NO_FALLBACKS,
    *,
    is_bare: bool = False,
) -> dict[str, Json]:
    """Return `document` with aliases replaced, commands linked and defaults merged; unreadable parts are unchanged.

    `fallbacks`: the installation's defaults, for what the author gives none. `is_bare`: the author wrote only the list
    of steps (see chain.py).
    """
    defaults = dict(_usable_defaults(document.get("defaults", {}), findings))
    normalised = {key: value for key, value in document.items() if key != "defaults"}
    steps = document.get("steps")
    if isinstance(steps, list):
        normalised["steps"] = [
            _without_aliases(number, step, findings) if isinstance(step, dict) else step
            for number, step in enumerate(steps)
        ]
        normalised["steps"] = read_commands(normalised["steps"], findings)
        normalised = link(normalised, findings, is_bare=is_bare)
        normalised["steps"] = [_merge(fallbacks, defaults, step) for step in normalised["steps"]]
    return normalised


def repair(
    document: dict[str, Json], findings: Findings, fallbacks: Mapping[str, Json] = NO_FALLBACKS
) -> dict[str, Json]:
    """Return `document` with misspelt fields renamed as probably meant, so that one typo has no follow-up errors."""
    repaired: Json = document
    for path, word in findings.renames.items():
        *above, around = along(repaired, path[:-1])
        # An alias is replaced already.
        if len(above) == len(path) - 1 and isinstance(around, dict) and word in around:
            renamed = {(path[-1] if field == word else field): value for field, value in around.items()}
            repaired = replaced(repaired, path[:-1], renamed)
    # `normalise` did not see steps under a misspelt field.
    return normalise(repaired, findings, fallbacks) if ("steps",) in findings.renames else repaired


def _without_aliases(number: int, step: dict[str, Json], findings: Findings) -> dict[str, Json]:
    renamed: dict[str, Json] = {}
    for word, value in step.items():
        name = STEP_ALIASES.get(word, word)
        if name != word and name in step:
            message = f"'{word}' is an alias of '{name}'; keep one of them"
            findings.error("alias-conflict", ("steps", number, word), message, at_key=True)
            continue
        if name != word:
            findings.renames["steps", number, name] = word
        renamed[name] = value
    return renamed


def _merge(fallbacks: Mapping[str, Json], defaults: dict[str, Json], step: Json) -> Json:
    """Return the step with the defaults that it does not override. They apply to handler steps only."""
    layers = (fallbacks, defaults, step)
    if not isinstance(step, dict) or not (fallbacks or defaults) or step.get(StepKind.HANDLER) is None:
        return step
    merged = {**fallbacks, **defaults, **step}
    retries = [layer["retry_config"] for layer in layers if "retry_config" in layer]
    if all(isinstance(retry, dict) for retry in retries):
        merged |= {"retry_config": _merge_retries(fallbacks, retries)} if retries else {}
    return merged


def _merge_retries(fallbacks: Mapping[str, Json], retries: list[dict[str, Json]]) -> dict[str, Json]:
    """Return the delays of a step; a longer first delay of the author's lifts the installation's longest one."""
    merged = {name: value for retry in retries for name, value in retry.items()}
    first, most = merged.get("initial_delay"), fallbacks.get("retry_config", {}).get("max_delay")
    if most is not None and merged["max_delay"] == most and isinstance(first, int | float) and first > most:
        merged["max_delay"] = first
    return merged


def _usable_defaults(defaults: Json, findings: Findings) -> Iterator[tuple[str, Json]]:
    """Yield the valid defaults; invalid ones are reported once here instead of at every step."""
    if not isinstance(defaults, dict):
        findings.error("wrong-type", ("defaults",), f"'defaults' must be an object, found {describe(defaults)}")
        return
    for name in defaults:
        if name not in DEFAULTABLE:
            report_unknown(("defaults", name), DEFAULTABLE, findings, owner="'defaults'")
    given = {name: defaults[name] for name in DEFAULTABLE if name in defaults}
    wrong: set[str | int] = set()
    try:
        # A minimal step, so that defaults obey the same rules as the fields they fill.
        read_step({"id": "step", "handler": "handler", **given})
    except ValidationError as error:
        report_validation_error(error, Step, given, findings, base=("defaults",))
        wrong = {fault["loc"][0] for fault in error.errors(include_url=False)}
    yield from ((name, value) for name, value in given.items() if name not in wrong)


BEGINNING = "input"
"""The handler that gives a run's inputs to the steps after it; it may be written without a config."""

END = "output"
"""The handler that collects a run's results; without a config, the outputs of its parents."""


def give_ends(definition: Definition) -> Definition:
    """Return the definition with a config for each `input` and `output` step that has none."""
    configs = {step.id: config for step in definition.steps if (config := _config_of(definition, step))}
    if not configs:
        return definition
    steps = (
        step.model_copy(update={"config": configs[step.id]}) if step.id in configs else step
        for step in definition.steps
    )
    return definition.model_copy(update={"steps": tuple(steps)})


def _config_of(definition: Definition, step: Step) -> dict[str, Json] | None:
    if step.config or step.handler not in (BEGINNING, END):
        return None
    if step.handler == BEGINNING:
        return {PATH_KEY: ["inputs"]} if definition.inputs else None
    # Read through `steps`: the output of a skipped parent is null there, and an error elsewhere.
    return {parent: {PATH_KEY: ["steps", parent, "output"]} for parent in step.depends_on}
