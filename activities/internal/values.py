"""The activities that keep what is too large to travel inside a run, and bring back what expressions read of it.

They are not in the catalogue: no definition names them.
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
"""Most that all values of one call take together, as JSON: they come back in one payload, and Temporal takes 2 MiB."""


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
    """Return all parts. An expression may ask whether one is there, so one that is missing is told and no error."""
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
    """Return what Temporal is told of an error that the same call would meet again."""
    return ApplicationError(message, type=type(error).__name__, non_retryable=True)
