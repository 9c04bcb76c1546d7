"""Check the fields of a definition: translate pydantic's errors into the author's terms."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from docrail.dag.language.definition import STEP_ALIASES, Definition, Step
from docrail.dag.language.step_kinds import Abort, Case, OnTimeout
from docrail.dag.language.version_refs import parse_ref
from docrail.dag.validation.document import suggestions
from docrail.dag.values.findings import MAX_PROBLEMS, Findings
from docrail.dag.values.json_parts import along
from docrail.dag.values.json_values import Json
from docrail.dag.values.model_fields import fixed_fields, model_at
from docrail.dag.values.problems import ID_PATTERN, Path, is_id
from docrail.dag.values.wording import choices_of, describe, field_name, known_names, quote, wording

_ID_RULE = "must begin with a letter and contain only letters, digits and _"
_NO_TEMPLATE = "; it takes no template, because it is read before a run starts"

MOST_ERRORS = 10 * MAX_PROBLEMS
"""Errors translated at most: more are never shown."""

Ignore = Callable[[ErrorDetails], bool]


def check_fields(document: dict[str, Json], findings: Findings) -> Definition | None:
    """Return the definition in `document`, None if its fields are wrong (every problem is reported)."""
    try:
        return Definition.model_validate_json(json.dumps(document), strict=True)
    except ValidationError as error:
        report_validation_error(error, Definition, document, findings)
        return None


def read_step(step: dict[str, Json]) -> Step:
    """Return the step in `step`. Raises: pydantic.ValidationError."""
    return Step.model_validate_json(json.dumps(step), strict=True)


def report_validation_error(
    error: ValidationError,
    model: type[BaseModel],
    value: Json,
    findings: Findings,
    *,
    base: Path = (),
    owner: str = "",
    ignore: Ignore = lambda _: False,
) -> None:
    """Report each problem that `model` found in `value`, which is at `base`.

    `owner` is the owner of the fields in messages; by default the step or object that contains them.
    """
    listed = islice(error.errors(include_url=False), MOST_ERRORS)
    faults = [fault for fault in listed if not ignore(fault) and not _is_miscounted(fault, value)]
    report = _Report(model, value, findings, base, owner)
    misspelt = {report.unknown(fault) for fault in faults if fault["type"] == "extra_forbidden"}
    for fault in faults:
        loc = _real(fault["loc"])
        if fault["type"] == "missing":
            if loc not in misspelt:  # `handlr` is one mistake, not an unknown field and a missing one
                report.missing(loc)
        elif fault["type"] != "extra_forbidden":
            report.wrong(fault)


def report_unknown(
    path: Path, known: Iterable[str], findings: Findings, *, owner: str, model: type[BaseModel] | None = None
) -> str | None:
    """Report the unknown field at `path` of `owner`, an object of `model`; return the field that was meant."""
    names, word = list(known), str(path[-1])
    note = suggestions.note_on(model, word)
    homes = [] if note else suggestions.homes_of(model, word)
    meant = None if homes or note else suggestions.translate(model, word) or findings.suggestions.closest(word, names)
    message = f"{owner} has no field '{quote(word)}'"
    if homes:
        message += f"; it belongs in {' or '.join(homes)}"
    elif note:
        message += f": {note}"
    elif meant is None:
        message += known_names(name for name in names if name not in STEP_ALIASES)
    findings.error("unknown-field", path, message, meant, at_key=True)
    return meant


def _alternatives(names: Iterable[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


@dataclass(frozen=True, slots=True)
class _Report:
    model: type[BaseModel]
    value: Json
    findings: Findings
    base: Path
    owner: str

    def unknown(self, fault: ErrorDetails) -> Path:
        """Report an unknown field; return its path under the name that was probably meant."""
        loc = fault["loc"]
        meant = report_unknown(
            (*self.base, *loc),
            self._known(loc),
            self.findings,
            owner=self._owner(loc),
            model=model_at(self.model, loc[:-1]),
        )
        if meant is None:
            return loc
        place = (*loc[:-1], STEP_ALIASES.get(meant, meant))
        around = _at(self.value, loc[:-1])
        if isinstance(around, dict) and place[-1] not in around:
            self.findings.renames[*self.base, *place] = str(loc[-1])
        return place

    def missing(self, loc: Path) -> None:
        message = f"{self._owner(loc)} needs the field '{loc[-1]}'{self._choices(loc)}"
        self.findings.error("missing-field", (*self.base, *loc), message)

    def _choices(self, loc: Path) -> str:
        """Return the allowed values of a missing field, if it is an enum."""
        model = model_at(self.model, loc[:-1])
        kind = (fixed_fields(model) or {}).get(str(loc[-1])) if model is not None else None
        return f": {_alternatives(kind)}" if isinstance(kind, type) and issubclass(kind, StrEnum) else ""

    def wrong(self, fault: ErrorDetails) -> None:
        loc = _written(self.value, _real(fault["loc"]))
        path = (*self.base, *loc)
        found = _at(self.value, loc)
        is_key = _real(fault["loc"]) != fault["loc"]
        if fault["type"] == "string_pattern_mismatch" and fault.get("ctx", {}).get("pattern") == ID_PATTERN:
            self._bad_id(path, str(loc[-1] if is_key else found), at_key=is_key)
            return
        context = fault.get("ctx", {})
        code, rule = wording(fault["type"], context, fault["msg"])
        model = model_at(self.model, loc)
        name = field_name(self.findings.author_path(path))
        subject = f"'{name}'" if path else name
        message = f"{subject} {_with_form(rule, path, model)}, found {describe(found)}"
        meant, remark = suggestions.meant_value(rule, found, model, path), ""
        if meant is None and isinstance(found, str):
            choices = choices_of(context)
            meant = suggestions.meant_choice(found, choices) or self.findings.suggestions.closest(found, choices)
            if self._is_template(found):
                remark = _NO_TEMPLATE
            elif model is OnTimeout:
                remark, meant = suggestions.meant_end(found, is_name=is_id(found))
        if path[-2:] == ("on_timeout", "then") and meant is None:
            remark = suggestions.remark_on_then(found)
        self.findings.error(code, path, message + remark, meant, at_key=is_key)

    def _is_template(self, found: str) -> bool:
        """Return whether a template was written where the definition allows none."""
        return "{{" in found and self.model in (Definition, Step)

    def _bad_id(self, path: Path, text: str, *, at_key: bool) -> None:
        fixed = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
        message, ref = f"'{quote(text)}' cannot be an id: it {_ID_RULE}", parse_ref(text)
        if self._is_template(text):
            message, fixed = message + _NO_TEMPLATE, ""
        elif ref is not None:  # as `docrail run` takes it
            message += "" if ref.version is None else f"; write the version separately, as 'version: {ref.version}'"
            fixed = ref.definition_id
        elif suggestions.names_branch(path) and "." in text:
            message += "; write the branch without its step here, and as STEP.NAME in 'depends_on'"
            fixed = text.rpartition(".")[2]
        self.findings.error("bad-id", path, message, fixed if is_id(fixed) else None, at_key=at_key)

    def _known(self, loc: Path) -> Iterator[str]:
        model = model_at(self.model, loc[:-1])
        if model is not None:
            yield from fixed_fields(model) or ()
        if model is Step:
            yield from STEP_ALIASES
        if model is Definition:
            yield "defaults"

    def _owner(self, loc: Path) -> str:
        """Return the owner of the field at `loc`: `step 'extract'`, `'retry_config'`, `the definition`."""
        if self.owner and len(loc) == 1:
            return self.owner
        around = (*self.base, *loc[:-1])
        if len(around) == len(("steps", 0)) and around[0] == "steps":
            step = _at(self.value, loc[:-1])
            name = step.get("id") if isinstance(step, dict) else None
            return f"step '{quote(name)}'" if isinstance(name, str) else "the step"
        return f"'{field_name(self.findings.author_path(around))}'" if around else "the definition"


def _is_miscounted(fault: ErrorDetails, value: Json) -> bool:
    """Return whether a list counts as too short only because pydantic does not count its invalid entries."""
    found = _at(value, fault["loc"])
    return fault["type"] == "too_short" and isinstance(found, list) and len(found) >= fault["ctx"]["min_length"]


_LISTS = {
    "steps": " of steps, each beginning with `- id: NAME`",
    "switch": " of cases, as in [{when: EXPRESSION, branch: NAME}, {else: NAME}]",
    "depends_on": " of ids, as in [extract, save]",
    "tests": " of tests, each beginning with `- name: WHAT IT SHOWS`",
}
"""Form of a list's entries, by its field."""

