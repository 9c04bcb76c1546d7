"""The value store: equal values are one file, in their tenant's folder, and come back as they were."""

import asyncio
import json
import math
from pathlib import Path

import pytest

from docrail.adapters.store.blobs import BlobDamaged, BlobMissing
from docrail.adapters.store.folders import local_root
from docrail.adapters.store.values import ValueStore, folder_of
from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import Part, part_of

VALUE: Json = {"lines": [{"total": 1.5, "text": "Bäume ✓"}, {"total": 10**17, "text": ""}], "none": None, "yes": True}
STRANGE_NAMES = ["Acme", "ACME", "..", ".", "", "a/b", "../acme", "acme\0", "=x", "-x", "ä", "a" * 64, "con.txt"]


@pytest.fixture
def store(tmp_path: Path) -> ValueStore:
    return ValueStore(tmp_path / "values")


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_value_comes_back_as_it_was(store: ValueStore) -> None:
    part = await store.put("acme", VALUE)
    assert part_of(part.to_json()) == part
    assert (await store.get("acme", part.sha256)).value == VALUE
    assert [path.parent.parent for path in files(local_root(store.folder))] == [local_root(store.folder) / "acme"]


async def test_a_placeholder_states_the_size_of_the_stored_value(store: ValueStore) -> None:
    part = await store.put("acme", VALUE)
    kept = files(local_root(store.folder))[0]
    assert part == Part(kept.name, kept.stat().st_size)


async def test_equal_values_are_one_file(store: ValueStore) -> None:
    one = await store.put("acme", {"a": 1, "b": [1, 2]})
    assert await store.put("acme", {"b": [1, 2], "a": 1}) == one
    assert len(files(local_root(store.folder))) == 1


async def test_numbers_that_json_has_not_come_back_too(store: ValueStore) -> None:
    part = await store.put("acme", [math.nan, math.inf])
    nan, inf = (await store.get("acme", part.sha256)).value
    assert math.isnan(nan)
    assert inf == math.inf


async def test_an_unstorable_value_is_a_value_error(store: ValueStore) -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        await store.put("acme", "\ud800")
    assert files(local_root(store.folder)) == []


async def test_a_tenant_has_only_its_own_values(store: ValueStore) -> None:
    part = await store.put("acme", VALUE)
    await store.look("acme", part.sha256)
    for read in (store.get, store.look):
        with pytest.raises(BlobMissing, match=part.sha256):
            await read("globex", part.sha256)


@pytest.mark.parametrize("tenant_id", STRANGE_NAMES)
async def test_however_a_tenant_is_called_its_values_stay_in_a_folder_of_its_own(
    store: ValueStore, tenant_id: str
) -> None:
    part = await store.put(tenant_id, VALUE)
    assert (await store.get(tenant_id, part.sha256)).value == VALUE
    assert [path.parents[2] for path in files(local_root(store.folder).parent)] == [local_root(store.folder)]
    with pytest.raises(BlobMissing):
        await store.get("acme", part.sha256)


def test_no_two_tenants_share_a_folder_even_where_capitals_do_not_count() -> None:
    folders = [folder_of(name).lower() for name in ("acme", "acme-2", *STRANGE_NAMES)]
    assert len(set(folders)) == len(folders)


async def test_a_damaged_value_is_refused_and_healed_by_the_next_put(store: ValueStore) -> None:
    part = await store.put("acme", VALUE)
    files(local_root(store.folder))[0].write_text(json.dumps(VALUE) + " ")
    with pytest.raises(BlobDamaged):
        await store.get("acme", part.sha256)
    await store.put("acme", VALUE)
    assert (await store.get("acme", part.sha256)).value == VALUE


async def test_callers_may_change_a_value_they_get(store: ValueStore) -> None:
    part = await store.put("acme", VALUE)
    (await store.get("acme", part.sha256)).value["lines"].clear()
    assert (await store.get("acme", part.sha256)).value == VALUE


async def test_those_who_look_at_one_value_together_read_it_once(store: ValueStore) -> None:
    part = await store.put("acme", VALUE)
    looked = await asyncio.gather(*(store.look("acme", part.sha256) for _ in range(20)))
    assert len({id(kept.value) for kept in looked}) == 1
    assert looked[0].value == VALUE


async def test_values_that_were_looked_at_longest_ago_are_forgotten_first(tmp_path: Path) -> None:
    store = ValueStore(tmp_path, cache_bytes=25)  # two texts of ten, in their quotes
    one, two, three, large = [await store.put("acme", text) for text in ("a" * 10, "b" * 10, "c" * 10, "d" * 30)]
    first = await store.look("acme", one.sha256)
    second = await store.look("acme", two.sha256)
    assert await store.look("acme", one.sha256) is first
    await store.look("acme", three.sha256)
    assert (await store.look("acme", large.sha256)).value == "d" * 30
    assert await store.look("acme", one.sha256) is first
    assert await store.look("acme", two.sha256) is not second


@pytest.mark.parametrize(
    ("value", "may"),
    [
        ([{"$stored": "x"}], True),
        ({"a": "$stored"}, True),
        ({"a": 'a text with "$stored" in it'}, False),
        ({"a": "$stored "}, False),
    ],
)
async def test_most_values_are_known_to_hold_no_mark(store: ValueStore, value: Json, may: bool) -> None:
    part = await store.put("acme", value)
    assert (await store.get("acme", part.sha256)).may_hold_marks is may
