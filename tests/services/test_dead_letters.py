"""Dead letters as they are kept: the newest word counts, what is late changes nothing, lists go by what is asked."""

import datetime as dt
import itertools

import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.activities.internal.dead_letters import dead_letter_activity
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json
from docrail.services.failures.models import LetterFilter, LetterStatus, Resolved, StatusFilter, StoredLetter, View
from docrail.services.failures.repository import (
    close,
    count_letters,
    list_letters,
    list_oldest,
    load_letter,
    load_open_letters,
    record_report,
)
from docrail.services.runs.repository import list_actions, record_action
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import DeadLetter
from docrail.workflows.contract.names import RECORD_DEAD_LETTER
from tests.postgres import OTHER_TENANT, TENANT


def letter(status: str = "failed", at: float = 100.0, run_id: str = "invoice.1", **fields: Json) -> DeadLetter:
    reported: dict[str, Json] = {"step_id": "load", "definition_id": "invoice", "version": 1, "handler": "echo"}
    reported |= {"document_id": None, "error_type": "ValueError", "error_message": "no", "attempts": 2}
    reported |= {"tenant_id": TENANT, "run_id": run_id, "status": StepStatus(status), "failed_at": at}
    return DeadLetter.model_validate(reported | fields)


async def kept(db: PoolConnectionProxy, run_id: str = "invoice.1") -> StoredLetter:
    found = await load_letter(db, TENANT, run_id, "load")
    assert found is not None
    return found


PARKED, AGAIN = letter("parked", 1.0), letter("parked", 3.0)
RETRIED, SKIPPED = letter("running", 2.0, resolved_by="ann"), letter("skipped", 4.0, resolved_by="bob")


@pytest.mark.parametrize("order", list(itertools.permutations([PARKED, RETRIED, AGAIN, SKIPPED])))
async def test_letters_in_any_order_and_twice_end_as_the_last_one_says(
    db: PoolConnectionProxy, order: tuple[DeadLetter, ...]
) -> None:
    for each in (*order, order[0]):
        await record_report(db, each)
    now = await kept(db)
    assert now.status is LetterStatus.RESOLVED
    assert now.reported_at == dt.datetime.fromtimestamp(4.0, dt.UTC)


@pytest.mark.parametrize(
    ("letters", "status", "resolution"),
    [
        ([PARKED], "parked", None),
        ([PARKED, RETRIED], "resolved", "retry"),
        ([PARKED, RETRIED, AGAIN], "parked", None),
        ([PARKED, RETRIED, AGAIN, SKIPPED], "resolved", "skip"),
        ([PARKED, letter("completed", 2.0)], "resolved", "output"),
        ([PARKED, letter("cancelled", 2.0)], "resolved", "abort"),
        ([PARKED, letter("failed", 1.0)], "failed", None),
        ([letter("failed", 1.0), PARKED], "failed", None),
        ([letter("cancelled", 2.0)], "resolved", "abort"),
    ],
)
async def test_a_report_resolves_the_letter_of_its_step(
    db: PoolConnectionProxy, letters: list[DeadLetter], status: str, resolution: str | None
) -> None:
    for each in letters:
        await record_report(db, each)
    now = await kept(db)
    assert (now.status, now.resolution) == (status, resolution)


async def test_a_late_report_does_not_reopen_a_closed_letter(db: PoolConnectionProxy) -> None:
    await record_report(db, letter("failed", 5.0))
    assert await close(db, TENANT, await kept(db), Resolved.DISMISS, by="ann")
    for late in (letter("failed", 5.0), letter("parked", 5.0), letter("failed", 4.0)):
        await record_report(db, late)
    now = await kept(db)
    assert (now.status, now.resolution, now.resolved_by) == ("resolved", "dismiss", "ann")
    await record_report(db, letter("failed", 6.0, error_message="again"))
    again = await kept(db)
    assert (again.status, again.error_message, again.resolved_by) == ("failed", "again", None)
    assert not await close(db, TENANT, now, Resolved.RETRY, by="ann")  # it was seen before it failed again
    assert (await kept(db)).status is LetterStatus.FAILED


async def test_the_person_who_closed_a_letter_is_added_to_an_earlier_report(db: PoolConnectionProxy) -> None:
    await record_report(db, PARKED)
    seen = await kept(db)
    await record_report(db, letter("cancelled", 2.0))
    assert await close(db, TENANT, seen, Resolved.ABORT, by="ann")
    assert (await kept(db)).resolved_by == "ann"


