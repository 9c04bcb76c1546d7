"""The cost of templates: whatever an author writes ends as an error long before a worker's two seconds are over."""

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from docrail.dag.language.expressions.expression import compile_expression
from docrail.dag.values.cost import MAX_MADE_BYTES, ExpressionError
from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json
from tests.dag.values import Known, evaluate, resolve

NUMBERS: Json = list(range(40_000))
VALUES: dict[str, Json] = {
    "l": NUMBERS,
    "m": list(range(40_000)),
    "t": "x" * 250_000,
    "texts": ["ab"] * 40_000,
    "empty": [0] * 40_000,
    "rows": [{"a": {"b": 1}, "tags": ["x"] * 10} for _ in range(5_000)],
}
SECONDS = 1.5


def seconds_of(work: Callable[[], None]) -> float:
    """Return how long it takes of the processor, in a thread of its own, as a turn of a run has one.

    Python keeps the frames of calls in chunks. A loop whose calls cross from one chunk into the next has a chunk made
    and freed for each, which takes ten times as long: whether one does must not depend on how deep pytest stands.
    """

    def timed() -> float:
        began = time.thread_time()
        work()
        return time.thread_time() - began

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(timed).result()


@pytest.mark.parametrize(
    "text",
    [
        "l | select('in', l) | length",
        "l | reject('in', m) | length",
        "l | map('default', l, true) | select('eq', m) | length",
        "empty | map('default', l, true) | select('eq', m) | length",
        "empty | map('default', t, true) | map('upper') | list | length",
        "empty | map('default', t, true) | select('in', t) | list | length",
        "texts | map('join', t) | list | length",
        "empty | map('default', l, true) | map('sort') | list | length",
        "empty | map('default', l, true) | map('map', 'int') | list | length",
        "empty | map('default', l, true) | map('list') | map('length') | sum",
        "rows | map(attribute='" + ".".join(["a"] * 400) + "', default=1) | list",
        "empty | map('default', l, true) | sort | length",
        "empty | map('default', l, true) | max | length",
        "l" + " | sort" * 55 + " | length",
        "l" + " | map('int')" * 55 + " | length",
        "l" + " | list" * 55 + " | length",
        "[" + ",".join(["l==m"] * 190) + "]",
        "[" + ",".join(["-1 in l"] * 120) + "]",
        "-1 in [" + ",".join(["l"] * 450) + "]",
        "[" + ",".join(["l < m < l"] * 95) + "]",
    ],
)
def test_an_expression_ends_or_is_ended_in_time(text: str) -> None:
    expression = compile_expression(text)

    def evaluated() -> None:
        with contextlib.suppress(ExpressionError):
            expression.evaluate(Known(VALUES))

    assert seconds_of(evaluated) < SECONDS


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("l | select('in', l) | length", None),
        ("l | map('int') | select('gt', 39989) | sum | round", 399945.0),
        ("l | sort | last", 39_999),
        ("m | reject('in', [1, 2, 3]) | length", 39_997),
        ("rows | map(attribute='a.b') | sum", 5_000),
        ("rows | selectattr('a.b', 'eq', 1) | list | length", 5_000),
        ("texts | unique | join(', ')", "ab"),
    ],
)
def test_only_excessive_expressions_exceed_the_bounds(text: str, value: Json) -> None:
    if value is None:
        with pytest.raises(ExpressionError, match="takes too much work: give it less data"):
            evaluate(text, VALUES)
    else:
        assert evaluate(text, VALUES) == value


@pytest.mark.parametrize(
    "template",
    [
        "{{ t }}" * 30_000,
        {str(number): "{{ t }}" for number in range(30_000)},
        ["{{ l }}"] * 30_000,
        [{"$path": ["l"]}] * 30_000,
        ["{{ l | select('gt', 5) | length }}"] * 1_000,
    ],
)
def test_all_expressions_of_a_template_are_bounded_together(template: Json) -> None:
    def resolved() -> None:
        with pytest.raises(ExpressionError, match=rf"more than {MAX_MADE_BYTES} bytes|too much work"):
            resolve(template, VALUES)

    assert seconds_of(resolved) < 2 * SECONDS  # most of it for compiling


def test_values_that_a_config_may_hold_are_within_the_bounds() -> None:
    assert len(resolve("{{ t }}{{ t }}", VALUES)) > MAX_VALUE_BYTES
