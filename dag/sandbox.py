"""Jinja2 reduced to data: an environment whose expressions can read JSON and nothing else, at a bounded cost."""

from collections.abc import Callable, Iterable
from functools import wraps
from itertools import islice
from typing import Any

from jinja2 import ChainableUndefined, StrictUndefined, Undefined, pass_environment
from jinja2.filters import do_round, make_attrgetter
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from dag.values import MAX_INTEGER, MAX_VALUE_BYTES, Json, canonical

FILTERS = (
    *("default", "length", "round", "int", "float", "lower", "upper", "trim", "join", "sum", "min", "max", "first"),
    *("last", "sort", "map", "select", "selectattr", "reject", "rejectattr", "list", "unique"),
)
TESTS = (
    *("defined", "undefined", "none", "in", "string", "number", "boolean", "equalto", "eq", "ne", "lt", "le", "gt"),
    *("ge", "==", "!=", "<", "<=", ">", ">="),
)
LAZY_FILTERS = ("map", "select", "selectattr", "reject", "rejectattr", "unique")
"""Jinja gives generators for these, which are true even when they are empty, and have no length."""
OPERATORS = frozenset(("+", "-", "*", "/", "//", "%"))
MAX_ITEMS = 100_000
"""Most values that an expression may produce: far more than a payload may hold, so it only stops what runs away."""
SHOWN_CHARACTERS = 40
MAX_PRECISION = 15
"""Decimal digits of a float."""


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
        # Unoptimized: folding constants would evaluate, and fail, while compiling.
        super().__init__(undefined=Missing, cache_size=0, optimized=False)
        own: dict[str, Callable[..., Json]] = {name: _eager(self.filters[name]) for name in LAZY_FILTERS}
        own |= {"round": _round, "join": _join, "sum": _sum}
        self.filters = {name: own.get(name, self.filters[name]) for name in FILTERS}
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
            _require_number(operand, f"`{operator}`")
        return bounded(super().call_binop(context, operator, left, right))


NOTHING = object()


def lookup(value: Json, key: Json) -> Json:
    """Return a key of an object or an index of a list, NOTHING if it is not there."""
    if isinstance(value, dict):
        return value.get(key, NOTHING) if isinstance(key, str) else NOTHING
    if isinstance(value, list) and isinstance(key, int) and not isinstance(key, bool):
        return value[key] if -len(value) <= key < len(value) else NOTHING
    return NOTHING


def show(value: Json) -> str:  # noqa: PLR0911 - a case a kind of value
    """Return a short text for a message: what kind of value it is, and its beginning."""
    match value:
        case None | bool():
            return canonical(value)
        case int() if abs(value) > MAX_INTEGER:
            return "an integer of more than 64 bits"  # Python refuses to write the longest ones
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value[:SHOWN_CHARACTERS]!r}"
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return f"a {type(value).__name__}"


def bounded(number: Json) -> Json:
    """Return `number` if other programs can read it. Raises ExpressionError for integers beyond 64 bits."""
    if isinstance(number, int) and abs(number) > MAX_INTEGER:
        raise ExpressionError("the number does not fit into 64 bits")
    return number


def _require_number(value: Json, what: str) -> None:
    if isinstance(value, Undefined):
        str(value)  # raises, naming what is missing
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExpressionError(f"{what} needs numbers, got {show(value)}")
    bounded(value)


def _eager(lazy: Callable[..., Iterable[Json]]) -> Callable[..., list[Json]]:
    @wraps(lazy)  # carries Jinja's marks of what it passes in
    def eager(*args: Any, **kwargs: Any) -> list[Json]:
        return list(islice(lazy(*args, **kwargs), MAX_ITEMS + 1))

    return eager


def _round(value: Json, precision: int = 0, method: Any = "common") -> float:
    _require_number(value, "`round`")
    if abs(precision) > MAX_PRECISION:
        raise ExpressionError(f"`round` takes a precision of at most {MAX_PRECISION}, got {precision}")
    return do_round(value, precision, method)


@pass_environment
def _sum(environment: SandboxedEnvironment, values: Iterable[Json], attribute: Any = None, start: Json = 0) -> Json:
    part = make_attrgetter(environment, attribute)
    total = start
    for value in map(part, values):
        for operand in (total, value):
            _require_number(operand, "`sum`")
        total = bounded(total + value)
    return total


def _join(values: Iterable[Json], separator: str = "") -> str:
    texts = [str(value) for value in islice(values, MAX_ITEMS + 1)]
    if sum(map(len, texts)) + len(separator) * len(texts) > MAX_VALUE_BYTES:
        raise ExpressionError(f"`join` would give more than {MAX_VALUE_BYTES} characters")
    return separator.join(texts)


ENVIRONMENT = Environment()
