"""Jinja2 reduced to data: an environment whose expressions can read JSON and nothing else."""

from jinja2 import ChainableUndefined, StrictUndefined, Undefined
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from dag.values import Json

FILTERS = (
    *("default", "length", "round", "int", "float", "lower", "upper", "trim", "join", "sum", "min", "max", "first"),
    *("last", "sort", "map", "select", "selectattr", "reject", "rejectattr", "list", "unique"),
)
TESTS = (
    *("defined", "undefined", "none", "in", "string", "number", "boolean", "equalto", "eq", "ne", "lt", "le", "gt"),
    *("ge", "==", "!=", "<", "<=", ">", ">="),
)
OPERATORS = frozenset(("+", "-", "*", "/", "//", "%"))


class ExpressionError(Exception):
    """An expression cannot be compiled or evaluated. `message` says what was found, in the author's terms."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Missing(ChainableUndefined, StrictUndefined):
    """A value that is not there: may be passed on and asked `is defined`, fails when it is used."""


class Environment(SandboxedEnvironment):
    """Jinja2 with data access only: `a.b` and `a["b"]` read a key or an index, never a Python attribute."""

    intercepted_binops = OPERATORS

    def __init__(self) -> None:
        # Comments would vanish from an author's text without a word, so no text can start one.
        super().__init__(undefined=Missing, comment_start_string="\0{#", comment_end_string="#}\0", cache_size=0)
        self.filters = {name: self.filters[name] for name in FILTERS}
        self.tests = {name: self.tests[name] for name in TESTS}
        self.globals = {}

    def getitem(self, obj: Json, argument: Json) -> Json:
        """Return `obj[argument]` of a JSON object or list; what is missing stays missing below."""
        if isinstance(obj, Undefined):
            return obj
        found = lookup(obj, argument)
        return self.undefined(obj=obj, name=argument) if found is NOTHING else found

    def getattr(self, obj: Json, attribute: str) -> Json:
        """Return the same as `getitem`: a value has keys, no Python attributes."""
        return self.getitem(obj, attribute)

    def call_binop(self, context: Context, operator: str, left: Json, right: Json) -> Json:
        """Return `left operator right` for numbers; anything else could grow without bound or format text."""
        for operand in (left, right):
            if isinstance(operand, Undefined):
                str(operand)  # raises, naming what is missing
            if isinstance(operand, bool) or not isinstance(operand, int | float):
                raise ExpressionError(f"`{operator}` needs numbers, got {show(operand)}")
        return super().call_binop(context, operator, left, right)


NOTHING = object()
ENVIRONMENT = Environment()


def lookup(value: Json, key: Json) -> Json:
    """Return a key of an object or an index of a list, NOTHING if it is not there."""
    if isinstance(value, dict):
        return value.get(key, NOTHING) if isinstance(key, str) else NOTHING
    if isinstance(value, list) and isinstance(key, int) and not isinstance(key, bool):
        return value[key] if -len(value) <= key < len(value) else NOTHING
    return NOTHING


def show(value: Json) -> str:
    """Return a short text for a message: what kind of value it is, and its beginning."""
    kind = {dict: "an object", list: "a list", str: "text", bool: "true/false", type(None): "null"}.get(type(value))
    return f"{kind or type(value).__name__} ({str(value)[:40]!r})"
