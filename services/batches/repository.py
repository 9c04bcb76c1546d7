# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Store batches and their documents. Counts read one index: no total is kept that could drift.

In one file because the statements of a batch and of its documents depend on the same states.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from docrail.adapters.postgres.pool import Database
from docrail.services.batches.models import (
    BatchDocument,
    BatchDocumentState,
    BatchOrder,
    Counted,
    DuplicatePlace,
    ErrorCount,
    RunEnd,
    StateCounts,
    StoredBatch,
)

_COLUMNS = """
tenant_id, batch_id, wanted, max_concurrency, deadline_at, created_by, created_at, closed_at, paused_at, cancelled_at,
completed_at, completions, held_by, notified_at, webhook_error"""

_DOCUMENT = """
document_id, place, state, run_id, error_type, error_message, started_at, ended_at, position, again, key_id, outputs"""

INSERT_BATCH = f"""
INSERT INTO batches (tenant_id, batch_id, wanted, max_concurrency, deadline_at, created_by, trigger_name)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
RETURNING {_COLUMNS}"""

LOAD_BATCH = f"SELECT {_COLUMNS} FROM batches WHERE tenant_id = $1 AND batch_id = $2"

LOCK_BATCH = f"{LOAD_BATCH} FOR UPDATE"

SHARE_BATCH = f"{LOAD_BATCH} FOR SHARE"

# Two are enough to know that it is not the only one.
COUNT_SOME_OPEN = """
SELECT count(*) FROM (SELECT FROM batch_documents
                       WHERE tenant_id = $1 AND batch_id = $2 AND state IN ('waiting', 'running')
                       LIMIT $3) AS first_ones"""

LIST_BATCHES = f"""
SELECT {_COLUMNS} FROM batches
 WHERE tenant_id = $1
   AND ($2::text IS NULL OR (created_at, batch_id) <
        (SELECT created_at, batch_id FROM batches WHERE tenant_id = $1 AND batch_id = $2))
 ORDER BY created_at DESC, batch_id DESC
 LIMIT $3"""

OPEN_OF_TRIGGER = """
SELECT batch_id FROM batches WHERE tenant_id = $1 AND trigger_name = $2 AND closed_at IS NULL"""

LAST_OF_TRIGGER = """
SELECT batch_id FROM batches WHERE tenant_id = $1 AND trigger_name = $2 ORDER BY created_at DESC LIMIT 1"""

# Of all tenants: those whose workflow has something to do. It runs already, unless a crash or a retry came between.
LIST_UNFINISHED = f"""
SELECT {_COLUMNS} FROM batches
 WHERE (tenant_id, batch_id) > ($1, $2)
   AND ((closed_at IS NOT NULL AND completed_at IS NULL)
        OR EXISTS (SELECT FROM batch_documents AS d
                    WHERE d.tenant_id = batches.tenant_id AND d.batch_id = batches.batch_id
                      AND d.state IN ('waiting', 'running')))
 ORDER BY tenant_id, batch_id
 LIMIT $3"""

COUNT_OPEN = "SELECT count(*) FROM batches WHERE tenant_id = $1 AND completed_at IS NULL"

# coalesce keeps the first time: a repeated request changes nothing.
CLOSE = "UPDATE batches SET closed_at = coalesce(closed_at, now()) WHERE tenant_id = $1 AND batch_id = $2"

PAUSE = "UPDATE batches SET paused_at = now() WHERE tenant_id = $1 AND batch_id = $2"

RESUME = "UPDATE batches SET paused_at = NULL WHERE tenant_id = $1 AND batch_id = $2"

CANCEL = """
UPDATE batches SET cancelled_at = now(), closed_at = coalesce(closed_at, now()), paused_at = NULL
 WHERE tenant_id = $1 AND batch_id = $2"""

REOPEN = """
UPDATE batches SET completed_at = NULL, cancelled_at = NULL, notified_at = NULL, webhook_error = '',
       deadline_at = CASE WHEN deadline_at > now() THEN deadline_at END
 WHERE tenant_id = $1 AND batch_id = $2"""

COMPLETE = """
UPDATE batches SET completed_at = now(), completions = completions + 1, held_by = NULL
 WHERE tenant_id = $1 AND batch_id = $2 AND closed_at IS NOT NULL AND completed_at IS NULL
   AND NOT EXISTS (SELECT FROM batch_documents
                    WHERE tenant_id = $1 AND batch_id = $2 AND state IN ('waiting', 'running'))"""

