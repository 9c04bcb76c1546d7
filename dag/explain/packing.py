"""Pack the explanation of a whole run: into one answer of a query, and into a row that is left when the run is not.

The JSON of 2,000 steps has 3 MB, and its steps are much alike: packed it has a twentieth.
"""

import base64
import zlib
from itertools import islice

from docrail.dag.engine.plan import Plan
from docrail.dag.engine.state import RunState
from docrail.dag.explain.explain import MAX_PAGE_BYTES, facts_of_run
from docrail.dag.explain.facts import RunExplanation

MAX_UNPACKED_BYTES = 16_000_000
"""Bytes of JSON that one answer packs."""

MAX_ANSWER_BYTES = 1_900_000
"""Temporal accepts 2 MiB as a query's answer."""


def packed_answer(plan: Plan, run: RunState, run_id: str, *, after: str | None = None) -> str:
    """Return the facts of the steps after `after`, or of as many as one answer holds, packed, in base64."""
    for most_bytes in (MAX_UNPACKED_BYTES, MAX_PAGE_BYTES):
        facts = facts_of_run(plan, run, run_id, after=after, limit=len(plan.steps), most_bytes=most_bytes)
        answer = packed_text(facts)
        if len(answer) <= MAX_ANSWER_BYTES:
            break
    return answer


def packed_text(explanation: RunExplanation) -> str:
    """Return an explanation packed, in base64."""
    return base64.b64encode(packed(explanation)).decode()


def packed_in(text: str) -> bytes:
    """Return the packed explanation in a text of `packed_text`."""
    return base64.b64decode(text)


def unpacked_text(text: str) -> RunExplanation:
    """Return the explanation that `packed_text` has packed."""
    return unpacked(packed_in(text))


def packed(explanation: RunExplanation) -> bytes:
    """Return an explanation in few bytes, quickly: every run that ends has its own packed."""
    return zlib.compress(explanation.model_dump_json(exclude_defaults=True).encode(), zlib.Z_BEST_SPEED)


def unpacked(data: bytes) -> RunExplanation:
    """Return the explanation that `packed` has packed."""
    return RunExplanation.model_validate_json(zlib.decompress(data))


def page_of(whole: RunExplanation, *, step_id: str | None, after: str | None, limit: int) -> RunExplanation:
    """Return one step of a whole explanation, or a page of its steps, as `facts_of_run` does for a run."""
    if step_id is not None:
        return whole.model_copy(update={"steps": {id_: each for id_, each in whole.steps.items() if id_ == step_id}})
    ids = [*whole.steps]
    first = ids.index(after) + 1 if after in whole.steps else 0
    page = dict(islice(whole.steps.items(), first, first + limit))
    last = ids[first + limit - 1] if len(ids) > first + limit else None
    return whole.model_copy(update={"steps": page, "after": last})
