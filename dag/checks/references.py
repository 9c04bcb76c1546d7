"""Checks expressions and templates: their syntax, and that everything they read exists by the time they are read."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from dag.checks.findings import Findings
from dag.checks.graph import Ancestors
from dag.checks.handlers import Catalogue
from dag.checks.outline import Outline, StepOutline
from dag.checks.shapes import find_unknown_field
from dag.checks.wording import known_names, quote
from dag.expressions import ExpressionError, compile_expression
from dag.problems import Path
from dag.templates import compile_template, has_template
from dag.values import Json, canonical

CONTEXT_WORDS = ("document", "workflow", "run")
"""Words whose content the run brings; what is below them is not known here."""

MAX_EXPRESSIONS = 20_000
"""Four for each step of the largest definition; compiling one takes up to a third of a millisecond."""

STEP_ATTRIBUTES = ("status", "error", "attempts", "reason", "decided_by", "output")
"""What `steps.<id>` shows."""

_ELSEWHERE = {
    "item": "'item' has a value only where a step runs once for each element of a list",
    "index": "'index' has a value only where a step runs once for each element of a list",
    "previous": "'previous' has a value only in a list of steps without dependencies",
}

_References = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Who reads: a step, or the definition's outputs, which are read when every step has settled."""

    path: Path
    step: StepOutline | None


@dataclass(slots=True)
class _Compiled:
    """What was compiled already: definitions repeat the same few templates in many steps."""

    conditions: dict[str, _References | str] = field(default_factory=dict)
    templates: dict[str, _References | str] = field(default_factory=dict)

    def condition(self, text: str) -> _References | str:
        """Return what the expression refers to, or what is wrong with it."""
        if text not in self.conditions:
            try:
                self.conditions[text] = compile_expression(text).references
            except ExpressionError as error:
                self.conditions[text] = error.message
        return self.conditions[text]

    def template(self, value: Json) -> _References | str:
        """Return what the template refers to, or what is wrong with it."""
        key = canonical(value)
        if key not in self.templates:
            try:
                self.templates[key] = compile_template(value).references
            except ExpressionError as error:
                self.templates[key] = error.message
        return self.templates[key]


def check_references(outline: Outline, above: Ancestors, catalogue: Catalogue, findings: Findings) -> None:
    """Report expressions that cannot be compiled, and references that can never be resolved."""
    count = _count(outline)
    if count > MAX_EXPRESSIONS:
        message = f"the definition has {count} expressions, more than {MAX_EXPRESSIONS}"
        findings.error("too-many-expressions", (), message)
        return
    names = outline.ids | {"inputs", "steps", *CONTEXT_WORDS}
    check = _Check(outline, above, catalogue, findings, names)
    compiled = _Compiled()
    for step in outline.steps:
        condition = step.fields.get("condition")
        if isinstance(condition, str):
            check.found(_Reader((*step.path, "condition"), step), compiled.condition(condition), condition)
        for path, template in _templates((*step.path, "config"), step.fields.get("config")):
            check.found(_Reader(path, step), compiled.template(template))
    for path, template in _templates(("outputs",), outline.outputs):
        check.found(_Reader(path, None), compiled.template(template))


def _count(outline: Outline) -> int:
    values = [("config", step.fields.get("config")) for step in outline.steps] + [("outputs", outline.outputs)]
    templates = (template for word, value in values for _, template in _templates((word,), value))
    conditions = sum(isinstance(step.fields.get("condition"), str) for step in outline.steps)
    return conditions + sum(template.count("{{") if isinstance(template, str) else 1 for template in templates)


def _templates(path: Path, value: Json) -> Iterator[tuple[Path, Json]]:
    """Yield each template within `value` and where it stands, in the text's order."""
    pending = [(path, value)]
    while pending:
        where, part = pending.pop()
        if has_template(part):
            yield where, part
        elif isinstance(part, dict):
            pending.extend(((*where, key), item) for key, item in reversed(part.items()))
        elif isinstance(part, list):
            pending.extend(((*where, index), part[index]) for index in reversed(range(len(part))))


