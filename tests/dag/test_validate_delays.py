"""Times and delays that Temporal would only refuse when a run is at the step, and then for ever."""

import pytest

from tests.dag.catalogue import problems_of

STEPS = "id: d\nsteps:\n  - {id: a, handler: anything, config: {}"


def defaults(retry: str, *steps: str) -> str:
    return "\n".join(["id: d", f"defaults: {{retry_config: {retry}}}", "steps:", *(f"  - {step}" for step in steps)])


def a_step(name: str, retry: str = "") -> str:
    return f"{{id: {name}, handler: anything, config: {{}}{', retry_config: ' + retry if retry else ''}}}"


LESS = "'max_delay' is 5 s, less than 'initial_delay', {} s: the first delay would be the longest"


def test_a_longest_delay_below_the_first_is_refused() -> None:
    text = STEPS + ", retry_config: {initial_delay: 10, max_delay: 5}}"
    assert problems_of(text) == [("3:89 wrong-value steps[0].retry_config.max_delay", LESS.format(10))]


def test_the_first_delay_counts_where_it_is_not_written() -> None:
    assert [message for _, message in problems_of(STEPS + ", retry_config: {max_delay: 5}}")] == [LESS.format(10)]


def test_defaults_are_refused_where_they_stand_and_once() -> None:
    text = defaults("{max_delay: 5}", a_step("a"), a_step("b"))
    assert problems_of(text) == [("2:38 wrong-value defaults.retry_config.max_delay", LESS.format(10))]


def test_a_step_that_merges_into_a_wrong_whole_is_refused_there() -> None:
    text = defaults("{max_delay: 5, initial_delay: 1}", a_step("a"), a_step("b", "{initial_delay: 20}"))
    assert problems_of(text) == [("5:58 wrong-value steps[1].retry_config.max_delay", LESS.format(20))]


def test_a_step_that_is_right_because_it_merges_is_accepted() -> None:
    assert problems_of(defaults("{max_delay: 5}", a_step("a", "{initial_delay: 1}"))) == []
    assert problems_of(defaults("{max_delay: 10}", a_step("a"))) == []


@pytest.mark.parametrize("field", ["timeout_seconds", "total_timeout_seconds", "heartbeat_seconds"])
def test_a_time_that_rounds_to_none_is_refused(field: str) -> None:
    least = 1 if field == "heartbeat_seconds" else 0.001
    [(place, message)] = problems_of(f"{STEPS}, {field}: 1.0e-9}}")
    assert place.endswith(f"wrong-value steps[0].{field}")
    assert message == f"'{field}' must be at least {least}, found the number 1e-09"


def test_a_first_delay_that_rounds_to_none_is_refused() -> None:
    [(_, message)] = problems_of(STEPS + ", retry_config: {initial_delay: 1.0e-9}}")
    assert message == "'initial_delay' must be at least 0.001, found the number 1e-09"
