"""Check expressions and templates: their syntax, and that everything they read exists by the time they run.

Each expression is compiled once.
"""

from dataclasses import dataclass, field

from docrail.dag.language.expressions.expression import Expression, compile_expression, parse_text
from docrail.dag.language.expressions.expression_errors import explain
from docrail.dag.language.expressions.templates import compile_template
from docrail.dag.language.step_kinds import StepKind, WaitFor
from docrail.dag.validation.document.outline import (
    CONTEXT,
    OWN_WORDS,
    Outline,
    Part,
    StepOutline,
    parts_of,
    templates_in,
)
from docrail.dag.validation.document.suggestions import NAMES, SECRETS
from docrail.dag.validation.rules.graph import Ancestors
from docrail.dag.validation.rules.handlers import Catalogue
from docrail.dag.validation.rules.outputs import find_unknown_output
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.problems import Path
from docrail.dag.values.wording import known_names, quote

References = tuple[tuple[str, ...], ...]


def _compiled(value: Json, *, is_expression: bool) -> References | str:
    """Return the paths that an expression or a template reads, or what is wrong with it."""
    try:
        if is_expression:
            expression = compile_expression(value)
            return expression.misuse or expression.references
        return _misuse_in(value) or compile_template(value).references
    except ExpressionError as error:
        return explain(error.message)


def _misuse_in(template: Json) -> str | None:
    """Return why an expression of the template fails with every value. Raises: ExpressionError."""
    if not isinstance(template, str) or ("|" not in template and " is " not in template):
        return None
    pieces = parse_text(template)
    return next((piece.misuse for piece in pieces if isinstance(piece, Expression) and piece.misuse), None)


MAX_EXPRESSIONS = 20_000
"""Four for each step of the largest definition; compiling one takes up to a third of a millisecond."""

STEP_ATTRIBUTES = ("status", "error", "attempts", "reason", "decided_by", "output", "branch", "answered_by")
"""The fields of `steps.<id>`."""

_ITEM_WORDS = ("item", "index")


@dataclass(frozen=True, slots=True)
class _Reader:
    """The owner of an expression: a part of a step, or the outputs, which are resolved when every step has settled."""

    path: Path
    step: StepOutline | None
    part: Part


def check_references(outline: Outline, above: Ancestors, catalogue: Catalogue, findings: Findings) -> None:
    """Report expressions that cannot be compiled, and references that can never be resolved."""
    parts = [part for step in outline.steps for part in parts_of(step.fields)]
    values = [part.value for part in parts if not part.is_expression] + [outline.outputs]
    templates = (template for value in values for _, template in templates_in((), value))
    expressions = sum(part.is_expression for part in parts)
    count = expressions + sum(template.count("{{") if isinstance(template, str) else 1 for template in templates)
    if count > MAX_EXPRESSIONS:
        message = f"the definition has {count} expressions, more than {MAX_EXPRESSIONS}"
        findings.error("too-many-expressions", (), message)
        return
    names = outline.ids | OWN_WORDS
    webhooks = frozenset(step.id for step in outline.steps if step.id is not None and _waits_for_webhook(step))
    check = _Check(outline, above, catalogue, findings, names, webhooks)
    for step in outline.steps:
        for part in parts_of(step.fields):
            check.part((*step.path, *part.path), step, part)
    check.part(("outputs",), None, Part(("outputs",), outline.outputs))
    check.warn_of_unsent()


def _waits_for_webhook(step: StepOutline) -> bool:
    return step.kind is StepKind.WAIT and step.part("wait").get("for") == WaitFor.WEBHOOK