HOLD = "UPDATE batches SET held_by = $3 WHERE tenant_id = $1 AND batch_id = $2 AND held_by IS DISTINCT FROM $3"

NOTE_NOTIFIED = """
UPDATE batches SET notified_at = now(), webhook_error = $3 WHERE tenant_id = $1 AND batch_id = $2"""

LOAD_KNOWN = """
SELECT place, document_id, false AS is_duplicate FROM batch_documents
 WHERE tenant_id = $1 AND batch_id = $2 AND place = ANY ($3::text[])
 UNION ALL
SELECT place, document_id, true FROM batch_duplicates
 WHERE tenant_id = $1 AND batch_id = $2 AND place = ANY ($3::text[])"""

INSERT_DOCUMENTS = """
INSERT INTO batch_documents (tenant_id, batch_id, document_id, place, key_id)
SELECT $1, $2, document_id, place, $5
  FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS added (document_id, place, number)
 ORDER BY number
ON CONFLICT DO NOTHING
RETURNING document_id"""

INSERT_DUPLICATES = """
INSERT INTO batch_duplicates (tenant_id, batch_id, place, document_id)
SELECT $1, $2, place, document_id FROM unnest($3::text[], $4::text[]) AS added (document_id, place)
ON CONFLICT DO NOTHING
RETURNING place"""

LIST_DUPLICATES = """
SELECT place, document_id FROM batch_duplicates
 WHERE tenant_id = $1 AND batch_id = $2
 ORDER BY place
 LIMIT $3"""

COUNT_STATES = """
SELECT state, count(*) AS documents FROM batch_documents WHERE tenant_id = $1 AND batch_id = $2 GROUP BY state"""

COUNT_MORE = """
SELECT (SELECT count(*) FROM batch_duplicates WHERE tenant_id = $1 AND batch_id = $2) AS duplicates,
       (SELECT count(*) FROM batch_documents
         WHERE tenant_id = $1 AND batch_id = $2 AND ended_at > now() - interval '1 minute') AS ended_lately"""

COUNT_ERRORS = """
SELECT error_type, count(*) AS documents, max(error_message) AS message FROM batch_documents
 WHERE tenant_id = $1 AND batch_id = $2 AND state = 'failed'
 GROUP BY error_type
 ORDER BY count(*) DESC, error_type
 LIMIT $3"""

COUNT_ALL_OPEN = """
SELECT state, count(*) AS documents FROM batch_documents WHERE state IN ('waiting', 'running') GROUP BY state"""

LIST_DOCUMENTS = f"""
SELECT {_DOCUMENT} FROM batch_documents
 WHERE tenant_id = $1 AND batch_id = $2 AND position > $3
 ORDER BY position
 LIMIT $4"""

LIST_IN_STATE = f"""
SELECT {_DOCUMENT} FROM batch_documents
 WHERE tenant_id = $1 AND batch_id = $2 AND state = $5 AND position > $3
 ORDER BY position
 LIMIT $4"""

LOAD_POSITION = """
SELECT position FROM batch_documents WHERE tenant_id = $1 AND batch_id = $2 AND document_id = $3"""

# The batch is locked: of two windows that take at once, the second counts what the first has taken.
TAKE = f"""
UPDATE batch_documents SET state = 'running', started_at = now(), looked_at = now()
 WHERE tenant_id = $1 AND batch_id = $2 AND state = 'waiting' AND document_id IN (
       SELECT document_id FROM batch_documents
        WHERE tenant_id = $1 AND batch_id = $2 AND state = 'waiting'
        ORDER BY position
        LIMIT greatest($3 - (SELECT count(*) FROM batch_documents
                              WHERE tenant_id = $1 AND batch_id = $2 AND state = 'running'), 0))
RETURNING {_DOCUMENT}"""

NOTE_RUN = """
UPDATE batch_documents SET run_id = $4, again = false WHERE tenant_id = $1 AND batch_id = $2 AND document_id = $3"""

NOTE_RUNS = """
UPDATE batch_documents AS d SET run_id = r.run_id, again = false
  FROM unnest($3::text[], $4::text[]) AS r (document_id, run_id)
 WHERE d.tenant_id = $1 AND d.batch_id = $2 AND d.document_id = r.document_id"""