_PARTS: Mapping[type[BaseModel], str] = {
    Abort: "must be a text: why the run ends",
    Case: "must be a case, {when: EXPRESSION, branch: NAME} or as the last one {else: NAME}",
}
"""The expected form of a part that is not an object."""


def _with_form(rule: str, path: Path, model: type[BaseModel] | None) -> str:
    """Return `rule` with the expected form; some parts may be a text instead of an object."""
    if rule == "must be a list":
        return rule + _LISTS.get(str(path[-1]), "")
    if rule == "must be a text":
        return rule + _text_for(path)
    if model is OnTimeout:
        return "must be 'abort', 'fail', 'continue' or {branch: NAME}"
    if path[-2:] == ("workflow", "version") and rule == "must be a whole number":
        return rule + ", or omitted for the version of new runs"
    return _PARTS.get(model, rule) if model is not None and rule == "must be an object" else rule


def _text_for(path: Path) -> str:
    """Return the purpose of a text at `path`, where authors often write something else."""
    if suggestions.names_branch(path):
        return ", a name of your own, for steps with depends_on: [STEP.NAME]"
    is_condition = path[-3:-2] == ("switch",) or path[:1] + path[2:] == ("steps", "condition")
    return ", a condition such as inputs.total > 10" if is_condition else ""


def _real(loc: Path) -> Path:
    """Return `loc` without pydantic's "[key]" marker for errors in a key."""
    return loc[:-1] if loc and loc[-1] == "[key]" else loc


def _written(value: Json, loc: Path) -> Path:
    """Return the part of `loc` that the author wrote: a text may be short for an object, whose fields are unwritten."""
    *above, last = along(value, loc)
    return loc if isinstance(last, dict | list) else loc[: len(above)]


def _at(value: Json, loc: Path) -> Json:
    """Return the part at `loc`, or the last one that exists along it."""
    return [*along(value, loc)][-1]
