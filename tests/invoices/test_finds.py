"""What fuzzing found once (`make fuzz`) is read rightly for ever."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docrail.adapters.sandbox.reader import DocumentReader
from tests.invoices.fuzz import FINDS, LIMITS, seeds, verdict

KEPT = sorted(FINDS.glob("*.bin"))


@pytest.fixture(scope="module")
async def reader() -> AsyncIterator[DocumentReader]:
    reader = DocumentReader(workers=2, limits=LIMITS)
    yield reader
    await reader.close()


@pytest.mark.parametrize("find", KEPT, ids=[find.stem for find in KEPT])
async def test_a_find_stays_fixed(find: Path, reader: DocumentReader) -> None:
    outcome, why = await verdict(reader, find)
    assert why is None, f"{outcome}: {why}"


def test_the_fuzzer_starts_from_every_kind_of_file() -> None:
    begun, kinds = tuple(seed[:4] for seed in seeds()), (b"%PDF", b"<", b"\x89PNG", b"\xff\xd8\xff", b"II*\x00")
    assert [kind for kind in kinds if not any(start.startswith(kind) for start in begun)] == []
