"""Restrict Jinja2 to data: an environment whose expressions can read only JSON, at a bounded cost."""

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from itertools import islice
from typing import Any

from jinja2 import ChainableUndefined, StrictUndefined, Undefined, pass_context, pass_environment
from jinja2.exceptions import FilterArgumentError
from jinja2.filters import do_float, do_int, do_round, make_attrgetter
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import missing

from docrail.dag.language.expressions import expression_errors
from docrail.dag.values.cost import BYTES_PER_STEP, ExpressionError, Work, length_of
from docrail.dag.values.json_parts import NOTHING, lookup
from docrail.dag.values.json_values import MAX_INTEGER, MAX_VALUE_BYTES, Json

FILTERS = (
    *("default", "length", "round", "int", "float", "lower", "upper", "trim", "join", "sum", "min", "max", "first"),
    *("last", "sort", "map", "select", "selectattr", "reject", "rejectattr", "list", "unique"),
)
TESTS = (
    *("defined", "undefined", "none", "in", "string", "number", "boolean", "equalto", "eq", "ne", "lt", "le", "gt"),
    *("ge", "==", "!=", "<", "<=", ">", ">="),
)
ALONE = frozenset(("defined", "undefined", "none", "string", "number", "boolean"))
"""Tests without an argument."""
LAZY_FILTERS = ("map", "select", "selectattr", "reject", "rejectattr", "unique")
"""Jinja returns generators for these, which are true even when empty, and have no length."""
TEXT_FILTERS = ("lower", "upper", "trim")
FREE = frozenset(("default", "length", "first", "last"))
"""Filters with a constant cost, whatever the size of the value."""
WORK = "__work"
"""The name under which an evaluation finds its work budget; no author can write it."""
COMPARISONS: Mapping[str, Callable[[Json, Json], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lteq": operator.le,
    "gt": operator.gt,
    "gteq": operator.ge,
    "in": lambda value, values: value in values,
    "notin": lambda value, values: value not in values,
}
"""Comparisons, by Jinja's names of the operators."""
MAX_ITEMS = 100_000
"""Values that an expression may produce: far more than a payload can hold, so it only stops runaway expressions."""
MAX_PRECISION = 15
"""Decimal digits of a float."""


class Missing(ChainableUndefined, StrictUndefined):
    """A missing value: it can be passed on and tested with `is defined`, and raises when used."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Accept Jinja's arguments, but raise our own error."""
        super().__init__(*args, **kwargs)
        self._undefined_exception: Any = self._error

    def _error(self, _: str) -> ExpressionError:
        if self._undefined_hint:  # set by filters that take one element of a list
            return ExpressionError(expression_errors.NOTHING_IN_LIST)
        if self._undefined_obj is missing:
            return ExpressionError(expression_errors.no_value(str(self._undefined_name)))
        return expression_errors.LackError(self._undefined_obj, self._undefined_name)


class Environment(SandboxedEnvironment):
    """Jinja2 with data access only: `a.b` and `a["b"]` read a key or an index, never a Python attribute."""

    def __init__(self) -> None:
        super().__init__(undefined=Missing, cache_size=0)
        own: dict[str, Callable[..., Json]] = {name: _eager(self.filters[name]) for name in LAZY_FILTERS}
        own |= {"round": _round, "join": _join, "sum": _sum, "int": _int, "float": _float}
        own |= {name: _of_text(name, self.filters[name]) for name in TEXT_FILTERS}
        self.filters = {name: _metered(name, own.get(name, self.filters[name])) for name in FILTERS}
        tests: dict[str, Any] = dict(self.tests)
        self.tests = {name: _metered_test(name, tests[name]) for name in TESTS}
        self.globals = {}

    def getitem(self, obj: Json, argument: Json) -> Json:
        """Return `obj[argument]` of a JSON object or list; parts of a missing value are missing."""
        if isinstance(obj, Undefined):
            return obj
        found = lookup(obj, argument)
        return self.undefined(obj=obj, name=argument) if found is NOTHING else found

    def getattr(self, obj: Json, attribute: str) -> Json:
        """Return the same as `getitem`: a value has keys, no Python attributes."""
        return self.getitem(obj, attribute)

    def call_binop(self, context: Context, operator: str, left: Json, right: Json) -> Json:
        """Return `left operator right` for numbers; other operands could grow without bound or format text."""
        for operand in (left, right):
            _require_number(operand, f"`{operator}`")
        try:
            return bounded(super().call_binop(context, operator, left, right))
        except ZeroDivisionError:
            raise ExpressionError(f"division by zero, by `{operator}`") from None

    def call_unop(self, context: Context, operator: str, arg: Json) -> Json:
        """Return `+arg` or `-arg`."""
        try:
            return super().call_unop(context, operator, arg)
        except TypeError:
            raise ExpressionError(f"`{operator}` needs a number, got {expression_errors.show(arg)}") from None


def bounded(number: Json) -> Json:
    """Return `number` if other programs can read it. Raises ExpressionError for integers beyond 64 bits."""
    if type(number) is int and abs(number) > MAX_INTEGER:
        raise ExpressionError("the number does not fit into 64 bits")
    return number


def require(value: Json) -> None:
    """Raise ExpressionError if `value` is missing."""
    if isinstance(value, Undefined):
        str(value)  # raises, with the missing name
        raise ExpressionError(expression_errors.NO_ELSE)


def _require_number(value: Json, what: str, needed: str = "numbers") -> None:
    if type(value) is int or type(value) is float:
        bounded(value)
        return
    require(value)
    hint = expression_errors.SIDE_BY_SIDE if what == "`+`" and isinstance(value, str) else ""
    raise ExpressionError(f"{what} needs {needed}, got {expression_errors.show(value)}{hint}")


def _eager(lazy: Callable[..., Iterable[Json]]) -> Callable[..., list[Json]]:
    @wraps(lazy)  # keeps Jinja's markers for passed arguments
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


@pass_context
def _join(context: Context, values: Iterable[Json], separator: str = "") -> str:
    texts = [_as_text(value) for value in islice(values, MAX_ITEMS + 1)]
    size = sum(map(len, texts)) + len(separator) * len(texts)
    if size > MAX_VALUE_BYTES:
        raise ExpressionError(f"`join` would give more than {MAX_VALUE_BYTES} characters")
    work_of(context).spend_bytes(size)
    return separator.join(texts)


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    _require_number(value, "`join`", "texts or numbers")
    return str(value)


def _of_text(name: str, change: Callable[..., str]) -> Callable[..., str]:
    @wraps(change)
    def changed(value: Json, *args: Any) -> str:
        if isinstance(value, str):
            return change(value, *args)
        require(value)
        raise ExpressionError(f"`{name}` needs a text, got {expression_errors.show(value)}")

    return changed


def _int(value: Json, default: Json = 0, base: int = 10) -> Json:
    return do_int(value, default, base) if _may_be_number(value) else default


def _float(value: Json, default: Json = 0.0) -> Json:
    return do_float(value, default) if _may_be_number(value) else default


def _may_be_number(value: Json) -> bool:
    """Return whether Python may parse a text as a number: it would also accept 1_0 and digits of other scripts."""
    return not isinstance(value, str) or (value.isascii() and "_" not in value)


def work_of(context: Context) -> Work:
    """Return the evaluation's work budget."""
    work: Work = context.parent[WORK]
    return work


def _metered(name: str, filter_: Callable[..., Json]) -> Callable[..., Json]:
    """Return `filter_`, charged before it runs. Jinja may pass some filters an extra first argument."""
    passes = getattr(filter_, "jinja_pass_arg", None)

    @pass_context
    def metered(context: Context, value: Json, *args: Json, **kwargs: Json) -> Json:
        work_of(context).spend(1 if name in FREE else _cost(work_of(context), name, value, (*args, *kwargs.values())))
        first: dict[str, tuple[Any, ...]] = {
            "context": (context,),
            "environment": (context.environment,),
            "eval_context": (context.eval_ctx,),
        }
        try:
            return filter_(*(first[passes.name] if passes else ()), value, *args, **kwargs)
        except (TypeError, ValueError, AttributeError, FilterArgumentError):
            raise ExpressionError(expression_errors.failed_filter(name, value)) from None

    metered.__wrapped__ = filter_  # type: ignore[attr-defined]  # what it takes is asked of it (dag.language)
    return metered


def _cost(work: Work, name: str, value: Json, arguments: tuple[Json, ...]) -> int:
    """Return a filter's cost: for each element the steps to find its part, and all comparisons of a sort."""
    count = length_of(value)
    steps = 1 + max((text.count(".") + text.count(",") for text in arguments if isinstance(text, str)), default=0)
    rounds = count.bit_length() if name == "sort" else 1
    return 1 + count * (1 + steps) + rounds * work.size(value) // BYTES_PER_STEP


def _metered_test(name: str, test: Callable[..., bool]) -> Callable[..., bool]:
    @pass_context
    def metered(context: Context, value: Json, *args: Json) -> bool:
        _pay_for_comparing(work_of(context), value, *args)
        try:
            return test(value, *args)
        except TypeError:
            is_alone = name in ALONE
            has_wrong_count = len(args) != (not is_alone)
            message = (
                expression_errors.wrong_test_call(name, is_alone=is_alone)
                if has_wrong_count
                else expression_errors.incomparable(name, value, *args)
            )
            raise ExpressionError(message) from None

    return metered


def compare(context: Context, left: Json, rest: Iterable[tuple[str, Json]]) -> bool:
    """Return whether `left` and the values in `rest` satisfy a chain of comparisons, given Jinja's operator names."""
    for name, right in rest:
        _pay_for_comparing(work_of(context), left, right)
        try:
            if not COMPARISONS[name](left, right):
                return False
        except TypeError:
            raise ExpressionError(expression_errors.incomparable(name, left, right)) from None
        left = right
    return True


def _pay_for_comparing(work: Work, *values: Json) -> None:
    work.spend(1 + max(map(work.size, values)) // BYTES_PER_STEP)


ENVIRONMENT = Environment()
