"""What the items of a list give can be stored, whatever it is; what could not be is refused before any work."""

import pytest

from docrail.dag.engine.map_items import (
    LEAST_INLINE_BYTES,
    MAX_KEY_CHARACTERS,
    MAX_LIST_BYTES,
    MAX_STORED_BYTES,
    inline_bytes,
)
from docrail.dag.engine.state import ItemEnd, StepError
from docrail.dag.language.statuses import LONGEST_TYPE, RunStatus, StepStatus
from docrail.dag.language.step_kinds import MAX_ITEMS
from docrail.dag.values.json_values import LONGEST_MESSAGE, Json, fitted, size_of
from docrail.dag.values.stored import Part
from tests.dag.kinds import begun, error_of, mapped, reported
from tests.dag.test_chunks import Fleet

LONGEST = 46
"""Characters of a key of the longest list."""
WORST = StepError("\1" * LONGEST_TYPE, "\1" * LONGEST_MESSAGE)


def keys(count: int, length: int) -> list[str]:
    return [f"{number:x}".rjust(length, "k") for number in range(count)]


def stored(count: int, length: int, end: ItemEnd) -> tuple[Json, str]:
    """Return the output that a list with such keys has stored, and its error's type."""
    fleet = Fleet((mapped("m", keys(count, length), key="item", max_concurrency=20),), {"max_concurrency": 20})
    output: list[Json] = []
    while fleet.chunks:
        commands = fleet.end(next(iter(fleet.chunks)), dict.fromkeys(range(count), end))
        output += [command.value for command in commands if hasattr(command, "value")]
    fleet.go()
    error = fleet.state().error
    return output[0], error.type if error else ""


@pytest.mark.parametrize(("count", "length"), [(MAX_ITEMS, LONGEST), (9_000, 64), (2_500, MAX_KEY_CHARACTERS)])
def test_a_long_list_of_which_everything_failed_can_be_stored(count: int, length: int) -> None:
    output, error = stored(count, length, ItemEnd(StepStatus.FAILED, None, WORST, 1))
    assert (error, output["failed"], len(output["items"])) == ("ItemsFailed", count, count)
    assert size_of(output) <= MAX_STORED_BYTES
    assert all(item["error"]["message"].startswith("\1") for item in output["items"])


@pytest.mark.parametrize(("count", "length"), [(MAX_ITEMS, LONGEST), (9_000, 64), (2_500, MAX_KEY_CHARACTERS)])
def test_a_long_list_of_which_everything_was_stored_or_nearly_can_be_stored(count: int, length: int) -> None:
    mark = Part("f" * 64, 67_108_864).to_json()
    assert size_of(mark) <= LEAST_INLINE_BYTES
    for given in (mark, "x" * (inline_bytes(count) - 2)):
        output, error = stored(count, length, ItemEnd(StepStatus.COMPLETED, given, None, 1))
        assert (error, output["items"][0]["output"]) == ("", given)
        assert size_of(output) <= MAX_STORED_BYTES


@pytest.mark.parametrize("count", [300, 1_000])
def test_errors_are_whole_where_there_is_room(count: int) -> None:
    error = StepError("ValueError", "x" * min(LONGEST_MESSAGE, 1_700))
    output, _ = stored(count, 3, ItemEnd(StepStatus.FAILED, None, error, 1))
    assert output["items"][0]["error"] == {"type": error.type, "message": error.message}


def test_keys_that_leave_no_room_for_outputs_fail_the_step_before_any_work() -> None:
    world = begun(mapped("m", keys(MAX_ITEMS, LONGEST + 1), key="item"))
    assert (reported(world), world.ledger.finished) == ([], RunStatus.FAILED)
    assert world.states["m"].error == StepError(
        "TemplateError",
        "for_each.key gave 10000 keys of 500001 bytes together as JSON, more than 499900: the items' outputs could not"
        " be stored with them; use shorter keys or fewer items",
    )


def test_a_key_is_no_longer_than_an_id() -> None:
    assert reported(begun(mapped("m", ["k" * MAX_KEY_CHARACTERS], key="item"))) == ["m[0]"]
    world = begun(mapped("m", ["short", "k" * (MAX_KEY_CHARACTERS + 1)], key="item"))
    message = f"for_each.key gave a key of 201 characters, more than 200: {'k' * 64}…; use a shorter key"
    assert reported(world) == []
    assert error_of(world.states["m"]).message == f"{message} that differs between items"


@pytest.mark.parametrize("items", ["{{ inputs.rows }}", {"$path": ["inputs", "rows"]}, "{{ inputs.rows | list }}"])
def test_a_list_may_be_as_large_as_documented(items: Json) -> None:
    most = ["x" * 14_997] * 99 + ["x" * 14_996]
    assert size_of(most) == MAX_LIST_BYTES
    assert reported(begun(mapped("m", items), inputs={"rows": most})) == ["m[0]", "m[1]", "m[2]", "m[3]"]
    world = begun(mapped("m", items), inputs={"rows": [*most, 1]})
    assert error_of(world.states["m"]).message.startswith(f"takes {MAX_LIST_BYTES + 2} bytes as JSON, more than")


@pytest.mark.parametrize("text", ["", "abc", "\1" * 50, "x" * 100, "é€😀" * 30, '"\\' * 40])
def test_a_text_is_cut_by_what_it_takes_as_json(text: str) -> None:
    for most in range(5, 400):
        cut = fitted(text, most)
        assert size_of(cut) <= most
        assert (cut == text) is (size_of(text) <= most)
        assert cut == text or size_of(text[: len(cut)] + "…") > most
