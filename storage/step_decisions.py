"""What each of several people has decided of a human step's question, as far as its run has told.

The run counts who agrees; here is what the queue shows of it. A decision that comes before its question, or before an
earlier one, is refused: its run tells it until it is kept.
"""

from dataclasses import asdict, dataclass

from dag.values import Json
from storage.db import Database

LOCK = """
SELECT review_id, asked_at, decided_so_far FROM reviews
 WHERE tenant_id = $1 AND run_id = $2 AND step_id = $3 FOR UPDATE"""
KEEP = """
UPDATE reviews SET decided_so_far = $3, updated_at = now(),
       claimed_until = CASE WHEN claimed_by IS DISTINCT FROM $4 THEN claimed_until END -- whoever has decided is done
 WHERE tenant_id = $1 AND review_id = $2"""


class TooEarlyError(Exception):
    """What comes before this decision has not been told yet."""


@dataclass(frozen=True, slots=True)
class PersonsDecision:
    """What one person decided, when, and its digest. `number` counts the decisions of an asking, from 1."""

    by: str
    at: str
    digest: str
    decision: Json
    number: int


async def keep_decision(
    db: Database, tenant_id: str, run_id: str, step_id: str, *, asked_at: float, made: PersonsDecision
) -> str | None:
    """Show the decision in the place of the person's earlier one, and return the item's id.

    None: it was kept before, or the step has asked anew since. The caller is in a transaction. Raises: TooEarlyError.
    """
    row = await db.fetchrow(LOCK, tenant_id, run_id, step_id)
    if row is None or row["asked_at"] < asked_at:
        raise TooEarlyError(f"{run_id} has not asked {step_id} yet")
    kept: list[dict[str, Json]] = row["decided_so_far"]
    last = kept[-1]["number"] if kept else 0
    if row["asked_at"] > asked_at or made.number <= last:
        return None
    if made.number > last + 1:
        raise TooEarlyError(f"decision {last + 1} of {run_id}, {step_id}, is yet to come")
    others = [each for each in kept if each["by"] != made.by]
    await db.execute(KEEP, tenant_id, row["review_id"], [*others, asdict(made)], made.by)
    return str(row["review_id"])
