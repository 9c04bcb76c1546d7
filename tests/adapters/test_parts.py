"""Stored parts in their places: the right ones, whole, and no more of them than was asked for."""

import asyncio
import re
from pathlib import Path

import pytest

from docrail.adapters.store.blobs import BlobMissing
from docrail.adapters.store.parts import AT_ONCE, MissingValue, ValueTooLarge, filled, marks_in
from docrail.adapters.store.values import ValueStore
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import Part

TENANT = "acme"
VALUE: Json = {"lines": [{"total": n, "tags": ["a", str(n)]} for n in range(5)], "note": "x", "7": None}
ENOUGH = 100_000


@pytest.fixture
def store(tmp_path: Path) -> ValueStore:
    return ValueStore(tmp_path / "values")


async def fill(store: ValueStore, value: Json, most_bytes: int = ENOUGH, name: str = "") -> Json:
    return await filled(store, TENANT, value, most_bytes=most_bytes, name=name)


async def test_marks_anywhere_become_what_they_stand_for(store: ValueStore) -> None:
    part = await store.put(TENANT, VALUE)
    config = {"a": [part.to_json(), 1], "b": {"c": part.at(("lines", 3, "total")).to_json()}, "d": "text"}
    assert await fill(store, config) == {"a": [VALUE, 1], "b": {"c": 3}, "d": "text"}
    assert await fill(store, part.to_json()) == VALUE


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("lines", 4, "tags", 0), "a"),
        (("lines", "4", "tags", "1"), "4"),  # as in the expression lines.4.tags.1
        (("lines", -1, "total"), 4),
        (("7",), None),
        (("lines", 0), {"total": 0, "tags": ["a", "0"]}),
    ],
)
async def test_a_path_leads_where_an_expression_would(
    store: ValueStore, path: tuple[str | int, ...], expected: Json
) -> None:
    part = await store.put(TENANT, VALUE)
    assert await fill(store, part.at(path).to_json()) == expected


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (("lines", 9, "total"), "`lines.9.total`: 'lines' has no '9', it is a list"),
        (("lines", 3, "sum"), "`lines.3.sum`: 'lines.3' has no 'sum', it is an object"),
        (("line",), "`line`: the stored value has no 'line', it is an object"),
        (("note", 0), "`note.0`: 'note' has no '0', it is the text 'x'"),
        ((7,), "`7`: the stored value has no '7', it is an object"),
    ],
)
async def test_a_path_that_leads_nowhere_is_named(store: ValueStore, path: tuple[str | int, ...], message: str) -> None:
    part = await store.put(TENANT, VALUE)
    with pytest.raises(MissingValue, match=f"^{re.escape(message)}$"):
        await fill(store, {"a": [part.at(path).to_json()]})
    with pytest.raises(MissingValue, match=re.escape(f"config.a.0: {message}")) as raised:
        await fill(store, {"a": [part.at(path).to_json()]}, name="config")
    assert isinstance(raised.value, ValueError)  # the wrapper does not retry it


@pytest.mark.parametrize(
    "data",
    [
        {"$stored": "ab"},
        {"$stored": "0" * 64},
        {"$stored": "0" * 64, "bytes": "3"},
        {"$stored": "0" * 64, "bytes": True},
        {"$stored": "0" * 64, "bytes": 3, "more": 1},
        {"$stored": "0" * 64, "bytes": 3, "path": "a"},
        {"$stored": "0" * 64, "bytes": 3, "path": [None]},
        {"$stored": "../" * 21 + "x", "bytes": 3},
        "$stored",
    ],
)
async def test_a_value_that_resembles_a_mark_is_plain_data(store: ValueStore, data: Json) -> None:
    assert await fill(store, {"a": data}) == {"a": data}
    assert list(marks_in({"a": data})) == []


async def test_marks_inside_a_stored_value_are_filled_too(store: ValueStore) -> None:
    item = await store.put(TENANT, VALUE)
    items = await store.put(TENANT, [item.to_json(), {"small": 1}, item.at(("note",)).to_json()])
    outer = await store.put(TENANT, {"items": items.to_json()})
    assert await fill(store, outer.to_json()) == {"items": [VALUE, {"small": 1}, "x"]}
    assert await fill(store, items.at((0,)).to_json()) == VALUE


async def test_a_path_leads_through_marks(store: ValueStore) -> None:
    item = await store.put(TENANT, VALUE)
    items = await store.put(TENANT, [item.at(("lines",)).to_json()])
    outer = await store.put(TENANT, {"items": items.to_json()})
    part = outer.at(("items", 0, 2, "tags"))
    assert await fill(store, part.to_json()) == ["a", "2"]
    with pytest.raises(MissingValue, match=r"`items\.0\.9`: 'items\.0' has no '9', it is a list"):
        await fill(store, outer.at(("items", 0, 9)).to_json())


async def test_another_tenants_value_cannot_be_named(store: ValueStore) -> None:
    theirs = await store.put("globex", VALUE)
    ours = await store.put(TENANT, {"theirs": theirs.to_json()})
    for mark in (theirs, theirs.at(("note",)), ours, ours.at(("theirs", "note"))):
        with pytest.raises(BlobMissing, match=theirs.sha256):
            await fill(store, {"a": mark.to_json()})


async def test_all_values_together_may_take_so_many_bytes_and_no_more(store: ValueStore) -> None:
    part = await store.put(TENANT, VALUE)
    config = [part.to_json(), part.at(("lines",)).to_json()]
    size = size_of([VALUE, VALUE["lines"]])
    assert await fill(store, config, size) == [VALUE, VALUE["lines"]]
    with pytest.raises(ValueTooLarge, match=f"takes at least {size} bytes as JSON, more than {size - 1}"):
        await fill(store, config, size - 1)


async def test_marks_that_name_each_other_many_times_end_early(store: ValueStore) -> None:
    part = await store.put(TENANT, "x" * 1000)
    for _ in range(40):
        part = await store.put(TENANT, [part.to_json()] * 10)
    with pytest.raises(ValueTooLarge):
        await fill(store, part.to_json())


async def test_a_filled_value_belongs_to_the_caller(store: ValueStore) -> None:
    part = await store.put(TENANT, VALUE)
    for _ in range(2):
        lines = await fill(store, part.at(("lines",)).to_json())
        assert lines == VALUE["lines"]
        lines[0]["tags"].clear()
        lines.clear()


def test_marks_are_found_by_their_paths() -> None:
    mark = Part("0" * 64, 3).to_json()
    assert list(marks_in({"a": [1, mark], "b": mark, "c": {"d": {"e": mark}}})) == [("a", 1), ("b",), ("c", "d", "e")]


async def test_a_large_value_is_not_read_for_a_small_part_of_it(store: ValueStore) -> None:
    """While it is parsed, nothing else in the process goes on. That it is not read shows where there is none."""
    absent = Part("0" * 64, ENOUGH + 1, ("note",))
    with pytest.raises(ValueTooLarge, match=f"at least {ENOUGH + 1} bytes"):
        await filled(store, TENANT, absent.to_json(), most_bytes=ENOUGH, most_read=ENOUGH)


async def test_others_have_turns_while_a_value_of_many_parts_is_filled(store: ValueStore) -> None:
    turns, over = 0, asyncio.Event()

    async def others() -> None:
        nonlocal turns
        while not over.is_set():
            turns += 1
            await asyncio.sleep(0)  # ends a turn; the turns are counted

    going_on = asyncio.create_task(others())
    await fill(store, [0] * (20 * AT_ONCE))
    over.set()
    await going_on
    assert turns >= 20