PUT_BACK = """
UPDATE batch_documents SET state = 'waiting', started_at = NULL
 WHERE tenant_id = $1 AND batch_id = $2 AND document_id = $3 AND state = 'running'"""

END_DOCUMENTS = """
UPDATE batch_documents AS d
   SET state = e.state, error_type = e.error_type, error_message = e.error_message, outputs = e.outputs::json,
       run_id = coalesce(e.run_id, d.run_id), again = false, looked_at = now(),
       ended_at = CASE WHEN e.state <> 'asking' THEN now() END
  FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
       AS e (document_id, state, run_id, error_type, error_message, outputs)
 WHERE d.tenant_id = $1 AND d.batch_id = $2 AND d.document_id = e.document_id AND d.state IN ('running', 'asking')"""

END_WAITING = """
UPDATE batch_documents SET state = $3, error_type = $4, error_message = $5, ended_at = now()
 WHERE tenant_id = $1 AND batch_id = $2 AND state = 'waiting'"""

RETRY = """
UPDATE batch_documents
   SET state = 'waiting', again = run_id IS NOT NULL, error_type = NULL, error_message = NULL, ended_at = NULL,
       outputs = NULL, key_id = $4
 WHERE tenant_id = $1 AND batch_id = $2 AND state = 'failed' AND ($3::text IS NULL OR error_type = $3)"""

# Of all tenants, those longest not looked at first.
TAKE_ASKING = f"""
UPDATE batch_documents SET looked_at = now()
 WHERE (tenant_id, batch_id, document_id) IN (
       SELECT tenant_id, batch_id, document_id FROM batch_documents
        WHERE state = 'asking' AND looked_at < now() - make_interval(secs => $1)
        ORDER BY looked_at
        LIMIT $2)
RETURNING tenant_id, batch_id, {_DOCUMENT}"""

GO_ON = """
UPDATE batch_documents SET state = 'running'
 WHERE tenant_id = $1 AND batch_id = $2 AND document_id = $3 AND state = 'asking'"""

_ORDER = TypeAdapter(BatchOrder)
_BATCH = TypeAdapter(StoredBatch)
_ROW = TypeAdapter(BatchDocument)


@dataclass(frozen=True, slots=True)
class Asking:
    """A document whose run waits for a person or an event."""

    tenant_id: str
    batch_id: str
    document: BatchDocument


async def insert_batch(
    db: Database, tenant_id: str, batch_id: str, order: BatchOrder, *, by: str, trigger: str | None
) -> StoredBatch | None:
    """Store a batch without documents; None if there is one of this id."""
    wanted = _ORDER.dump_python(order, mode="json", exclude={"document_ids"})
    values = (wanted, order.max_concurrency, order.deadline, by, trigger)
    return _batch(await db.fetchrow(INSERT_BATCH, tenant_id, batch_id, *values))


async def load_batch(db: Database, tenant_id: str, batch_id: str) -> StoredBatch | None:
    """Return the tenant's batch, or None."""
    return _batch(await db.fetchrow(LOAD_BATCH, tenant_id, batch_id))


async def lock_batch(db: Database, tenant_id: str, batch_id: str) -> StoredBatch | None:
    """Return the tenant's batch, locked until the caller's transaction ends."""
    return _batch(await db.fetchrow(LOCK_BATCH, tenant_id, batch_id))


async def share_batch(db: Database, tenant_id: str, batch_id: str) -> StoredBatch | None:
    """Return the tenant's batch, which no one can close until the caller's transaction ends."""
    return _batch(await db.fetchrow(SHARE_BATCH, tenant_id, batch_id))


async def has_open(db: Database, tenant_id: str, batch_id: str, *, more_than: int = 0) -> bool:
    """Return whether more than so many documents wait or run."""
    return int(await db.fetchval(COUNT_SOME_OPEN, tenant_id, batch_id, more_than + 1)) > more_than


async def list_batches(db: Database, tenant_id: str, *, limit: int, after: str | None) -> list[StoredBatch]:
    """Return batches, newest first; `after` is the id of the last one of the previous page."""
    return [_BATCH.validate_python(dict(row)) for row in await db.fetch(LIST_BATCHES, tenant_id, after, limit)]


async def list_open_of(db: Database, tenant_id: str, trigger: str) -> list[str]:
    """Return the ids of a trigger's batches that take more documents."""
    return [row["batch_id"] for row in await db.fetch(OPEN_OF_TRIGGER, tenant_id, trigger)]


