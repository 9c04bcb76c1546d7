"""What expressions and templates refer to, or what is wrong with them; each is compiled once."""

from dataclasses import dataclass, field

from dag.checks.syntax import explain
from dag.expressions import Expression, compile_expression, parse_text
from dag.templates import compile_template
from dag.values import Json, canonical
from dag.work import ExpressionError

References = tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class Compiled:
    """What was compiled already: definitions repeat the same few templates in many steps."""

    conditions: dict[str, References | str] = field(default_factory=dict)
    templates: dict[str, References | str] = field(default_factory=dict)

    def condition(self, text: str) -> References | str:
        """Return what the expression refers to, or what is wrong with it."""
        if text not in self.conditions:
            try:
                expression = compile_expression(text)
                self.conditions[text] = expression.misuse or expression.references
            except ExpressionError as error:
                self.conditions[text] = explain(error.message)
        return self.conditions[text]

    def template(self, value: Json) -> References | str:
        """Return what the template refers to, or what is wrong with it."""
        key = canonical(value)
        if key not in self.templates:
            try:
                self.templates[key] = _misuse_in(value) or compile_template(value).references
            except ExpressionError as error:
                self.templates[key] = explain(error.message)
        return self.templates[key]


def _misuse_in(template: Json) -> str | None:
    """Return what makes an expression of the template fail with every value. Raises: ExpressionError."""
    if not isinstance(template, str) or ("|" not in template and " is " not in template):
        return None
    pieces = parse_text(template)
    return next((told for piece in pieces if isinstance(piece, Expression) and (told := piece.misuse)), None)