@dataclass(frozen=True, slots=True)
class _Check:
    outline: Outline
    above: Ancestors
    catalogue: Catalogue
    findings: Findings
    names: frozenset[str]
    """What an expression may begin with."""

    def found(self, reader: _Reader, compiled: _References | str, condition: str | None = None) -> None:
        """Check what compiling gave: references, or the text of an error."""
        if isinstance(compiled, str):
            self._report("bad-expression", reader, compiled, _without_braces(condition))
            return
        for reference in compiled:
            self._check(reader, reference)

    def _check(self, reader: _Reader, reference: tuple[str, ...]) -> None:
        root, *rest = reference
        if root == "inputs":
            self._check_input(reader, rest)
        elif root == "steps":
            self._check_status(reader, rest)
        elif root in _ELSEWHERE:
            self._report("unknown-name", reader, _ELSEWHERE[root])
        elif root not in CONTEXT_WORDS and self._check_step(reader, root, "unknown-name", self.names):
            self._check_output(reader, root, rest)

    def _check_input(self, reader: _Reader, rest: list[str]) -> None:
        declared = self.outline.inputs
        if not rest or declared is None or rest[0] in declared:
            return
        meant = self.findings.suggestions.closest(rest[0], declared)
        message = f"there is no input '{quote(rest[0])}'"
        if meant is None:
            message += known_names(declared)
        self._report("unknown-input", reader, message, meant)

    def _check_status(self, reader: _Reader, rest: list[str]) -> None:
        step_id, *attribute = rest
        if not self._check_step(reader, step_id, "unknown-step", self.outline.ids) or not attribute:
            return
        if attribute[0] == "output":
            self._check_output(reader, step_id, attribute[1:])
        elif attribute[0] not in STEP_ATTRIBUTES:
            meant = self.findings.suggestions.closest(attribute[0], STEP_ATTRIBUTES)
            message = f"'steps.{step_id}' has no '{quote(attribute[0])}'{known_names(STEP_ATTRIBUTES)}"
            self._report("unknown-attribute", reader, message, meant)

    def _check_step(self, reader: _Reader, step_id: str, code: str, known: frozenset[str]) -> bool:
        """Report a step that is not there or does not settle before it is read; tell whether it is there."""
        number = self.outline.index.get(step_id)
        if number is None:
            meant = self.findings.suggestions.closest(step_id, known)
            self._report(code, reader, f"there is no step '{quote(step_id)}' to read from", meant)
            return False
        step = reader.step
        if step is None:
            return True
        if step.number == number:
            self._report("not-upstream", reader, f"{step.name} reads from itself")
        elif not self.above.may_include(number, step.number):
            later = self.above.may_include(step.number, number)
            advice = "which runs after it" if later else f"but does not wait for it: add '{step_id}' to its depends_on"
            self._report("not-upstream", reader, f"{step.name} reads from '{step_id}', {advice}")
        return True

    def _check_output(self, reader: _Reader, step_id: str, rest: list[str]) -> None:
        handler = self.outline.steps[self.outline.index[step_id]].fields.get("handler")
        models = self.catalogue.get(handler) if isinstance(handler, str) else None
        unknown = find_unknown_field(models.output, tuple(rest)) if models is not None else None
        if unknown is None:
            return
        owner, name = ".".join((step_id, *rest[: unknown.depth])), rest[unknown.depth]
        meant = self.findings.suggestions.closest(name, unknown.known)
        message = f"the output '{owner}' of handler '{handler}' has no field '{quote(name)}'"
        if meant is None:
            message += known_names(unknown.known)
        self._report("unknown-output", reader, message, meant)

    def _report(self, code: str, reader: _Reader, message: str, meant: str | None = None) -> None:
        self.findings.error(code, reader.path, message, meant)


def _without_braces(condition: str | None) -> str | None:
    """Return the condition a text in `{{ }}` means: a condition is an expression already."""
    text = (condition or "").strip()
    inside = text[2:-2].strip()
    return inside if text.startswith("{{") and text.endswith("}}") and "{{" not in inside else None