async def load_last_of(db: Database, tenant_id: str, trigger: str) -> str | None:
    """Return the id of a trigger's latest batch; None if it has ordered none."""
    found: str | None = await db.fetchval(LAST_OF_TRIGGER, tenant_id, trigger)
    return found


async def list_unfinished(db: Database, *, limit: int, after: StoredBatch | None) -> list[StoredBatch]:
    """Return batches of ALL tenants whose workflow has something to do. For internal use only."""
    place = (after.tenant_id, after.batch_id) if after else ("", "")
    return [_BATCH.validate_python(dict(row)) for row in await db.fetch(LIST_UNFINISHED, *place, limit)]


async def count_open(db: Database, tenant_id: str) -> int:
    """Return how many batches of the tenant have not completed."""
    return int(await db.fetchval(COUNT_OPEN, tenant_id))


async def close(db: Database, batch: StoredBatch) -> None:
    """Let the batch take no more documents."""
    await db.execute(CLOSE, batch.tenant_id, batch.batch_id)


async def pause(db: Database, batch: StoredBatch) -> None:
    """Start no more runs of the batch."""
    await db.execute(PAUSE, batch.tenant_id, batch.batch_id)


async def resume(db: Database, batch: StoredBatch) -> None:
    """Start runs again."""
    await db.execute(RESUME, batch.tenant_id, batch.batch_id)


async def cancel(db: Database, batch: StoredBatch) -> None:
    """Close and cancel the batch."""
    await db.execute(CANCEL, batch.tenant_id, batch.batch_id)


async def retry(db: Database, batch: StoredBatch, error_type: str | None, *, key_id: str | None) -> int:
    """Let failed documents wait for another turn, and return how many. A deadline that has passed is dropped."""
    found = int((await db.execute(RETRY, batch.tenant_id, batch.batch_id, error_type, key_id)).rpartition(" ")[2])
    if found:
        await db.execute(REOPEN, batch.tenant_id, batch.batch_id)
    return found


async def complete(db: Database, batch: StoredBatch) -> bool:
    """Record that nothing waits or runs any more; False if something does, or that is recorded."""
    return (await db.execute(COMPLETE, batch.tenant_id, batch.batch_id)).endswith(" 1")


async def hold(db: Database, batch: StoredBatch, quota: str | None) -> None:
    """Record the quota that the batch waits for; None: it waits for none."""
    await db.execute(HOLD, batch.tenant_id, batch.batch_id, quota)


async def note_notified(db: Database, tenant_id: str, batch_id: str, error: str = "") -> None:
    """Record that the message of the completion was delivered, or why it was not."""
    await db.execute(NOTE_NOTIFIED, tenant_id, batch_id, error)