@dataclass(frozen=True, slots=True)
class _Check:
    outline: Outline
    above: Ancestors
    catalogue: Catalogue
    findings: Findings
    names: frozenset[str]
    """Names with which an expression may begin."""
    webhooks: frozenset[str]
    """The steps that wait for a webhook."""
    sent: set[str] = field(default_factory=set)
    """Those of them whose callback URL is read somewhere."""
    compiled: dict[tuple[bool, str], References | str] = field(default_factory=dict)
    """The compiled texts: definitions repeat the same few templates in many steps."""

    def part(self, path: Path, step: StepOutline | None, part: Part) -> None:
        """Check each expression in a part of a step, or in the outputs."""
        found = [(path, part.value)] if part.is_expression else templates_in(path, part.value)
        for where, value in found:
            key = part.is_expression, canonical(value)
            if key not in self.compiled:
                self.compiled[key] = _compiled(value, is_expression=part.is_expression)
            self._found(_Reader(where, step, part), self.compiled[key], value)

    def _found(self, reader: _Reader, compiled: References | str, value: Json) -> None:
        """Check a compiled result: references, or an error text."""
        if isinstance(compiled, str):
            text = value.strip() if reader.part.is_expression else ""
            inside = text[2:-2].strip()
            meant = inside if text.startswith("{{") and text.endswith("}}") and "{{" not in inside else None
            message = compiled if meant is None else "this is already an expression: write it without {{ }}"
            self._report("bad-expression", reader, message, meant)
            return
        if not compiled and reader.part.is_condition:
            message = "the condition reads no value of the run, so it is the same in every run: remove it, or let it"
            self.findings.lint("constant-condition", reader.path, f"{message} read an input or a step")
        for reference in compiled:
            self._check(reader, reference)

    def _check(self, reader: _Reader, reference: tuple[str, ...]) -> None:
        root, *rest = reference
        if root == "inputs":
            self._check_input(reader, rest)
        elif root == "steps":
            self._check_status(reader, rest)
        elif root in _ITEM_WORDS:
            self._check_item_word(reader, root)
        elif root == "previous":
            message = "'previous' has a value only in a list of steps without 'depends_on'"
            self._report("unknown-name", reader, message)
        elif root == "run" and rest[:1] in ([], ["callbacks"]):
            self.sent.update(rest[1:2] or self.webhooks)
            self._check_callback(reader, rest[1:])
        elif root in self.outline.index:
            self._check_step(reader, root)
            self._check_output(reader, root, rest)
        elif root in CONTEXT:
            self._check_context(reader, root, rest)
        else:
            self._report_name(reader, reference)

    def _check_item_word(self, reader: _Reader, word: str) -> None:
        if reader.part.sees_item:
            return
        message = f"'{word}' has a value only in a step with 'for_each': in its config, inputs or 'for_each.key'"
        if reader.step is not None and reader.step.fields.get("for_each") is not None:
            message = f"'{word}' has no value here: this is evaluated once for the whole step, before its items"
        self._report("unknown-name", reader, message)

    def _check_context(self, reader: _Reader, root: str, rest: list[str]) -> None:
        known = CONTEXT[root]
        if known is not None and rest and rest[0] not in known:
            self.findings.unknown("unknown-name", reader.path, f"'{root}' has no '{quote(rest[0])}'", rest[0], known)

    def warn_of_unsent(self) -> None:
        """Warn about each wait for a webhook whose callback URL is never read."""
        for step_id in sorted(self.webhooks - self.sent):
            step = self.outline.steps[self.outline.index[step_id]]
            message = f"nothing reads `run.callbacks.{step_id}`, the URL that '{step_id}' waits for"
            self.findings.lint(
                "unsent-callback", (*step.path, "wait", "for"), f"{message}: let an earlier step send it"
            )

    def _check_callback(self, reader: _Reader, rest: list[str]) -> None:
        if not rest or rest[0] in self.webhooks:
            return
        message = f"there is no step '{quote(rest[0])}' that waits for a webhook"
        if rest[0] in self.outline.ids:
            message = f"step '{quote(rest[0])}' does not wait for a webhook, so it has no callback URL"
        self.findings.unknown("unknown-callback", reader.path, message, rest[0], self.webhooks)

    def _check_input(self, reader: _Reader, rest: list[str]) -> None:
        declared = self.outline.inputs
        if rest and declared is not None and rest[0] not in declared:
            message = f"there is no input '{quote(rest[0])}'"
            self.findings.unknown("unknown-input", reader.path, message, rest[0], declared)

    def _check_status(self, reader: _Reader, rest: list[str]) -> None:
        step_id, *attribute = rest
        if step_id not in self.outline.index:
            meant = self.findings.suggestions.closest(step_id, self.outline.ids)
            self._report("unknown-step", reader, f"there is no step '{quote(step_id)}' to read from", meant)
            return
        self._check_step(reader, step_id)
        if attribute[:1] == ["output"]:
            self._check_output(reader, step_id, attribute[1:])
        elif attribute and attribute[0] not in STEP_ATTRIBUTES:
            self._report_attribute(reader, step_id, attribute)
        elif len(attribute) > 1:
            kind = "a number" if attribute[0] == "attempts" else "a text"
            message = f"'steps.{step_id}.{attribute[0]}' is {kind}: it has no '{quote(attribute[1])}'"
            self._report("unknown-attribute", reader, message, ".".join(("steps", step_id, attribute[0])))

    def _report_attribute(self, reader: _Reader, step_id: str, attribute: list[str]) -> None:
        meant = self.findings.suggestions.closest(attribute[0], STEP_ATTRIBUTES)
        message = f"'steps.{step_id}' has no '{quote(attribute[0])}'{known_names(STEP_ATTRIBUTES)}"
        step = self.outline.steps[self.outline.index[step_id]]
        if meant is None and find_unknown_output(step, self.catalogue, tuple(attribute)) is None:
            meant = ".".join((step_id, *attribute))  # a field of its output
        self._report("unknown-attribute", reader, message, meant)

    def _report_name(self, reader: _Reader, reference: tuple[str, ...]) -> None:
        root = reference[0]
        message = f"there is no step '{quote(root)}' to read from"
        meant = NAMES.get(root) or self.findings.suggestions.closest(root, self.names)
        if self.outline.inputs is not None and root in self.outline.inputs:
            meant = f"inputs.{root}"
        elif root in SECRETS:
            message += (
                ": expressions cannot read secrets; write secret://NAME in the config of a handler that takes one"
            )
            meant = None
        elif meant is None and reader.part.is_expression and reader.part.sees_item:
            is_slip = len(reference) > 1 and self.findings.suggestions.closest(root, ("item",)) is not None
            meant = ".".join(("item", *reference[is_slip:]))
        elif meant is None and reader.part.is_expression and len(reference) == 1:
            message += f"; if it is a text, it needs quotes: '{quote(root)}'"
        self._report("unknown-name", reader, message, meant)

    def _check_step(self, reader: _Reader, step_id: str) -> None:
        """Report a step that does not settle before it is read."""
        number = self.outline.index[step_id]
        step = reader.step
        if step is None:
            return
        if step.number == number and reader.part.sees_itself:
            return
        if step.number == number:
            self._report("not-upstream", reader, f"{step.name} reads from itself")
        elif not self.above.may_include(number, step.number):
            later = self.above.may_include(step.number, number)
            advice = "which runs after it" if later else f"but does not wait for it: add '{step_id}' to its depends_on"
            self._report("not-upstream", reader, f"{step.name} reads from '{step_id}', {advice}")

    def _check_output(self, reader: _Reader, step_id: str, rest: list[str]) -> None:
        step = self.outline.steps[self.outline.index[step_id]]
        if step.kind is StepKind.ABORT:
            self._report("unknown-output", reader, f"step '{step_id}' ends the run or is skipped: it has no output")
            return
        unknown = find_unknown_output(step, self.catalogue, tuple(rest))
        if unknown is None:
            return
        owner = step_id + "".join(f"[{key}]" if key.isdecimal() else f".{key}" for key in rest[: unknown.depth])
        name = rest[unknown.depth]
        meant = self.findings.suggestions.closest(name, unknown.known)
        if name in ("output", "outputs", "result") and unknown.depth == 0 and meant is None:
            meant = ".".join((step_id, *rest[1:]))  # other engines write `extract.output.total`
        message = f"the {unknown.what} '{owner}' {unknown.whose} has no field '{quote(name)}'"
        if meant is None:
            message += known_names(unknown.known) + unknown.note
        report = self.findings.error if unknown.is_certain else self.findings.warning
        report("unknown-output", reader.path, message, meant)

    def _report(self, code: str, reader: _Reader, message: str, meant: str | None = None) -> None:
        self.findings.error(code, reader.path, message, meant)
