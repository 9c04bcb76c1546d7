"""Activities that store values too large for a run's history, and load the parts that expressions read.

Definitions cannot name them.
"""

from collections.abc import Callable
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from docrail.adapters.store.parts import ValueTooLarge, find_piece
from docrail.adapters.store.values import ValueStore
from docrail.dag.engine.saved_state import StatePiece
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import Piece
from docrail.services.runs.saved import load_piece
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import LoadCall, Loaded, StateCall, StoreCall

MAX_LOADED_BYTES = 1_500_000
"""Maximum total size of the values in one call, as JSON: they return in one payload, and Temporal accepts 2 MiB."""


def value_activities(tools: Tools) -> list[Callable[..., Any]]:
    """Return the activities. All are safe to repeat."""

    @activity.defn(name="store_value")
    async def store_value(call: StoreCall) -> dict[str, Json]:
        return (await tools.values.put(call.tenant_id, call.value)).to_json()

    @activity.defn(name="load_values")
    async def load_values(call: LoadCall) -> Loaded:
        try:
            return await _load(tools.values, call)
        except ValueTooLarge as error:
            raise _final(error, f"{error}: pass it whole to a handler, or use a smaller part") from None
        except ValueError as error:
            raise _final(error, str(error)) from None

    @activity.defn(name="load_state")
    async def load_state(call: StateCall) -> StatePiece:
        return await load_piece(tools.values, call.tenant_id, call.piece)

    return [store_value, load_values, load_state]


async def _load(kept: ValueStore, call: LoadCall) -> Loaded:
    """Return all parts. Expressions may test whether a part exists, so a missing one is reported, not an error."""
    pieces: list[Piece] = []
    left = MAX_LOADED_BYTES
    for number, mark in enumerate(call.parts):
        try:
            piece = await find_piece(kept, call.tenant_id, mark, most_bytes=left, may_stay=number in call.may_stay)
        except ValueTooLarge as error:
            raise ValueTooLarge(MAX_LOADED_BYTES - left + error.size, MAX_LOADED_BYTES) from None
        left -= size_of(piece.value)
        pieces.append(piece)
    return Loaded(parts=tuple(pieces))


def _final(error: ValueError, message: str) -> ApplicationError:
    """Return the error for Temporal that marks the failure as permanent."""
    return ApplicationError(message, type=type(error).__name__, non_retryable=True)