async def load_known(db: Database, tenant_id: str, batch_id: str, places: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """Return the documents at these places, and whether it is their second place."""
    rows = await db.fetch(LOAD_KNOWN, tenant_id, batch_id, places)
    return {row["place"]: (row["document_id"], row["is_duplicate"]) for row in rows}


async def insert_documents(
    db: Database,
    tenant_id: str,
    batch_id: str,
    document_ids: Sequence[str],
    places: Sequence[str],
    *,
    key_id: str | None,
) -> set[str]:
    """Add documents, in this order, and return those that are new."""
    rows = await db.fetch(INSERT_DOCUMENTS, tenant_id, batch_id, document_ids, places, key_id)
    return {row["document_id"] for row in rows}


async def insert_duplicates(
    db: Database, tenant_id: str, batch_id: str, document_ids: Sequence[str], places: Sequence[str]
) -> set[str]:
    """Add further places of documents, and return those that are new."""
    rows = await db.fetch(INSERT_DUPLICATES, tenant_id, batch_id, document_ids, places)
    return {row["place"] for row in rows}


async def list_duplicates(db: Database, tenant_id: str, batch_id: str, *, limit: int) -> list[DuplicatePlace]:
    """Return the first places whose content the batch has elsewhere."""
    return [DuplicatePlace(**row) for row in await db.fetch(LIST_DUPLICATES, tenant_id, batch_id, limit)]


async def count_documents(db: Database, tenant_id: str, batch_id: str) -> Counted:
    """Count the documents of a batch."""
    states = {row["state"]: row["documents"] for row in await db.fetch(COUNT_STATES, tenant_id, batch_id)}
    more = await db.fetchrow(COUNT_MORE, tenant_id, batch_id)
    assert more is not None, "the statement returns one row"
    return Counted(StateCounts(**states), more["duplicates"], more["ended_lately"])


async def count_errors(db: Database, tenant_id: str, batch_id: str, *, limit: int) -> list[ErrorCount]:
    """Count the failed documents by error class, the largest first."""
    return [ErrorCount(**row) for row in await db.fetch(COUNT_ERRORS, tenant_id, batch_id, limit)]


async def count_all_open(db: Database) -> dict[str, int]:
    """Count the waiting and running documents of all batches."""
    return {row["state"]: row["documents"] for row in await db.fetch(COUNT_ALL_OPEN)}


async def list_documents(
    db: Database, tenant_id: str, batch_id: str, state: BatchDocumentState | None, *, limit: int, after: int
) -> list[BatchDocument]:
    """Return documents in the order in which they were added, from the position `after` on."""
    values = (tenant_id, batch_id, after, limit)
    if state is None:
        rows = await db.fetch(LIST_DOCUMENTS, *values)
    else:
        rows = await db.fetch(LIST_IN_STATE, *values, state)
    return [_ROW.validate_python(dict(row)) for row in rows]


async def load_position(db: Database, tenant_id: str, batch_id: str, document_id: str) -> int | None:
    """Return a document's position among those of the batch; None if it has no such document."""
    position: int | None = await db.fetchval(LOAD_POSITION, tenant_id, batch_id, document_id)
    return position


async def take(db: Database, batch: StoredBatch, most_open: int) -> list[BatchDocument]:
    """Let waiting documents run until so many are open, and return them. Call it with the batch locked."""
    rows = await db.fetch(TAKE, batch.tenant_id, batch.batch_id, most_open)
    return sorted((_ROW.validate_python(dict(row)) for row in rows), key=lambda each: each.position)


async def note_run(db: Database, batch: StoredBatch, document_id: str, run_id: str) -> None:
    """Record a document's run: it is started, or retried."""
    await db.execute(NOTE_RUN, batch.tenant_id, batch.batch_id, document_id, run_id)


async def note_runs(db: Database, batch: StoredBatch, runs: Mapping[str, str]) -> None:
    """Record the runs of documents, by document id."""
    await db.execute(NOTE_RUNS, batch.tenant_id, batch.batch_id, [*runs], [*runs.values()])


async def put_back(db: Database, batch: StoredBatch, document_id: str) -> None:
    """Let a document wait again: its run could not be started now."""
    await db.execute(PUT_BACK, batch.tenant_id, batch.batch_id, document_id)


async def end_documents(db: Database, tenant_id: str, batch_id: str, ends: Sequence[RunEnd]) -> None:
    """Record how runs ended, or that they wait for someone."""
    columns = zip(*((e.document_id, str(e.state), e.run_id, e.error_type, e.error_message) for e in ends), strict=True)
    outputs = [None if end.outputs is None else _JSON.dump_json(end.outputs).decode() for end in ends]
    await db.execute(END_DOCUMENTS, tenant_id, batch_id, *map(list, columns), outputs)


_JSON: TypeAdapter[Any] = TypeAdapter(Any)


async def end_waiting(db: Database, batch: StoredBatch, state: BatchDocumentState, error: tuple[str, str]) -> int:
    """End the documents that wait for their turn, and return how many."""
    done = await db.execute(END_WAITING, batch.tenant_id, batch.batch_id, state, *error)
    return int(done.rpartition(" ")[2])


async def take_asking(db: Database, *, not_since_seconds: float, limit: int) -> list[Asking]:
    """Return documents of ALL tenants whose run waits for someone, those longest not looked at first."""
    rows = [dict(row) for row in await db.fetch(TAKE_ASKING, not_since_seconds, limit)]
    return [Asking(row.pop("tenant_id"), row.pop("batch_id"), _ROW.validate_python(row)) for row in rows]


async def go_on(db: Database, asking: Asking) -> None:
    """Record that the run does not wait any more."""
    await db.execute(GO_ON, asking.tenant_id, asking.batch_id, asking.document.document_id)


def _batch(row: Any) -> StoredBatch | None:
    return None if row is None else _BATCH.validate_python(dict(row))