async def test_text_that_postgresql_cannot_keep_is_kept_without_it(db: PoolConnectionProxy) -> None:
    await record_report(db, letter(error_message="a\x00b\ud800"))
    assert (await kept(db)).error_message == "a\N{REPLACEMENT CHARACTER}b?"


async def test_letters_are_listed_by_what_is_asked(db: PoolConnectionProxy) -> None:
    runs: dict[str, dict[str, Json]] = {
        "invoice.a": {"at": 1.0},
        "invoice.b": {"at": 2.0, "retryable": True, "error_type": "OSError"},
        "invoice.c": {"at": 3.0, "retryable": True, "status": "parked", "error_type": "OSError"},
        "order.d": {"at": 4.0, "definition_id": "order", "handler": None},
        "order.e": {"at": 5.0, "status": "skipped", "definition_id": "order"},
    }
    for run_id, fields in runs.items():
        await record_report(db, letter(run_id=run_id, **fields))
    await record_report(db, letter(tenant_id=OTHER_TENANT))

    async def found(**wanted: Json) -> str:
        asked = LetterFilter(**{"view": View.ALL, **wanted})
        return "".join(each.run_id[-1] for each in await list_letters(db, TENANT, asked))

    assert await found() == "dcba"
    assert await found(status=StatusFilter.RESOLVED) == "e"
    assert await found(status=StatusFilter.ALL) == "edcba"
    assert await found(view=View.ACTIONABLE) == "dca"
    assert await found(view=View.RETRYABLE) == "b"
    assert await found(error_type="OSError") == "cb"
    assert await found(definition_id="order") == "d"
    assert await found(handler="echo") == "cba"
    assert await found(failed_before=(await kept(db, "invoice.c")).failed_at) == "ba"
    oldest = await list_oldest(db, TENANT, LetterFilter(view=View.ALL), limit=3)
    assert [each.run_id[-1] for each in oldest] == ["a", "b", "c"]
    everything = LetterFilter(status=StatusFilter.ALL, view=View.ALL)
    page = await list_letters(db, TENANT, everything, limit=2, after=("invoice.c", "load"))
    assert [each.run_id for each in page] == ["invoice.b", "invoice.a"]
    counts = await count_letters(db, TENANT, LetterFilter(view=View.ALL))
    assert [(each.error_type, each.letters, each.parked, each.retryable) for each in counts] == [
        ("OSError", 2, 1, 2),
        ("ValueError", 2, 0, 0),
    ]


async def test_the_letters_of_a_run_are_those_of_the_runs_inside_it_too(db: PoolConnectionProxy) -> None:
    for run_id in ("o.1", "o.1~load", "o.1~load~a", "o.1~other", "o.11", "o.11~load"):
        await record_report(db, letter(run_id=run_id))
    await record_report(db, letter(run_id="o.1~load~b", status="skipped"))
    of_run = await load_open_letters(db, TENANT, "o.1")
    assert [each.run_id for each in of_run] == ["o.1", "o.1~load", "o.1~load~a", "o.1~other"]
    of_step = await load_open_letters(db, TENANT, "o.1", "load")
    assert [each.run_id for each in of_step] == ["o.1", "o.1~load", "o.1~load~a"]


async def test_actions_are_added_and_listed_newest_first(db: PoolConnectionProxy) -> None:
    for step_id, action in (("load", "retry"), (None, "retry_run"), ("other", "skip")):
        await record_action(db, TENANT, "o.1", step_id, action, details={"reason": "why"}, by="ann")
    reported = await list_actions(db, TENANT, "o.1", step_id="load")
    assert [(each.action, each.details, each.acted_by) for each in reported] == [
        ("retry_run", {"reason": "why"}, "ann"),
        ("retry", {"reason": "why"}, "ann"),
    ]
    assert len(await list_actions(db, TENANT, "o.1")) == 3
    assert await list_actions(db, OTHER_TENANT, "o.1") == []


def test_the_activity_has_the_name_that_runs_call_it_by() -> None:
    record = dead_letter_activity(Tools.__new__(Tools))
    assert record.__name__ == RECORD_DEAD_LETTER
